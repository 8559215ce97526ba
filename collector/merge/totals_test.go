// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/stats"
)

// checkSources compares the sources of the last View with those made from all that is known now: a View
// shows again what did not change.
func checkSources(t *testing.T, m *Merger, v *View) {
	t.Helper()
	if all := m.shownSources(); len(all)+len(v.Sources) > 0 && !reflect.DeepEqual(v.Sources, all) {
		t.Fatalf("View has the sources %+v; they are %+v", v.Sources, all)
	}
}

// checkTotals adds up what a View derives, from its rows and sources.
func checkTotals(t *testing.T, v *View) {
	t.Helper()
	var states States
	for _, s := range v.Sources {
		states[s.State]++
	}
	var bad uint64
	for _, n := range v.Traffic.Rejected {
		bad += n
	}
	if v.SumDifferences > 0 {
		t.Errorf("%d sums differ from what the sources add up to", v.SumDifferences)
	}
	if v.States != states || v.Traffic.Bad != bad {
		t.Errorf("states %v and %d bad messages, want %v and %d", v.States, v.Traffic.Bad, states, bad)
	}
	for _, n := range v.Nets {
		want := Totals{Blocked: make([]uint64, len(n.Rows.Transitions))}
		for i, p := range n.Rows.Places {
			want.Tokens += p.Tokens
			if !n.IsFinal(i) && p.Oldest != 0 {
				want.OldestSince = stats.Earlier(want.OldestSince, p.Oldest)
			}
		}
		want.OldestPlace = max(slices.IndexFunc(n.Rows.Places, func(p stats.Place) bool { return want.OldestSince != 0 && p.Oldest == want.OldestSince }), 0)
		for i, x := range n.Rows.Transitions {
			want.Firings += x.Firings
			for _, b := range n.Rows.Blocks {
				if int(b.Transition) == i {
					want.Blocked[i] = max(want.Blocked[i], b.Instances)
				}
			}
		}
		if d := cmp.Diff(want, n.Totals); d != "" {
			t.Errorf("totals of net %s (-from scratch +View):\n%s", n.Name, d)
		}
		if len(n.Rates.Arrivals) != len(n.Rows.Places) || len(n.Rates.Departures) != len(n.Rows.Places) || len(n.Rates.Transitions) != len(n.Rows.Transitions) {
			t.Errorf("net %s of %d places and %d transitions has rates of %d and %d", n.Name, len(n.Rows.Places), len(n.Rows.Transitions), len(n.Rates.Arrivals), len(n.Rates.Transitions))
		}
	}
}
