// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// deaths are the dead markings of slowly.
type deaths struct {
	locks, ends int
	nearest     int // the least depth of a deadlock; -1 for none
}

// ended reports whether no arc takes tokens from a marked place.
func ended(r *petritest.Reference) bool {
	return !slices.ContainsFunc(r.Net.Arcs, func(a petri.Arc) bool {
		takes := a.Kind == petri.Normal || a.Kind == petri.Join || a.Kind == petri.Reset
		return takes && r.Marking[a.Source] > 0 // a transition is no place: it has none
	})
}

// slowly visits with the reference interpreter, markings as text.
func slowly(n *petri.Net, limit int) (seen map[string]int, dead deaths) {
	dead.nearest = -1
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
			stuck = stuck && !queue[i].Enabled(t.ID)
			if queue[i].HeldBack(t.ID) {
				continue
			}
			for _, set := range branchSets(n, t.ID) {
				r := &petritest.Reference{Net: n, Marking: maps.Clone(queue[i].Marking)}
				if !r.FireBranches(t.ID, func(arc int) bool { return slices.Contains(set, arc) }) {
					continue
				}
				if _, known := seen[text(r)]; !known && len(seen) < limit {
					seen[text(r)] = depth[i] + 1
					queue, depth = append(queue, r), append(depth, depth[i]+1)
				}
			}
		}
		switch {
		case !stuck:
		case ended(queue[i]):
			dead.ends++
		default:
			dead.locks++
			if dead.nearest < 0 {
				dead.nearest = depth[i]
			}
		}
	}
	return seen, dead
}

// branchSets returns every allowed set of branch arcs, by index, that some data could
// choose. A transition that is not a split has the empty set.
func branchSets(n *petri.Net, transition string) (sets [][]int) {
	var branches []int
	for i, a := range n.Arcs {
		if a.Source == transition && a.Kind == petri.Branch {
			branches = append(branches, i)
		}
	}
	for mask := range 1 << len(branches) {
		set := []int{}
		allowed := mask != 0 || len(branches) == 0
		for i, arc := range branches {
			in := mask>>i&1 != 0
			if in {
				set = append(set, arc)
			}
			a := &n.Arcs[arc]
			always := !a.Default && a.Guard == ""
			allowed = allowed && (in || !always) && (!in || !a.Default || mask == 1<<i)
		}
		if allowed {
			sets = append(sets, set)
		}
	}
	return sets
}

func TestVisitAgreesWithTheReference(t *testing.T) { visitAgrees(t, petritest.RandomNet) }

func TestVisitOfGatewaysAgreesWithTheReference(t *testing.T) {
	visitAgrees(t, petritest.RandomGateways)
}

func TestVisitOfUrgentTransitionsAgreesWithTheReference(t *testing.T) {
	for _, generate := range []func(*rand.Rand) *petri.Net{petritest.RandomNet, petritest.RandomGateways} {
		visitAgrees(t, func(r *rand.Rand) *petri.Net { return petritest.Urgently(r, generate(r)) })
	}
}

func visitAgrees(t *testing.T, random func(*rand.Rand) *petri.Net) {
	nets, complete, ends, locks := 0, 0, 0, 0
	for seed := range seeds.Of(10, 400, 285, 344, 23, 31, 143, 350, 61, 11, 19, 28) {
		nets++
		n := random(rand.New(rand.NewPCG(1, seed)))
		const limit = 300
		got := Visit(petritest.Compile(t, n), limit)
		seen, dead := slowly(n, limit)
		if got.Markings != len(seen) {
			t.Fatalf("seed %d: %d markings; want %d", seed, got.Markings, len(seen))
		}
		if !got.Complete && slices.ContainsFunc(n.Arcs, func(a petri.Arc) bool { return a.Kind == petri.Branch }) {
			continue // the reference takes the branches in another order, and has other markings before the limit
		}
		if got.Deadlocks != dead.locks || got.Ends != dead.ends {
			t.Fatalf("seed %d: %d deadlocks, %d ends; want %+v", seed, got.Deadlocks, got.Ends, dead)
		}
		ends, locks = ends+dead.ends, locks+dead.locks
		if got.Complete {
			complete++
		}
		if got.Complete && got.Markings == limit+1 || !got.Complete && got.Markings < limit {
			t.Fatalf("complete %v with %d markings", got.Complete, got.Markings)
		}
		follow(t, n, got, dead.nearest)
	}
	if nets > 1 && (complete < nets/8 || ends == 0 || locks < nets/20) {
		t.Errorf("only %d of %d nets were seen whole, %d ends, %d deadlocks", complete, nets, ends, locks)
	}
}

// follow fires the path with the reference. It must end in the given marking, dead and
// not a proper end, and no such marking may be nearer than nearest.
func follow(t *testing.T, n *petri.Net, got Result, nearest int) {
	t.Helper()
	if nearest < 0 {
		if got.Path != nil || got.Dead != nil {
			t.Fatalf("a path without a deadlock: %v", got.Path)
		}
		return
	}
	ends := []*petritest.Reference{petritest.NewReference(n)}
	for i := range got.Path {
		if ends = steps(ends, got, i); len(ends) == 0 {
			t.Fatalf("transition %d of the path %v with branches %v is not enabled", i, got.Path, got.Branches)
		}
	}
	at := slices.IndexFunc(ends, func(r *petritest.Reference) bool {
		for p, m := range got.Dead {
			if uint64(m) != r.Marking[n.Places[p].ID] {
				return false
			}
		}
		return true
	})
	if at < 0 {
		t.Fatalf("the path %v does not lead to %v", got.Path, got.Dead)
	}
	ref := ends[at]
	for p := range n.Places {
		if got.Bounds[p] < got.Dead[p] {
			t.Fatalf("place %d holds %d at the end, at most %d", p, got.Dead[p], got.Bounds[p])
		}
	}
	if slices.ContainsFunc(n.Transitions, func(tr petri.Transition) bool { return ref.Enabled(tr.ID) }) {
		t.Fatal("the end of the path is not dead")
	}
	if ended(ref) {
		t.Fatal("the end of the path is a proper end")
	}
	if nearest != len(got.Path) {
		t.Fatalf("a path of %d transitions; the shortest has %d", len(got.Path), nearest)
	}
}

// steps fires one transition of the path with its branches, from each marking that the
// path can have reached: branches with different weights can lead to the same place.
func steps(from []*petritest.Reference, got Result, i int) (to []*petritest.Reference) {
	var want []int32
	if got.Branches != nil {
		want = got.Branches[i]
	}
	for _, ref := range from {
		tr := ref.Net.Transitions[got.Path[i]].ID
		if ref.HeldBack(tr) {
			continue
		}
		for _, set := range branchSets(ref.Net, tr) {
			var places []int32
			for _, arc := range set {
				places = append(places, int32(slices.IndexFunc(ref.Net.Places, func(p petri.Place) bool { return p.ID == ref.Net.Arcs[arc].Target })))
			}
			r := &petritest.Reference{Net: ref.Net, Marking: maps.Clone(ref.Marking)}
			if slices.Equal(places, want) && r.FireBranches(tr, func(arc int) bool { return slices.Contains(set, arc) }) {
				to = append(to, r)
			}
		}
	}
	return to
}

func TestRingHasAMarkingForEachPlace(t *testing.T) {
	got := Visit(petritest.Compile(t, petritest.Ring(7)), 1000)
	want := Result{Markings: 7, Complete: true, Bounds: []uint32{1, 1, 1, 1, 1, 1, 1}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestUnboundedNetIsNotComplete(t *testing.T) {
	n := &petri.Net{Places: []petri.Place{{ID: "p"}}, Transitions: []petri.Transition{{ID: "t"}},
		Arcs: []petri.Arc{{Source: "t", Target: "p", Weight: 1}}}
	if got := Visit(petritest.Compile(t, n), 50); got.Complete || got.Markings != 50 || got.Bounds[0] != 49 {
		t.Errorf("%+v", got)
	}
}

func TestDeadInitialMarkingHasAnEmptyPath(t *testing.T) {
	n := &petri.Net{Places: []petri.Place{{ID: "p", Initial: 3}}, Transitions: []petri.Transition{{ID: "t"}}, Arcs: []petri.Arc{{Source: "p", Target: "t", Weight: 4}}}
	want := Result{Markings: 1, Complete: true, Deadlocks: 1, Bounds: []uint32{3}, Path: []int{}, Dead: []uint32{3}}
	if d := cmp.Diff(want, Visit(petritest.Compile(t, n), 50)); d != "" {
		t.Error(d)
	}
}
