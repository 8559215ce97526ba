// SPDX-License-Identifier: Apache-2.0

package region

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestABeatIsReadAsItWasWritten(t *testing.T) {
	b := &Beat{Source: "berlin/1", Leaves: true, Parts: []BeatPart{
		{Part: "shop", Role: Owner, Epoch: 3, Position: 70, Chain: "ab", Cursors: map[string]uint64{"stock": 12}},
		{Part: "stock", Role: Away},
	}}
	message, err := b.encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeBeat(message)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(b, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestAnInvalidBeatIsRejected(t *testing.T) {
	for rule, message := range map[string]string{
		"not JSON":                "beat",
		"no source":               `{"parts":[]}`,
		"a part without a name":   `{"source":"a","parts":[{"role":"owner"}]}`,
		"an invalid role":         `{"source":"a","parts":[{"part":"p","role":"king"}]}`,
		"a name that is too long": `{"source":"` + strings.Repeat("a", 10_000) + `","parts":[]}`,
		"too many parts":          `{"source":"a","parts":[` + strings.Repeat(`{},`, maxParts) + `{}]}`,
		"too many bytes":          `{"source":"a"}` + strings.Repeat(" ", maxBeat),
		"a negative epoch":        `{"source":"a","parts":[{"part":"p","role":"owner","epoch":-1}]}`,
	} {
		if b, err := decodeBeat([]byte(message)); err == nil {
			t.Errorf("%s: %+v; want an error", rule, b)
		}
	}
}

func FuzzBeat(f *testing.F) {
	f.Add([]byte(`{"source":"a","parts":[{"part":"p","role":"owner","epoch":1,"cursors":{"q":3}}]}`))
	f.Fuzz(func(t *testing.T, message []byte) {
		b, err := decodeBeat(message)
		if err != nil {
			return
		}
		again, err := b.encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decodeBeat(again); err != nil && len(again) <= maxBeat {
			t.Errorf("%s: %v", again, err)
		}
	})
}
