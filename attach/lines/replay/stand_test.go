// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/stats"
)

// The state of an engine replaces what the events so far made of it: instances that they
// missed are there, those that ended meanwhile are not, and what is right keeps its time.
func TestAStateReplacesWhatEventsMissed(t *testing.T) {
	def := &petri.Net{ID: "n", Places: []petri.Place{{ID: "a"}, {ID: "b"}}, Transitions: []petri.Transition{{ID: "in"}, {ID: "t"}, {ID: "out"}},
		Arcs: []petri.Arc{{ID: "1", Source: "in", Target: "a", Weight: 1}, {ID: "2", Source: "a", Target: "t", Weight: 1}, {ID: "3", Source: "t", Target: "b", Weight: 1}, {ID: "4", Source: "b", Target: "out", Weight: 1}}}
	r := New(Config{Tables: petritest.Compile(t, def), EndsByEvent: true, Limit: 100, Search: 100})
	for _, name := range []string{"q same", "q moved", "q ended", "other"} {
		r.Fire([]byte(name), 0, 1000)
	}
	r.Stand("q ", map[string][]Standing{
		"q same":  {{Place: 0, Tokens: 1, Since: 5000}},
		"q moved": {{Place: 1, Tokens: 1, Since: 6000}},
		"q new":   {{Place: 1, Tokens: 2, Since: 300}, {Place: 0, Tokens: 1, Since: 200}},
	}, 9000)
	got := map[string][]stats.Held{}
	for _, name := range []string{"q same", "q moved", "q ended", "q new", "other"} {
		if held, _, open := r.Held(name, 10); open {
			for _, h := range held {
				got[name] = append(got[name], stats.Held{Place: h.Place, Tokens: h.Tokens, Injected: h.Injected})
			}
		}
	}
	want := map[string][]stats.Held{
		"q same":  {{Place: 0, Tokens: 1, Injected: 1000}},
		"q moved": {{Place: 1, Tokens: 1, Injected: 6000}},
		"q new":   {{Place: 0, Tokens: 1, Injected: 200}, {Place: 1, Tokens: 2, Injected: 300}},
		"other":   {{Place: 0, Tokens: 1, Injected: 1000}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	rows := stats.NewRows(2, 3)
	r.Look(10_000, rows)
	for p, row := range rows.Places {
		if row.Arrivals-row.Departures != row.Tokens && p == 1 {
			t.Errorf("place %d: %d arrivals, %d departures, %d tokens", p, row.Arrivals, row.Departures, row.Tokens)
		}
	}
	if r.Counts.Unfit != 1 || r.Open() != 4 {
		t.Errorf("%d unfit events and %d open instances; expected 1 and 4", r.Counts.Unfit, r.Open())
	}
	for _, name := range []string{"q same", "q moved", "q new", "other"} {
		r.End([]byte(name), 10_000)
	}
	if r.Open() != 0 {
		t.Errorf("%d instances are open", r.Open())
	}
}
