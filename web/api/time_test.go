// SPDX-License-Identifier: Apache-2.0

package api

import (
	"math/rand/v2"
	"testing"
)

// A time has the text that package time writes for the layout, and is read back.
func TestTimeIsInTheLayout(t *testing.T) {
	times := []Time{0, 1, -1, 999_999, -1_000_000, 1_700_000_000_000_000, 1_700_000_000_100_000, 253_402_300_799_999_999, 253_402_300_800_000_000, 1 << 62, -1 << 62}
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		times = append(times, Time(r.Int64N(4e15)))
	}
	for _, at := range times {
		text, err := at.MarshalText()
		if want := at.Time().Format(layout); err != nil || string(text) != want {
			t.Fatalf("%d: %s, %v; want %s", at, text, err, want)
		}
		if year := at.Time().Year(); year < 0 || year > 9999 {
			continue
		}
		var back Time
		if err := back.UnmarshalText(text); err != nil || back != at {
			t.Fatalf("%s: read as %d, %v; want %d", text, back, err, at)
		}
	}
}
