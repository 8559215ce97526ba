// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

func TestTokensOfARingAreConserved(t *testing.T) {
	got, ok := Invariants(petritest.Compile(t, petritest.Ring(3)))
	if d := cmp.Diff([]Invariant{{Weights: []int64{1, 1, 1}, Sum: 1}}, got); d != "" || !ok {
		t.Errorf("%v\n%s", ok, d)
	}
}

func TestWeightsShowInTheInvariant(t *testing.T) {
	n := &petri.Net{Places: []petri.Place{{ID: "bottles", Initial: 25}, {ID: "crates"}}, Transitions: []petri.Transition{{ID: "pack"}},
		Arcs: []petri.Arc{{Source: "bottles", Target: "pack", Weight: 12}, {Source: "pack", Target: "crates", Weight: 1}}}
	got, ok := Invariants(petritest.Compile(t, n))
	if d := cmp.Diff([]Invariant{{Weights: []int64{1, 12}, Sum: 25}}, got); d != "" || !ok {
		t.Errorf("%v\n%s", ok, d)
	}
}

// P-invariants hold after every step, of any net.
func TestInvariantsHoldAfterEveryFiring(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	found := 0
	for range 1000 {
		tables := petritest.Compile(t, petritest.RandomNet(r))
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
	if _, ok := Invariants(petritest.Compile(t, n)); ok {
		t.Error("looked at")
	}
}

// A sum is an invariant if and only if no firing changes it: what is counted of
// the gateways is neither too little (then a marking would break an invariant)
// nor too much (then there would be fewer than there are).
func TestInvariantsOfGateways(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	found := 0
	for range 600 {
		n := petritest.RandomGateways(r)
		tables := petritest.Compile(t, n)
		invariants, ok := Invariants(tables)
		if !ok {
			t.Fatal("a small net is too large")
		}
		every := everyChange(n, tables)
		rows := incidence(tables, every)
		if want := len(rows) - eliminate(rows, len(every)); len(invariants) != want {
			t.Fatalf("%d invariants, want %d", len(invariants), want)
		}
		found += len(invariants)
		seen, _ := slowly(n, 60)
		for marking := range seen {
			for _, inv := range invariants {
				var sum int64
				for p, m := range strings.Fields(marking) {
					tokens, _ := strconv.ParseInt(m, 10, 64)
					sum += inv.Weights[p] * tokens
				}
				if sum != inv.Sum {
					t.Fatalf("%v gives %d at %s", inv, sum, marking)
				}
			}
		}
	}
	if found < 200 {
		t.Errorf("only %d invariants in all", found)
	}
}

// everyChange returns the change of every firing that the arcs allow: with each
// set of joined places that is not empty, and each of branches that is allowed.
func everyChange(n *petri.Net, tables *petri.Tables) (all []change) {
	for tr := range tables.Transitions() {
		var joined []petri.Effect
		certain := false // a joined place that holds a token whenever the join is enabled
		base := change{}
		for _, e := range tables.Effects(tr) {
			base[e.Place] += int64(e.Put) - int64(e.Take)
			if e.Join {
				joined = append(joined, e)
				certain = certain || e.Take > 1
			}
		}
		for without := range 1 << len(joined) {
			if without != 0 && without == 1<<len(joined)-1 && !certain {
				continue
			}
			for _, set := range branchSets(n, n.Transitions[tr].ID) {
				c := maps.Clone(base)
				for i, e := range joined {
					c[e.Place] += int64(without >> i & 1)
				}
				for _, arc := range set {
					p, _ := tables.PlaceIndex(n.Arcs[arc].Target)
					c[int32(p)] += int64(n.Arcs[arc].Weight)
				}
				all = append(all, c)
			}
		}
	}
	return all
}

func TestGatewaysCountByTheirArcsInTheBoundOfInvariants(t *testing.T) {
	n := &petri.Net{Places: []petri.Place{{ID: "s", Initial: 1}, {ID: "q"}}, Transitions: []petri.Transition{{ID: "t"}, {ID: "u"}, {ID: "v"}, {ID: "w"}}}
	for range 63 {
		for _, tr := range n.Transitions {
			n.Arcs = append(n.Arcs, petri.Arc{Source: tr.ID, Target: "q", Kind: petri.Branch, Weight: 1, Guard: "g"})
		}
	}
	if _, ok := Invariants(petritest.Compile(t, n)); ok {
		t.Error("looked at")
	}
	n.Arcs = n.Arcs[:100]
	if _, ok := Invariants(petritest.Compile(t, n)); !ok {
		t.Error("not looked at")
	}
}
