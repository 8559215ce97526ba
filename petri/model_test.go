// SPDX-License-Identifier: Apache-2.0

package petri_test

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
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
	} {
		t.Run(c.rule, func(t *testing.T) {
			m := petri.NewModel(petri.ModelBPMN, c.text)
			text, err := m.Text()
			if c.missing == "" {
				if err != nil || !bytes.Equal(text, c.text) || len(m.Packed) > petri.MaxModelPacked {
					t.Errorf("%d bytes, %v; want the same %d bytes", len(text), err, len(c.text))
				}
				return
			}
			if m.Packed != nil || !strings.Contains(m.Missing, c.missing) || err == nil || err.Error() != m.Missing {
				t.Errorf("missing %q, error %v; want %q and no text", m.Missing, err, c.missing)
			}
		})
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
		if text, err := (&petri.Model{Kind: petri.ModelBPMN, Packed: packed}).Text(); err == nil {
			t.Errorf("%s: %d bytes and no error", rule, len(text))
		}
	}
}
