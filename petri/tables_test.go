// SPDX-License-Identifier: Apache-2.0

package petri

import (
	"fmt"
	"testing"
)

func TestANetIsBoundedByEachKindOfNode(t *testing.T) {
	const bound = 3
	for _, c := range []struct {
		rule                      string
		places, transitions, arcs int
		fits                      bool
	}{
		{"all as many as there may be", bound, bound, bound, true},
		{"a place more", bound + 1, 0, 0, false},
		{"a transition more", 0, bound + 1, 0, false},
		{"an arc more", 1, 1, bound + 1, false},
	} {
		n := &Net{ID: "n", File: "n.pnml", Pos: Pos{Line: 3, Column: 7}}
		for i := range c.places {
			n.Places = append(n.Places, Place{ID: fmt.Sprint("p", i)})
		}
		for i := range c.transitions {
			n.Transitions = append(n.Transitions, Transition{ID: fmt.Sprint("t", i)})
		}
		for range c.arcs {
			n.Arcs = append(n.Arcs, Arc{Source: "p0", Target: "t0", Weight: 1})
		}
		tables, err := compile(n, bound)
		switch {
		case c.fits && (err != nil || tables.Places() != bound || tables.Transitions() != bound):
			t.Errorf("%s: %v", c.rule, err)
		case !c.fits && (err == nil || err.Error() != `n.pnml:3:7: net "n" has more than 3 nodes or arcs of a kind`):
			t.Errorf("%s: %v", c.rule, err)
		}
	}
}
