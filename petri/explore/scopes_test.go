// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"slices"
	"testing"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// scoped returns a net in which tokens of "in" open runs of a scope with "begin", and leave it
// with "end". A permit of "one", if there is one, lets a run begin after the last has ended.
func scoped(tokens uint32, change func(*petri.Net)) *petri.Net {
	n := &petri.Net{ID: "scoped", Scopes: []petri.Scope{{ID: "outer"}, {ID: "inner", Parent: "outer"}},
		Places:      []petri.Place{{ID: "in", Initial: tokens}, {ID: "active", Scope: "inner"}, {ID: "out"}},
		Transitions: []petri.Transition{{ID: "begin"}, {ID: "end"}},
		Arcs: []petri.Arc{{Source: "in", Target: "begin", Weight: 1}, {Source: "begin", Target: "active", Weight: 1},
			{Source: "active", Target: "end", Weight: 1}, {Source: "end", Target: "out", Weight: 1}}}
	if change != nil {
		change(n)
	}
	return n
}

func TestAVisitNamesTheScopesWhoseRunsItTookTogether(t *testing.T) {
	for _, tt := range []struct {
		rule   string
		tokens uint32
		change func(*petri.Net)
		want   []int
	}{
		{"one run", 1, nil, nil},
		{"two runs at one time", 2, nil, []int{0}},
		{"two runs, one after the other", 2, func(n *petri.Net) {
			n.Places = append(n.Places, petri.Place{ID: "one", Initial: 1})
			n.Arcs = append(n.Arcs, petri.Arc{Source: "one", Target: "begin", Weight: 1}, petri.Arc{Source: "end", Target: "one", Weight: 1})
		}, nil},
		{"a run that empties the one before it", 2, func(n *petri.Net) {
			n.Arcs = append(n.Arcs, petri.Arc{Source: "active", Target: "begin", Kind: petri.Reset})
		}, nil},
		{"a run by a branch", 2, func(n *petri.Net) { n.Arcs[1].Kind, n.Arcs[1].Guard = petri.Branch, "yes" }, []int{0}},
		{"two runs of the inner scope in one of the outer", 1, func(n *petri.Net) {
			n.Places = append(n.Places, petri.Place{ID: "work", Scope: "outer"})
			n.Transitions = append(n.Transitions, petri.Transition{ID: "enter"})
			n.Arcs[1].Target, n.Arcs[1].Weight = "work", 2
			n.Arcs = append(n.Arcs, petri.Arc{Source: "work", Target: "enter", Weight: 1}, petri.Arc{Source: "enter", Target: "active", Weight: 1})
		}, []int{1}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			tables := petritest.Compile(t, scoped(tt.tokens, tt.change))
			got := Explore(tables, Options{Markings: 100, Reduce: true})
			if !slices.Equal(got.Together, tt.want) || got.Complete != (tt.want == nil) || (got.Stopped == SeveralRuns) != (tt.want != nil) {
				t.Errorf("got scopes %v, complete %v, stopped %q; want scopes %v", got.Together, got.Complete, got.Stopped, tt.want)
			}
		})
	}
}

func TestRunsNamesTheScopeOfASecondRun(t *testing.T) {
	empties := func(n *petri.Net) {
		n.Arcs = append(n.Arcs, petri.Arc{Source: "active", Target: "begin", Kind: petri.Reset})
	}
	const begin, end, in, active = 0, 1, 0, 1
	for _, tt := range []struct {
		rule    string
		change  func(*petri.Net)
		marking []uint32
		act     func(r Runs, m []uint32) string
		want    string
	}{
		{"a first run", nil, []uint32{2, 0, 0}, func(r Runs, m []uint32) string { return r.Second(begin, m) }, ""},
		{"a second run", nil, []uint32{1, 1, 0}, func(r Runs, m []uint32) string { return r.Second(begin, m) }, "outer"},
		{"the end of a run", nil, []uint32{1, 1, 0}, func(r Runs, m []uint32) string { return r.Second(end, m) }, ""},
		{"a run that empties the one before it", empties, []uint32{1, 1, 0}, func(r Runs, m []uint32) string { return r.Second(begin, m) }, ""},
		{"a token from outside in a first run", nil, []uint32{1, 0, 1}, func(r Runs, m []uint32) string { return r.SecondIn(active, m) }, ""},
		{"a token from outside beside a run", nil, []uint32{1, 1, 0}, func(r Runs, m []uint32) string { return r.SecondIn(active, m) }, "outer"},
		{"a token from outside in no scope", nil, []uint32{1, 1, 0}, func(r Runs, m []uint32) string { return r.SecondIn(in, m) }, ""},
	} {
		if got := tt.act(NewRuns(petritest.Compile(t, scoped(2, tt.change))), tt.marking); got != tt.want {
			t.Errorf("%s: scope %q, want %q", tt.rule, got, tt.want)
		}
	}
	if r := NewRuns(petritest.Compile(t, petritest.Ring(2))); r.Second(0, []uint32{1, 1}) != "" || r.SecondIn(0, []uint32{1, 1}) != "" {
		t.Error("a net without scopes has runs")
	}
}
