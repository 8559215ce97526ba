// SPDX-License-Identifier: Apache-2.0

package iso8601

import (
	"errors"
	"testing"
	"time"
)

func TestParseReadsByTheForm(t *testing.T) {
	day := 24 * time.Hour.Microseconds()
	for _, tt := range []struct {
		text string
		want Timer
		err  error
	}{
		{" P1DT2H ", Timer{Micros: day + 2*time.Hour.Microseconds(), Times: 1}, nil},
		{"P1Y2M3D", Timer{Months: 14, Micros: 3 * day, Times: 1}, nil},
		{"P0.5M", Timer{}, ErrForm},
		{"P9999999Y", Timer{}, ErrTooLong},
		{"R/P1M", Timer{Months: 1, Cycle: true}, nil},
		{"R3/PT1S", Timer{Micros: 1e6, Times: 3, Cycle: true}, nil},
		{"R/PT0S", Timer{}, ErrCycle},
		{"R1001/PT1S", Timer{}, ErrCycle},
		{"1970-01-02T00:00:00Z", Timer{Date: true, Micros: day, Times: 1}, nil},
		{"", Timer{}, ErrForm},
		{"soon", Timer{}, ErrForm},
		{"-PT1S", Timer{}, ErrForm},
	} {
		if got, err := Parse(tt.text); !errors.Is(err, tt.err) || err == nil && got != tt.want {
			t.Errorf("%q: %+v, %v; want %+v, %v", tt.text, got, err, tt.want, tt.err)
		}
	}
}

func TestDue(t *testing.T) {
	at := func(s string) int64 {
		d, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return d.UnixMicro()
	}
	for _, tt := range []struct{ text, since, want string }{
		{"PT1H", "2026-01-31T10:00:00Z", "2026-01-31T11:00:00Z"},
		{"P1M", "2026-01-30T10:00:00Z", "2026-03-02T10:00:00Z"}, // 30 February
		{"P1MT1H", "2026-04-30T10:00:00Z", "2026-05-30T11:00:00Z"},
		{"2030-01-01T00:00:00+01:00", "2026-01-01T00:00:00Z", "2029-12-31T23:00:00Z"},
		{"2020-01-01", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"},
	} {
		timer, err := Parse(tt.text)
		if got := timer.Due(at(tt.since)); err != nil || got != at(tt.want) {
			t.Errorf("%s since %s: %s, %v; want %s", tt.text, tt.since, time.UnixMicro(got).UTC(), err, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"P1DT2H3M4.5S", "P2W", "R1/PT5M", "R/PT5M", "R7/PT0S", "P1Y", "PT", "2030-01-01T00:00:00Z", "P9999999999999W"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		timer, err := Parse(s)
		if err != nil {
			return
		}
		if timer.Micros < 0 && !timer.Date || timer.Months < 0 || timer.Times > MaxTimes || timer.Times == 0 && timer.Micros == 0 && timer.Months == 0 {
			t.Errorf("%q: %+v", s, timer)
		}
		if now := int64(1e15); timer.Due(now) < now && timer.Micros < 1<<60 {
			t.Errorf("%q is due at %d, before %d", s, timer.Due(now), now)
		}
	})
}
