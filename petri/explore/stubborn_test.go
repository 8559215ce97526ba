// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// sameDead compares a reduced visit with the full one, which must be complete: the same
// dead markings, proper ends and length of the path.
func sameDead(t *testing.T, tables *petri.Tables, full Result, what string) (reduced Result) {
	t.Helper()
	dead := map[string]bool{}
	record := func(set map[string]bool) func([]uint32, bool) bool {
		return func(m []uint32, is bool) bool {
			if is {
				set[fmt.Sprint(m)] = true
			}
			return true
		}
	}
	Explore(tables, Options{Markings: full.Markings, Each: record(dead)})
	found := map[string]bool{}
	reduced = Explore(tables, Options{Markings: full.Markings, Reduce: true, Each: record(found)})
	switch {
	case !reduced.Complete, reduced.Markings > full.Markings:
		t.Fatalf("%s: %d markings of %d, complete %v", what, reduced.Markings, full.Markings, reduced.Complete)
	case reduced.Deadlocks != full.Deadlocks, reduced.Ends != full.Ends, len(found) != len(dead):
		t.Fatalf("%s: %d dead, %d ends; want %d and %d", what, reduced.Deadlocks, reduced.Ends, full.Deadlocks, full.Ends)
	case len(reduced.Path) != len(full.Path), (reduced.Path == nil) != (full.Path == nil):
		t.Fatalf("%s: the path %v; want one as long as %v", what, reduced.Path, full.Path)
	}
	for m := range dead {
		if !found[m] {
			t.Fatalf("%s: the dead marking %s was not found", what, m)
		}
	}
	replay(t, tables, reduced)
	return reduced
}

// replay fires the path, which must lead to the dead marking.
func replay(t *testing.T, tables *petri.Tables, r Result) {
	t.Helper()
	if r.Path == nil || r.Branches != nil {
		return
	}
	m, next := slices.Clone(tables.Initial), make([]uint32, tables.Places())
	for _, tr := range r.Path {
		if !tables.EnabledIn(m, tr) || !fire(tables, tr, m, next) {
			t.Fatalf("transition %d of the path %v is not enabled", tr, r.Path)
		}
		m, next = next, m
	}
	if !slices.Equal(m, r.Dead) {
		t.Fatalf("the path leads to %v, not to %v", m, r.Dead)
	}
}

// conserving returns a random net most of whose transitions put as many tokens as they
// take, with every kind of arc and with weights.
func conserving(r *rand.Rand) *petri.Net {
	n := &petri.Net{ID: "random"}
	for i := range 2 + r.IntN(8) {
		n.Places = append(n.Places, petri.Place{ID: fmt.Sprint("p", i), Initial: r.Uint32N(3)})
	}
	for i := range 2 + r.IntN(8) {
		id := fmt.Sprint("t", i)
		n.Transitions = append(n.Transitions, petri.Transition{ID: id, Priority: r.IntN(2)})
		place := func() string { return n.Places[r.IntN(len(n.Places))].ID }
		for range 1 + r.IntN(2) {
			w := 1 + r.Uint32N(8)/6
			n.Arcs = append(n.Arcs, petri.Arc{Source: place(), Target: id, Weight: w}, petri.Arc{Source: id, Target: place(), Weight: w})
		}
		switch r.IntN(6) {
		case 0:
			n.Arcs = append(n.Arcs, petri.Arc{Source: place(), Target: id, Kind: petri.Inhibitor, Weight: 1 + r.Uint32N(3)})
		case 1:
			n.Arcs = append(n.Arcs, petri.Arc{Source: place(), Target: id, Kind: petri.Read, Weight: 1 + r.Uint32N(2)})
		case 2:
			n.Arcs = append(n.Arcs, petri.Arc{Source: place(), Target: id, Kind: petri.Reset})
		case 3:
			n.Arcs = append(n.Arcs, petri.Arc{Source: place(), Target: id, Weight: 1})
		}
	}
	return n
}

func TestReducedVisitFindsTheDeadMarkingsOfTheFullOne(t *testing.T) {
	nets, compared, dead, smaller := 0, 0, 0, 0
	for seed := range seeds.Of(60, 1500, 789, 888, 1265, 62) {
		nets++
		for i, generate := range []func(*rand.Rand) *petri.Net{petritest.RandomNet, conserving, petritest.RandomGateways} {
			tables := petritest.Compile(t, generate(rand.New(rand.NewPCG(seed, uint64(i)))))
			full := Visit(tables, 400)
			if !full.Complete {
				continue
			}
			reduced := sameDead(t, tables, full, fmt.Sprintf("seed %d of generator %d", seed, i))
			compared++
			dead += min(full.Deadlocks, 1)
			if reduced.Markings < full.Markings {
				smaller++
			}
		}
	}
	t.Logf("%d nets, %d with dead markings, %d with fewer markings", compared, dead, smaller)
	if nets > 1 && (compared < nets || dead < nets/2 || smaller < nets/4) {
		t.Errorf("only %d nets, %d with dead markings, %d with fewer markings", compared, dead, smaller)
	}
}

// leftFirst returns n dining philosophers who all take the left fork first.
func leftFirst(n int) *petri.Net {
	b := &build{petri.Net{ID: "left first"}}
	for i := range n {
		b.place(fmt.Sprint("fork", i), 1)
		b.place(fmt.Sprint("think", i), 1)
		b.place(fmt.Sprint("left", i), 0)
		b.place(fmt.Sprint("eat", i), 0)
	}
	for i := range n {
		left, right, think := fmt.Sprint("fork", i), fmt.Sprint("fork", (i+1)%n), fmt.Sprint("think", i)
		b.transition(fmt.Sprint("a", i), []string{think, left}, []string{fmt.Sprint("left", i)})
		b.transition(fmt.Sprint("b", i), []string{fmt.Sprint("left", i), right}, []string{fmt.Sprint("eat", i)})
		b.transition(fmt.Sprint("c", i), []string{fmt.Sprint("eat", i)}, []string{think, left, right})
	}
	return &b.Net
}

// A net with much concurrency needs a tenth of its markings or less.
func TestReducedVisitOfConcurrentNets(t *testing.T) {
	forkJoin := &build{petri.Net{ID: "fork and join"}}
	forkJoin.place("start", 1)
	forkJoin.place("end", 0)
	var first, last []string
	for c := range 6 {
		for i := range 5 {
			forkJoin.place(fmt.Sprint("p", c, ".", i), 0)
			if i > 0 {
				forkJoin.transition(fmt.Sprint("t", c, ".", i), []string{fmt.Sprint("p", c, ".", i-1)}, []string{fmt.Sprint("p", c, ".", i)})
			}
		}
		first, last = append(first, fmt.Sprint("p", c, ".0")), append(last, fmt.Sprint("p", c, ".4"))
	}
	forkJoin.transition("fork", []string{"start"}, first)
	forkJoin.transition("join", last, []string{"end"})
	for _, n := range []*petri.Net{leftFirst(9), rings(5, 7), &forkJoin.Net, kanban(2)} {
		tables := petritest.Compile(t, n)
		full := Visit(tables, 1e6)
		reduced := sameDead(t, tables, full, n.ID)
		t.Logf("%s: %d of %d markings, %d dead", n.ID, reduced.Markings, full.Markings, full.Deadlocks)
		if reduced.Markings*10 > full.Markings {
			t.Errorf("%s: %d of %d markings", n.ID, reduced.Markings, full.Markings)
		}
	}
}

// Tokens in any place can make an inclusive join wait, and an urgent transition holds back
// all others, so that the full visit is needed.
func TestInclusiveGatewaysAndUrgentTransitionsAreNotReduced(t *testing.T) {
	n := &petri.Net{Places: []petri.Place{{ID: "p"}, {ID: "q"}}, Transitions: []petri.Transition{{ID: "t"}}}
	n.Arcs = []petri.Arc{{Source: "p", Target: "t", Kind: petri.Join, Weight: 1}}
	if Reducible(petritest.Compile(t, n)) {
		t.Error("an inclusive join is reduced")
	}
	n.Arcs = []petri.Arc{{Source: "p", Target: "t", Weight: 1}, {Source: "t", Target: "q", Kind: petri.Branch, Weight: 1}}
	if Reducible(petritest.Compile(t, n)) {
		t.Error("an inclusive split is reduced")
	}
	n.Arcs, n.Transitions[0].Priority = []petri.Arc{{Source: "p", Target: "t", Weight: 1}}, petri.Urgent
	if Reducible(petritest.Compile(t, n)) {
		t.Error("an urgent transition is reduced")
	}
	if !Reducible(petritest.Compile(t, philosophers(2))) {
		t.Error("a plain net is not reduced")
	}
}

// BenchmarkReducedVisit finds the dead markings of the philosophers.
func BenchmarkReducedVisit(b *testing.B) {
	t := petritest.Compile(b, leftFirst(9))
	for b.Loop() {
		if r := Explore(t, Options{Markings: 1e6, Reduce: true}); r.Deadlocks != 1 {
			b.Fatal(r)
		}
	}
}
