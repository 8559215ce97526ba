// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"errors"
	"testing"
	"time"
)

// micro returns a time of the first days of 2026 in microseconds since the Unix epoch.
func micro(t *testing.T, text string) int64 {
	t.Helper()
	at, err := time.Parse("2006-01-02 15:04 -0700", text)
	if err != nil {
		t.Fatal(err)
	}
	return at.UnixMicro()
}

func TestASilenceBeginsLater(t *testing.T) {
	d := newDesk(t, Saved{Last: 10}, newNotes(10))
	d.silence("a", "p*", 10, 20)
	wants(t, "before it", []string{"raise 11 p0"}, d.at(1, 0))
	if s := d.State().Silences; len(s) != 1 || !s[0].Pending || d.Due(t0+1e6) != t0+10e6 {
		t.Errorf("%+v, due %d; want one that is shown before it begins", s, d.Due(t0+1e6)-t0)
	}
	wants(t, "during it", nil, d.at(10, 0, 1))
	if s := d.State(); s.Silences[0].Pending || s.Active[1].SilencedUntil != t0+20e6 {
		t.Errorf("%+v", s)
	}
	wants(t, "at its end", []string{"raise 12 p1"}, d.at(20, 0, 1))
}

// A silence that was ended has nothing to wait for but its removal: a time that is over would be waited for
// without a pause.
func TestAnEndedSilenceIsDueAtItsEnd(t *testing.T) {
	n := newNotes(10)
	for _, s := range []Silence{
		{ID: "a", From: t0, Until: t0 + 60e6, By: "ada", Selection: Selection{Net: "*"}},
		{ID: "b", From: t0, Until: t0 + MaxSeries.Microseconds(), By: "ada", Selection: Selection{Net: "*"}, Recurs: Recurrence{Cron: "* * * * *", For: time.Second}},
	} {
		if err := n.silence(s); err != nil {
			t.Fatal(err)
		}
	}
	n.expire(t0 + 1e6)
	for _, id := range []string{"a", "b"} {
		if err := n.unsilence(id, "eve", t0+2e6); err != nil {
			t.Fatal(err)
		}
	}
	n.expire(t0 + 2e6)
	if due := n.due(); due != t0+60e6 {
		t.Errorf("due %d µs after the beginning; want 60 s", due-t0)
	}
}

func TestASilenceRecursByTheClocksOfItsZone(t *testing.T) {
	s := silenceNote{Silence: Silence{From: micro(t, "2026-01-01 00:00 +0000"), Until: micro(t, "2026-12-01 00:00 +0000"),
		Recurs: Recurrence{Cron: "0 2 * * sat", Zone: "Europe/Berlin", For: 2 * time.Hour}}}
	for _, c := range []struct {
		now, from, until string
		holds            bool
	}{
		{"2026-01-01 00:00 +0000", "2026-01-03 02:00 +0100", "2026-01-03 04:00 +0100", false},
		{"2026-01-03 01:59 +0100", "2026-01-03 02:00 +0100", "2026-01-03 04:00 +0100", false},
		{"2026-01-03 02:00 +0100", "2026-01-03 02:00 +0100", "2026-01-03 04:00 +0100", true},
		{"2026-01-03 03:59 +0100", "2026-01-03 02:00 +0100", "2026-01-03 04:00 +0100", true},
		{"2026-01-03 04:00 +0100", "2026-01-10 02:00 +0100", "2026-01-10 04:00 +0100", false},
		{"2026-07-03 12:00 +0200", "2026-07-04 02:00 +0200", "2026-07-04 04:00 +0200", false}, // in summer
	} {
		s.turn(micro(t, c.now))
		if s.from != micro(t, c.from) || s.until != micro(t, c.until) || s.holds != c.holds {
			t.Errorf("at %s: from %s until %s, %v; want %s, %s, %v", c.now, time.UnixMicro(s.from).UTC(), time.UnixMicro(s.until).UTC(), s.holds, c.from, c.until, c.holds)
		}
	}
	s.turn(micro(t, "2026-11-29 12:00 +0000"))
	if s.from != 0 || s.holds {
		t.Errorf("after the last time: from %d", s.from)
	}
}

func TestARecurringSilenceIsSavedAndShared(t *testing.T) {
	n := newNotes(10)
	s := Silence{ID: "00c0ffee00c0ffee", From: t0, Until: t0 + MaxSeries.Microseconds(), By: "ada", Selection: Selection{Net: "*"}, Recurs: Recurrence{Cron: "30 1 * * *", For: time.Hour}}
	if err := n.silence(s); err != nil {
		t.Fatal(err)
	}
	if err := n.unsilence(s.ID, "eve", t0+1); err != nil {
		t.Fatal(err)
	}
	all := n.all()
	for _, text := range [][]byte{all.File(), all.text()} {
		read, err := ParseNoted(text)
		if err != nil || len(read.silences) != 1 || read.silences[0].Recurs != s.Recurs || read.silences[0].endedBy != "eve" {
			t.Errorf("%v, %+v\n%s", err, read.silences, text)
		}
	}
	for _, r := range []Recurrence{{Cron: "30 1 * *", For: time.Hour}, {Cron: "30 1 * * *", For: 8 * 24 * time.Hour}, {Cron: "30 1 * * *"}, {Cron: "30 1 * * *", Zone: "Mars", For: time.Hour}, {Zone: "UTC", For: time.Hour}} {
		s.Recurs = r
		if err := n.silence(s); !errors.Is(err, ErrNote) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}
