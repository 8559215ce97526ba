// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

func TestTokensOfARingAreConserved(t *testing.T) {
	got, ok := Invariants(compile(t, petritest.Ring(3)))
	if d := cmp.Diff([]Invariant{{Weights: []int64{1, 1, 1}, Sum: 1}}, got); d != "" || !ok {
		t.Errorf("%v\n%s", ok, d)
	}
}

func TestWeightsShowInTheInvariant(t *testing.T) {
	n := &petri.Net{Places: []petri.Place{{ID: "bottles", Initial: 25}, {ID: "crates"}}, Transitions: []petri.Transition{{ID: "pack"}},
		Arcs: []petri.Arc{{Source: "bottles", Target: "pack", Weight: 12}, {Source: "pack", Target: "crates", Weight: 1}}}
	got, ok := Invariants(compile(t, n))
	if d := cmp.Diff([]Invariant{{Weights: []int64{1, 12}, Sum: 25}}, got); d != "" || !ok {
		t.Errorf("%v\n%s", ok, d)
	}
}

// P-invariants hold after every step, of any net.
func TestInvariantsHoldAfterEveryFiring(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	found := 0
	for range 1000 {
		tables := compile(t, petritest.RandomNet(r))
		invariants, ok := Invariants(tables)
		if !ok {
			t.Fatal("a small net is too large")
		}
		found += len(invariants)
		s := tables.NewState()
		for range 40 {
			for _, inv := range invariants {
				var sum int64
				for p, m := range s.Marking() {
					sum += inv.Weights[p] * int64(m)
				}
				if sum != inv.Sum {
					t.Fatalf("%v gives %d at %v", inv, sum, s.Marking())
				}
			}
			_ = s.Fire(r.IntN(tables.Transitions())) // one that is not enabled changes nothing
		}
	}
	if found < 200 {
		t.Errorf("only %d invariants in all", found)
	}
}

func TestLargeNetsAreNotLookedAt(t *testing.T) {
	n := &petri.Net{}
	for i := range MaxInvariantNodes + 1 {
		n.Places = append(n.Places, petri.Place{ID: fmt.Sprint(i)})
	}
	if _, ok := Invariants(compile(t, n)); ok {
		t.Error("looked at")
	}
}
