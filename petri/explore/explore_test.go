// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

func compile(t testing.TB, n *petri.Net) *petri.Tables {
	t.Helper()
	tables, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

// slowly visits with the reference interpreter, markings as text.
func slowly(n *petri.Net, limit int) (seen map[string]int, dead int) {
	text := func(r *petritest.Reference) (s string) {
		for _, p := range n.Places {
			s += fmt.Sprint(r.Marking[p.ID], " ")
		}
		return s
	}
	first := petritest.NewReference(n)
	seen = map[string]int{text(first): 0}
	queue := []*petritest.Reference{first}
	depth := []int{0}
	for i := 0; i < len(queue); i++ {
		stuck := true
		for _, t := range n.Transitions {
			r := &petritest.Reference{Net: n, Marking: maps.Clone(queue[i].Marking)}
			stuck = stuck && !r.Enabled(t.ID)
			if !r.Fire(t.ID) {
				continue
			}
			if _, known := seen[text(r)]; !known && len(seen) < limit {
				seen[text(r)] = depth[i] + 1
				queue, depth = append(queue, r), append(depth, depth[i]+1)
			}
		}
		if stuck {
			dead++
		}
	}
	return seen, dead
}

func TestVisitAgreesWithTheReference(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	complete := 0
	for range 400 {
		n := petritest.RandomNet(r)
		const limit = 300
		got := Visit(compile(t, n), limit)
		seen, dead := slowly(n, limit)
		if got.Markings != len(seen) || got.Deadlocks != dead {
			t.Fatalf("%d markings, %d dead; want %d, %d", got.Markings, got.Deadlocks, len(seen), dead)
		}
		if got.Complete {
			complete++
		}
		if got.Complete && got.Markings == limit+1 || !got.Complete && got.Markings < limit {
			t.Fatalf("complete %v with %d markings", got.Complete, got.Markings)
		}
		follow(t, n, got, seen)
	}
	if complete < 50 {
		t.Errorf("only %d of the nets were seen whole", complete)
	}
}

// follow plays the path with the reference: it ends where it says, dead, and
// nothing dead is nearer.
func follow(t *testing.T, n *petri.Net, got Result, seen map[string]int) {
	t.Helper()
	if got.Deadlocks == 0 {
		if got.Path != nil || got.Dead != nil {
			t.Fatalf("a path without a deadlock: %v", got.Path)
		}
		return
	}
	ref := petritest.NewReference(n)
	for _, tr := range got.Path {
		if !ref.Fire(n.Transitions[tr].ID) {
			t.Fatalf("transition %d of the path %v is not enabled", tr, got.Path)
		}
	}
	var key string
	for p, place := range n.Places {
		key += fmt.Sprint(ref.Marking[place.ID], " ")
		if uint64(got.Dead[p]) != ref.Marking[place.ID] || got.Bounds[p] < got.Dead[p] {
			t.Fatalf("place %d holds %d at the end, said %d, at most %d", p, ref.Marking[place.ID], got.Dead[p], got.Bounds[p])
		}
	}
	if slices.ContainsFunc(n.Transitions, func(tr petri.Transition) bool { return ref.Enabled(tr.ID) }) {
		t.Fatal("the end of the path is not dead")
	}
	if seen[key] != len(got.Path) {
		t.Fatalf("a path of %d transitions; the shortest has %d", len(got.Path), seen[key])
	}
}

func TestRingHasAMarkingForEachPlace(t *testing.T) {
	got := Visit(compile(t, petritest.Ring(7)), 1000)
	want := Result{Markings: 7, Complete: true, Bounds: []uint32{1, 1, 1, 1, 1, 1, 1}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestUnboundedNetIsNotComplete(t *testing.T) {
	n := &petri.Net{Places: []petri.Place{{ID: "p"}}, Transitions: []petri.Transition{{ID: "t"}},
		Arcs: []petri.Arc{{Source: "t", Target: "p", Weight: 1}}}
	if got := Visit(compile(t, n), 50); got.Complete || got.Markings != 50 || got.Bounds[0] != 49 {
		t.Errorf("%+v", got)
	}
}

func TestDeadInitialMarkingHasAnEmptyPath(t *testing.T) {
	n := &petri.Net{Places: []petri.Place{{ID: "p", Initial: 3}}}
	want := Result{Markings: 1, Complete: true, Deadlocks: 1, Bounds: []uint32{3}, Path: []int{}, Dead: []uint32{3}}
	if d := cmp.Diff(want, Visit(compile(t, n), 50)); d != "" {
		t.Error(d)
	}
}
