// SPDX-License-Identifier: Apache-2.0

package petri_test

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/petri"
)

func TestModelsKeepTheirTextWithinBounds(t *testing.T) {
	noise := make([]byte, petri.MaxModelPacked*2)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(' ' + rng.IntN(95))
	}
	for _, c := range []struct {
		rule    string
		text    []byte
		missing string
	}{
		{"a document", []byte("<definitions>ü</definitions>"), ""},
		{"an empty one", []byte{}, ""},
		{"of the largest size", bytes.Repeat([]byte{'x'}, petri.MaxModelText), ""},
		{"too large", bytes.Repeat([]byte{'x'}, petri.MaxModelText+1), "larger than 4 MiB"},
		{"too large when it is packed", noise, "KiB gzipped"},
		{"in Latin 1", []byte("<definitions>\xfc</definitions>"), "not in UTF-8"},
		{"with a NUL", []byte("<definitions>\x00</definitions>"), "NUL"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			m := petri.NewModel(petri.ModelBPMN, c.text)
			texts, err := m.Texts()
			if c.missing == "" {
				if err != nil || len(texts) != 1 || !bytes.Equal(texts[0], c.text) || len(m.Packed) > petri.MaxModelPacked {
					t.Errorf("%d texts, %v; want one, the same %d bytes", len(texts), err, len(c.text))
				}
				return
			}
			if m.Packed != nil || !strings.Contains(m.Missing, c.missing) || err == nil || err.Error() != m.Missing {
				t.Errorf("missing %q, error %v; want %q and no text", m.Missing, err, c.missing)
			}
		})
	}
}

// Only what is sent is packed. A Model that is not packed is the same as one that is.
func TestAModelNeedNotBePacked(t *testing.T) {
	text := []byte("<definitions>ü</definitions>")
	m, packed := petri.ModelOf(petri.ModelBPMN, text), petri.NewModel(petri.ModelBPMN, text)
	if m.Packed != nil || packed.Packed == nil || !m.Equal(packed) || m.Digest() != packed.Digest() || m.Equal(nil) {
		t.Errorf("%+v, packed %+v; want the same text, not packed", m, packed)
	}
	if texts, err := m.Texts(); err != nil || len(texts) != 1 || !bytes.Equal(texts[0], text) {
		t.Errorf("%q, %v; want %q", texts, err, text)
	}
	if m := petri.ModelOf(petri.ModelBPMN, nil); !m.Equal(petri.NewModel(petri.ModelBPMN, nil)) || m.Missing != "" {
		t.Errorf("%+v; want an empty text", m)
	}
}

func TestAModelKeepsSeveralDocumentsInTheirOrder(t *testing.T) {
	want := [][]byte{[]byte("<a/>"), {}, []byte("<b>é</b>")}
	if got, err := petri.NewModel(petri.ModelBPMN, want...).Texts(); err != nil || !slices.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	half := bytes.Repeat([]byte{'x'}, petri.MaxModelText/2)
	if m := petri.NewModel(petri.ModelBPMN, half, half); m.Packed != nil || !strings.Contains(m.Missing, "larger than 4 MiB") {
		t.Errorf("missing %q; want that both are too large together", m.Missing)
	}
}

// A model of another process may be anything.
func TestUnpackingAModelIsBounded(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 64 {
		_, _ = z.Write(make([]byte, 1<<20))
	}
	_ = z.Close()
	for rule, packed := range map[string][]byte{"a bomb": bomb.Bytes(), "nothing": nil, "not gzip": []byte("<definitions/>"), "cut": bomb.Bytes()[:100]} {
		if text, err := (&petri.Model{Kind: petri.ModelBPMN, Packed: packed}).Texts(); err == nil {
			t.Errorf("%s: %d texts and no error", rule, len(text))
		}
	}
}
