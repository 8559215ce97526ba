// SPDX-License-Identifier: Apache-2.0

package cron

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/internal/zones"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := zones.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func schedule(t testing.TB, text, in string) *Schedule {
	t.Helper()
	s, err := Parse(text, zone(t, in))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func micros(t testing.TB, text string) int64 {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.UnixMicro()
}

// following returns the next times of an expression, up to and with the last one that is wanted.
func following(t *testing.T, s *Schedule, after string, n int) (times []string) {
	at := micros(t, after)
	for range n {
		at = s.Next(at)
		times = append(times, time.UnixMicro(at).In(s.zone).Format(time.RFC3339))
	}
	return times
}

func TestTheNextTimes(t *testing.T) {
	for _, c := range []struct{ name, text, zone, after, want string }{
		{"a time of each day", "0 3 * * *", "UTC", "2026-11-29T02:59:59Z", "2026-11-29T03:00:00Z 2026-11-30T03:00:00Z"},
		{"a time is not after itself", "0 3 * * *", "UTC", "2026-11-29T03:00:00Z", "2026-11-30T03:00:00Z"},
		{"steps", "*/20 * * * *", "UTC", "2026-11-29T23:39:00Z", "2026-11-29T23:40:00Z 2026-11-30T00:00:00Z 2026-11-30T00:20:00Z"},
		{"a step from a value", "50/5 9 * * *", "UTC", "2026-11-29T00:00:00Z", "2026-11-29T09:50:00Z 2026-11-29T09:55:00Z 2026-11-30T09:50:00Z"},
		{"lists and ranges with a step", "0 8-12/2,20 * * *", "UTC", "2026-11-29T09:00:00Z", "2026-11-29T10:00:00Z 2026-11-29T12:00:00Z 2026-11-29T20:00:00Z"},
		{"weekdays by name", "30 6 * * mon-fri", "UTC", "2026-11-27T07:00:00Z", "2026-11-30T06:30:00Z 2026-12-01T06:30:00Z"},
		{"7 is Sunday", "0 0 * * 7", "UTC", "2026-11-29T01:00:00Z", "2026-12-06T00:00:00Z"},
		{"months by name", "0 0 1 JAN,jul *", "UTC", "2026-11-29T01:00:00Z", "2027-01-01T00:00:00Z 2027-07-01T00:00:00Z"},
		{"a day of the month or a weekday", "0 0 13 * fri", "UTC", "2026-11-29T01:00:00Z", "2026-12-04T00:00:00Z 2026-12-11T00:00:00Z 2026-12-13T00:00:00Z"},
		{"a weekday beside each second day", "0 0 */2 * mon", "UTC", "2026-11-29T01:00:00Z", "2026-12-07T00:00:00Z"},
		{"the end of February", "0 0 29 2 *", "UTC", "2026-11-29T01:00:00Z", "2028-02-29T00:00:00Z 2032-02-29T00:00:00Z"},
		{"a day that few months have", "0 0 31 * *", "UTC", "2026-11-29T01:00:00Z", "2026-12-31T00:00:00Z 2027-01-31T00:00:00Z 2027-03-31T00:00:00Z"},
		{"a shorthand", "@daily", "UTC", "2026-11-29T01:00:00Z", "2026-11-30T00:00:00Z"},
		{"the clock of a zone", "0 3 * * *", "Europe/Berlin", "2026-07-01T00:30:00Z", "2026-07-01T03:00:00+02:00 2026-07-02T03:00:00+02:00"},
		{"a zone a quarter of an hour off", "0 * * * *", "Asia/Kathmandu", "2026-07-01T00:00:00Z", "2026-07-01T06:00:00+05:45 2026-07-01T07:00:00+05:45"},

		{"a time that the clocks leave out does not occur on that day", "30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-30T02:30:00+02:00"},
		{"and those around it do", "30 1,2,3 * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", "2026-03-29T01:30:00+01:00 2026-03-29T03:30:00+02:00 2026-03-30T01:30:00+02:00"},
		{"a time that occurs twice is the later one", "30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T02:30:00+01:00 2026-10-26T02:30:00+01:00"},
		{"a run at the earlier one is that run", "30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-26T02:30:00+01:00"},
		{"every hour is also the one that occurs twice", "0 * * * *", "Europe/Berlin", "2026-10-24T23:30:00Z", "2026-10-25T02:00:00+02:00 2026-10-25T02:00:00+01:00 2026-10-25T03:00:00+01:00"},
		{"every hour is not the one that is left out", "0 * * * *", "Europe/Berlin", "2026-03-29T00:30:00Z", "2026-03-29T03:00:00+02:00"},
		{"clocks that change at midnight", "15 0 * * *", "America/Santiago", "2026-09-05T12:00:00Z", "2026-09-07T00:15:00-03:00"},
		{"clocks that change by half an hour", "45 1 * * *", "Australia/Lord_Howe", "2026-04-03T20:00:00Z", "2026-04-05T01:45:00+10:30 2026-04-06T01:45:00+10:30"},
	} {
		want := strings.Fields(c.want)
		if got := strings.Join(following(t, schedule(t, c.text, c.zone), c.after, len(want)), " "); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestExpressionsThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                "0 fields; expected the 5 of crontab: minute, hour, day, month, weekday",
		"0 0 3 * * ?":     "6 fields; expected the 5 of crontab: minute, hour, day, month, weekday",
		"60 * * * *":      `minute "60": "60"; expected 0 to 59`,
		"0 24 * * *":      `hour "24": "24"; expected 0 to 23`,
		"0 0 0 * *":       `day "0": "0"; expected 1 to 31`,
		"0 0 * tuesday *": `month "tuesday": "tuesday"; expected 1 to 12`,
		"0 0 * * fri-mon": `weekday "fri-mon": "fri-mon" ends before it begins`,
		"*/0 * * * *":     `minute "*/0": step "0"; expected 1 to 59`,
		"1,,2 * * * *":    `minute "1,,2": ""; expected 0 to 59`,
		"0 0 30 2 *":      "no day is one of it",
		"@every 5m":       "2 fields; expected the 5 of crontab: minute, hour, day, month, weekday",
	} {
		if _, err := Parse(text, time.UTC); err == nil || err.Error() != want {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}

// FuzzNext compares with the minutes that pass: each is one of the expression by the clock of the zone.
func FuzzNext(f *testing.F) {
	f.Add("*/7 1-5 * * *", "Europe/Berlin", int64(1774746000))
	f.Add("0 0 1 * mon", "America/St_Johns", int64(1793494800))
	f.Fuzz(func(t *testing.T, text, name string, unix int64) {
		z, err := zones.Load(name)
		if err != nil || unix < 0 || unix > 4e9 || len(text) > 100 {
			return
		}
		s, err := Parse(text, z)
		if err != nil {
			return
		}
		after := unix*1e6 + rand.Int64N(1e6)
		next := s.Next(after)
		if next == 0 {
			return
		}
		at := time.UnixMicro(next).In(z)
		if next <= after || next%60e6 != 0 || s.minute>>at.Minute()&1 == 0 || s.hour>>at.Hour()&1 == 0 || !s.has(at) {
			t.Fatalf("%s, %s: %s follows %d", text, name, at, after)
		}
		for m := after/60e6*60e6 + 60e6; m < min(next, after+4*86400e6); m += 60e6 {
			clock := time.UnixMicro(m).In(z)
			if s.minute>>clock.Minute()&1 == 0 || s.hour>>clock.Hour()&1 == 0 || !s.has(clock) {
				continue
			}
			if s.hour != allHours {
				last, _ := s.last(shown(clock))
				if !last.Equal(clock) || !shown(clock).After(shown(time.UnixMicro(after).In(z))) {
					continue
				}
			}
			t.Fatalf("%s, %s: %s is left out after %s", text, name, clock, time.UnixMicro(after).In(z))
		}
	})
}

// shown returns the time at which the clocks of UTC show what a clock shows, to the minute.
func shown(clock time.Time) time.Time {
	return time.Date(clock.Year(), clock.Month(), clock.Day(), clock.Hour(), clock.Minute(), 0, 0, time.UTC)
}
