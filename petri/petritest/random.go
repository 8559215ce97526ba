// SPDX-License-Identifier: Apache-2.0

package petritest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/pnagent/pnagent/petri"
)

// RandomNet returns a valid net of a few places and transitions with every
// kind of arc, parallel arcs in any order, weights, priorities and tokens.
func RandomNet(r *rand.Rand) *petri.Net {
	n := &petri.Net{ID: "random"}
	for i := range 1 + r.IntN(8) {
		n.Places = append(n.Places, petri.Place{ID: fmt.Sprintf("p %d", i), Initial: r.Uint32N(5)})
	}
	for i := range 1 + r.IntN(70) { // sometimes more than one word of the enabled set
		n.Transitions = append(n.Transitions, petri.Transition{ID: fmt.Sprintf("t %d", i), Priority: r.IntN(3) / 2})
		if i > 6 && r.IntN(4) > 0 {
			break
		}
	}
	for range 1 + r.IntN(4*len(n.Transitions)) {
		a := petri.Arc{Source: n.Places[r.IntN(len(n.Places))].ID, Target: n.Transitions[r.IntN(len(n.Transitions))].ID, Weight: 1 + r.Uint32N(2)}
		switch k := r.IntN(10); {
		case k < 4:
			a.Source, a.Target = a.Target, a.Source
		case k == 7:
			a.Kind, a.Weight = petri.Inhibitor, 1+r.Uint32N(6)
		case k == 8:
			a.Kind = petri.Read
		case k == 9 && r.IntN(3) == 0:
			a.Kind = petri.Reset
		}
		a.ID = fmt.Sprintf("a %d", len(n.Arcs))
		n.Arcs = append(n.Arcs, a)
	}
	return n
}

// Ring returns a net of n places in a cycle with one token.
func Ring(n int) *petri.Net {
	net := &petri.Net{ID: fmt.Sprintf("ring-%d", n)}
	for i := range n {
		net.Places = append(net.Places, petri.Place{ID: fmt.Sprintf("p%d", i)})
		net.Transitions = append(net.Transitions, petri.Transition{ID: fmt.Sprintf("t%d", i)})
	}
	net.Places[0].Initial = 1
	for i := range n {
		net.Arcs = append(net.Arcs,
			petri.Arc{ID: fmt.Sprintf("in%d", i), Source: net.Places[i].ID, Target: net.Transitions[i].ID, Weight: 1},
			petri.Arc{ID: fmt.Sprintf("out%d", i), Source: net.Transitions[i].ID, Target: net.Places[(i+1)%n].ID, Weight: 1})
	}
	return net
}

// Compile compiles a net that must be valid.
func Compile(t testing.TB, n *petri.Net) *petri.Tables {
	t.Helper()
	tables, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	return tables
}
