// SPDX-License-Identifier: Apache-2.0

package stats

import "testing"

func TestTheForemostWaitSaysWhyATokenDoesNotMove(t *testing.T) {
	for name, c := range map[string]struct {
		waits []Reason
		want  Reason
	}{
		"no wait":                                   {nil, ReasonUnknown},
		"an incident comes before all":              {[]Reason{ReasonRunning, ReasonIncident, ReasonNoWorker}, ReasonIncident},
		"a lost worker before what it ran":          {[]Reason{ReasonRunning, ReasonNoWorker}, ReasonNoWorker},
		"a token that is worked on is not short":    {[]Reason{ReasonMissing, ReasonRunning, ReasonGuarded}, ReasonRunning},
		"a message before the timer of its gateway": {[]Reason{ReasonDelayed, ReasonManual}, ReasonManual},
		"a delay before a turn":                     {[]Reason{ReasonEnabled, ReasonDelayed, ReasonUnknown}, ReasonDelayed},
	} {
		var waits []Wait
		for i, r := range c.waits {
			waits = append(waits, Wait{Transition: int32(i), Reason: r})
		}
		if got := Foremost(waits).Reason; got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	for r := ReasonUnknown; r <= LastReason; r++ {
		if weight(r) < 0 {
			t.Errorf("%v has no weight", r)
		}
	}
}

// Of more contributors than Sums keeps in order, those that were the oldest leave.
func TestAGroupOfASumOutlivesItsOldestTokens(t *testing.T) {
	var s Sums
	s.Grow(1, 0)
	var all []*contributor
	for i := range int64(spareEarliest + 100) {
		rows := NewRows(1, 0)
		rows.Places[0].Groups = []Group{{ReasonIncident, 1, 2000 + i, Token{Instance: "i", Injected: 1000 + i}}}
		all = append(all, &contributor{rows: rows})
		s.Add(rows, 0)
	}
	for len(all) > 0 {
		sum := s.Rows(nil, contributorsOf(all)).Places[0].Groups
		first := all[0].rows.Places[0].Groups[0]
		if want := []Group{{ReasonIncident, uint64(len(all)), first.Due, first.Oldest}}; !SameGroups(sum, want) {
			t.Fatalf("%d contributors: %+v, want %+v", len(all), sum, want)
		}
		s.ReplacePlace(0, &all[0].rows.Places[0], &Place{}, 0)
		all = all[1:]
	}
	if sum := s.Rows(nil, contributorsOf(nil)).Places[0].Groups; len(sum) != 0 {
		t.Errorf("without contributors: %+v", sum)
	}
}
