// SPDX-License-Identifier: Apache-2.0

package action

import (
	"strings"
	"testing"
	"time"
)

func TestAtIsTheNextSuchTime(t *testing.T) {
	for _, c := range []struct{ name, at, now, want string }{
		{"later today", "17:30 UTC", "2026-03-10T12:00:00Z", "2026-03-10T17:30:00Z"},
		{"tomorrow", "17:30 UTC", "2026-03-10T18:00:00Z", "2026-03-11T17:30:00Z"},
		{"now is not next", "17:30 UTC", "2026-03-10T17:30:00Z", "2026-03-11T17:30:00Z"},
		{"a moment before", "17:30 UTC", "2026-03-10T17:29:59.999999Z", "2026-03-10T17:30:00Z"},
		{"seconds", "00:00:15 UTC", "2026-12-31T23:59:59Z", "2027-01-01T00:00:15Z"},
		{"leap day", "00:00 UTC", "2028-02-28T12:00:00Z", "2028-02-29T00:00:00Z"},
		{"in a zone", "17:30 Europe/Berlin", "2026-03-10T12:00:00Z", "2026-03-10T16:30:00Z"},
		{"in a zone it is tomorrow", "01:00 Asia/Tokyo", "2026-03-10T15:30:00Z", "2026-03-10T16:00:00Z"},
		{"clocks go forward, after", "12:00 Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T10:00:00Z"},
		{"clocks go forward, skipped", "02:30 Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"},
		{"… and the day after", "02:30 Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"},
		{"clocks go back, first", "02:30 Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"},
		{"… and not a second time", "02:30 Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"},
		{"clocks go back, after", "12:00 Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T11:00:00Z"},
		{"half an hour", "01:45 Australia/Lord_Howe", "2026-04-04T12:00:00Z", "2026-04-04T14:45:00Z"},
		{"west", "23:30 America/Los_Angeles", "2026-11-01T12:00:00Z", "2026-11-02T07:30:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			due, err := At(c.at)
			if err != nil {
				t.Fatal(err)
			}
			now, err := time.Parse(time.RFC3339, c.now)
			if err != nil {
				t.Fatal(err)
			}
			if got := time.UnixMicro(due(now.UnixMicro())).UTC().Format(time.RFC3339Nano); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Against a walk in steps of a quarter of an hour.
func TestAtComesOnceADayOnEveryDay(t *testing.T) {
	for _, zone := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"} {
		in, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		for _, clock := range []string{"00:00", "01:45", "02:30", "03:00", "23:45"} {
			due, err := At(clock + " " + zone)
			if err != nil {
				t.Fatal(err)
			}
			now := time.Date(2026, 1, 1, 12, 0, 0, 0, in)
			var next int64
			seen := ""
			for end := now.AddDate(1, 0, 0); now.Before(end); now = now.Add(15 * time.Minute) {
				if day := now.Format(time.DateOnly); day != seen && now.Format("15:04") >= clock && now.Day() != 1 {
					seen = day
					if next = due(now.Add(-15 * time.Minute).UnixMicro()); next != now.UnixMicro() {
						t.Fatalf("%s %s on %s: %s", clock, zone, now, time.UnixMicro(next).In(in))
					}
				}
			}
		}
	}
}

func TestAtIsInTheMachinesZoneByDefault(t *testing.T) {
	due, err := At("17:30")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.Local)
	if want := time.Date(2026, 1, 31, 17, 30, 0, 0, time.Local); due(now.UnixMicro()) != want.UnixMicro() {
		t.Error(time.UnixMicro(due(now.UnixMicro())), want)
	}
}

func TestWhatIsNoTimeOfDay(t *testing.T) {
	for text, want := range map[string]string{
		"": "expected a time of day", "24:00": "expected a time of day", "5:30": "expected a time of day", "17:60": "expected a time of day",
		"17:30:5": "expected a time of day", "noon": "expected a time of day", "17:30 Europe/Nowhere": "the time zone", "17:30 ": "the time zone", "17:30 ../x": "the time zone",
	} {
		if _, err := At(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzAt(f *testing.F) {
	f.Add("17:30 Europe/Berlin", int64(1774746000000000))
	f.Add("02:30:15", int64(0))
	f.Fuzz(func(t *testing.T, text string, now int64) {
		due, err := At(text)
		if err != nil || now < -1e16 || now > 1e16 {
			return
		}
		if next := due(now); next <= now || next > now+72*3600e6 {
			t.Fatalf("%s after %s is %s", text, time.UnixMicro(now), time.UnixMicro(next))
		}
	})
}
