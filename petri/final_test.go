// SPDX-License-Identifier: Apache-2.0

package petri_test

import (
	"testing"

	"github.com/pnagent/pnagent/petri"
)

func TestAPlaceIsFinalUnlessATransitionTakesItsTokens(t *testing.T) {
	out := petri.Arc{Source: "t", Target: "p", Weight: 1}
	for _, c := range []struct {
		rule string
		arcs []petri.Arc
		want bool
	}{
		{"no arcs at all", nil, true},
		{"only arcs that put tokens there", []petri.Arc{out}, true},
		{"a branch arc puts, too", []petri.Arc{{Source: "t", Target: "p", Kind: petri.Branch, Weight: 1}}, true},
		{"a normal arc takes", []petri.Arc{out, {Source: "p", Target: "t", Weight: 1}}, false},
		{"a join arc takes", []petri.Arc{out, {Source: "p", Target: "t", Kind: petri.Join, Weight: 1}}, false},
		{"a reset arc takes all", []petri.Arc{out, {Source: "p", Target: "t", Kind: petri.Reset}}, false},
		{"a read arc leaves them", []petri.Arc{out, {Source: "p", Target: "t", Kind: petri.Read, Weight: 1}}, true},
		{"an inhibitor arc leaves them", []petri.Arc{out, {Source: "p", Target: "t", Kind: petri.Inhibitor, Weight: 1}}, true},
		{"one that takes beside one that reads", []petri.Arc{{Source: "p", Target: "t", Kind: petri.Read, Weight: 1}, {Source: "p", Target: "t", Weight: 1}}, false},
		{"an arc from a place that is not there", []petri.Arc{{Source: "q", Target: "t", Weight: 1}}, true},
	} {
		n := &petri.Net{Places: []petri.Place{{ID: "p"}}, Transitions: []petri.Transition{{ID: "t"}}, Arcs: c.arcs}
		if got := n.FinalPlaces(); len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: %v", c.rule, got)
		}
	}
}

func TestAnOpenPlaceIsNotFinal(t *testing.T) {
	n := &petri.Net{Places: []petri.Place{{ID: "p", Open: true}, {ID: "q"}}}
	if got := n.FinalPlaces(); got[0] || !got[1] {
		t.Errorf("final: %v; want only the second", got)
	}
}
