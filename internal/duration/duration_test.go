// SPDX-License-Identifier: Apache-2.0

package duration

import (
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "0d": 0, "90s": 90 * time.Second, "1h30m": 90 * time.Minute, "250ms": 250 * time.Millisecond, "3us": 3 * time.Microsecond, "3µs": 3 * time.Microsecond,
		"7d": 168 * time.Hour, "1w": 168 * time.Hour, "1w2d": 216 * time.Hour, "1d12h": 36 * time.Hour, "1.5d": 36 * time.Hour, ".5w": 84 * time.Hour, "12h1d": 36 * time.Hour,
		"-1d": -24 * time.Hour, "+1d": 24 * time.Hour, "-1h": -time.Hour, "366d": 366 * 24 * time.Hour, "15250w": 15250 * 168 * time.Hour,
	} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestParseRejects(t *testing.T) {
	for _, text := range []string{"", "d", "7", "7 d", "7D", "soon", "--1d", "-+1d", "1d-2h", "1d--2h", "1.2.3d", ".d", "1e3d", "1month", "1y", "NaNd", "Infw", "0x1d", "1_0d", "1h7",
		"15251w", "106752d", "106751d24h", "9999999999999999999d"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%q is %v", text, got)
		} else if !strings.Contains(err.Error(), "expected a duration") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// FuzzParse compares with the standard library, which has no d and no w.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"1h30m", "7d", "-1.5w3ms", "1e3d"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Parse(text)
		want, goErr := time.ParseDuration(text)
		switch {
		case goErr == nil && (err != nil || got != want):
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		case goErr != nil && err == nil && !strings.ContainsAny(text, "dw"):
			t.Errorf("%q is %v", text, got)
		}
	})
}
