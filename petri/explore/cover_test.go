// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// smallNet returns a net of a few places and transitions with normal arcs, and with inhibitor,
// read and reset arcs if it need not be monotone.
func smallNet(r *rand.Rand, alsoOthers bool) *petri.Net {
	n := &petri.Net{ID: "small"}
	for i := range 1 + r.IntN(4) {
		n.Places = append(n.Places, petri.Place{ID: fmt.Sprint("p", i), Initial: r.Uint32N(3) / 2})
	}
	for i := range 1 + r.IntN(4) {
		tr := fmt.Sprint("t", i)
		n.Transitions = append(n.Transitions, petri.Transition{ID: tr})
		for _, p := range n.Places {
			switch k := r.IntN(10); {
			case k < 3:
				n.Arcs = append(n.Arcs, petri.Arc{Source: p.ID, Target: tr, Weight: 1 + r.Uint32N(3)/2})
			case k == 3:
				kind := petri.Read
				if alsoOthers {
					kind = []petri.ArcKind{petri.Read, petri.Inhibitor, petri.Inhibitor, petri.Reset}[r.IntN(4)]
				}
				n.Arcs = append(n.Arcs, petri.Arc{Source: p.ID, Target: tr, Kind: kind, Weight: 1})
			}
			if r.IntN(10) < 3 {
				n.Arcs = append(n.Arcs, petri.Arc{Source: tr, Target: p.ID, Weight: 1 + r.Uint32N(3)/2})
			}
		}
	}
	return n
}

// coverable reports whether a marking with at least these tokens can be reached. It goes
// backwards from it: of a net whose transitions only take, read and put tokens, the markings
// from which it can be covered have finitely many least ones (P. A. Abdulla et al., General
// decidability theorems for infinite-state systems, LICS 1996).
func coverable(t *petri.Tables, target []uint32) bool {
	basis := [][]uint32{target}
	for i := 0; i < len(basis); i++ {
		for tr := range t.Transitions() {
			m := slices.Clone(basis[i])
			for _, e := range t.Effects(tr) {
				if m[e.Place] < e.Put {
					m[e.Place] = e.Put
				}
				m[e.Place] = m[e.Place] - e.Put + e.Take
			}
			for _, c := range t.Conds(tr) {
				m[c.Place] = max(m[c.Place], c.Lo)
			}
			if !slices.ContainsFunc(basis, func(less []uint32) bool { return covers(m, less) }) {
				basis = append(basis, m)
			}
		}
	}
	return slices.ContainsFunc(basis, func(less []uint32) bool { return covers(t.Initial, less) })
}

func TestTheCoverabilityTreeAgreesWithBackwardCoverability(t *testing.T) {
	unbounded, dead, shorter := 0, 0, 0
	nets := 0
	for seed := range seeds.Of(150, 3000) {
		nets++
		n := smallNet(rand.New(rand.NewPCG(33, seed)), false)
		tables := petritest.Compile(t, n)
		got := Cover(tables, Options{Markings: 20_000})
		if !got.Exact {
			continue
		}
		for p, grows := range got.Unbounded {
			target := make([]uint32, tables.Places())
			target[p] = 20
			if can := coverable(tables, target); can != grows {
				t.Fatalf("seed %d: place %d grows: %v; 20 tokens can be reached: %v", seed, p, grows, can)
			}
		}
		for tr, fires := range got.Fires {
			target := make([]uint32, tables.Places())
			for _, c := range tables.Conds(tr) {
				target[c.Place] = c.Lo
			}
			if can := coverable(tables, target); can != fires {
				t.Fatalf("seed %d: transition %d fires: %v; it can be enabled: %v", seed, tr, fires, can)
			}
			if !fires {
				dead++
			}
		}
		if (got.Pump != nil) != slices.Contains(got.Unbounded, true) {
			t.Fatalf("seed %d: pump %+v, unbounded %v", seed, got.Pump, got.Unbounded)
		}
		if got.Pump == nil {
			continue
		}
		unbounded++
		turns(t, n, got.Pump, fmt.Sprint("seed ", seed))
		if got.Pump.Shortest {
			shorter++
			if most := len(got.Pump.Way) + len(got.Pump.Round); pumps(tables, most-1) {
				t.Fatalf("seed %d: there is a pump of fewer than %d firings: %+v", seed, most, got.Pump)
			}
		}
	}
	if nets > 1 && (unbounded < nets/10 || dead == 0 || shorter < unbounded/2) {
		t.Errorf("%d nets: %d unbounded, %d of them with a shortest pump, %d dead transitions", nets, unbounded, shorter, dead)
	}
}

// pumps reports whether at most a number of firings lead to a marking and from it to one with more
// tokens. It tries all sequences.
func pumps(t *petri.Tables, most int) bool {
	var try func(way [][]uint32) bool
	try = func(way [][]uint32) bool {
		last := way[len(way)-1]
		for _, before := range way[:len(way)-1] {
			if covers(last, before) && !slices.Equal(last, before) {
				return true
			}
		}
		if len(way) > most {
			return false
		}
		for tr := range t.Transitions() {
			next := make([]uint32, t.Places())
			if t.EnabledIn(last, tr) && fire(t, tr, last, next) && try(append(way, next)) {
				return true
			}
		}
		return false
	}
	return most <= 7 && try([][]uint32{t.Initial})
}

// turns fires a pump with the reference interpreter: its way, and its round several times.
func turns(t *testing.T, n *petri.Net, p *Pump, what string) {
	t.Helper()
	ref := petritest.NewReference(n)
	fires := func(path []int) {
		for _, tr := range path {
			if !ref.Fire(n.Transitions[tr].ID) {
				t.Fatalf("%s: transition %d of the pump %+v cannot fire", what, tr, p)
			}
		}
	}
	fires(p.Way)
	for range 5 {
		before := map[string]uint64{}
		for id, m := range ref.Marking {
			before[id] = m
		}
		fires(p.Round)
		for i := range n.Places {
			if id := n.Places[i].ID; ref.Marking[id] != before[id]+uint64(p.Grows[i]) {
				t.Fatalf("%s: a round of %+v makes %d tokens of %d in place %d", what, p, ref.Marking[id], before[id], i)
			}
		}
	}
}

// Where more tokens can disable a transition, what the tree shows is still so, though not all
// of it.
func TestPumpsOfNetsWithInhibitorAndResetArcsCanBeRepeated(t *testing.T) {
	found, bounded := 0, 0
	nets := 0
	for seed := range seeds.Of(300, 5000) {
		nets++
		n := smallNet(rand.New(rand.NewPCG(34, seed)), true)
		tables := petritest.Compile(t, n)
		got := Cover(tables, Options{Markings: 2000})
		if got.Pump != nil {
			found++
			turns(t, n, got.Pump, fmt.Sprint("seed ", seed))
		}
		if whole := Visit(tables, 2000); whole.Complete {
			bounded++
			if got.Pump != nil || slices.Contains(got.Unbounded, true) {
				t.Fatalf("seed %d: %+v of a net with %d markings", seed, got, whole.Markings)
			}
		}
	}
	if nets > 1 && (found < nets/10 || bounded < nets/10) {
		t.Errorf("%d pumps and %d bounded nets of %d", found, bounded, nets)
	}
}

// A token in go lets make fill full; without it, nothing grows. An inhibitor arc, a reset
// arc or a bound hinders the growth.
func TestWhatGrowsWithoutBound(t *testing.T) {
	filling := func(change func(n *petri.Net)) *petri.Tables {
		n := &petri.Net{Places: []petri.Place{{ID: "idle", Initial: 1}, {ID: "go"}, {ID: "full"}}, Transitions: []petri.Transition{{ID: "begin"}, {ID: "make"}},
			Arcs: []petri.Arc{{Source: "idle", Target: "begin", Weight: 1}, {Source: "begin", Target: "go", Weight: 1}, {Source: "go", Target: "make", Kind: petri.Read, Weight: 1}, {Source: "make", Target: "full", Weight: 2}}}
		change(n)
		return petritest.Compile(t, n)
	}
	for name, c := range map[string]struct {
		net  *petri.Tables
		want Covering
	}{
		"nothing hinders it": {filling(func(*petri.Net) {}), Covering{Nodes: 3, Unbounded: []bool{false, false, true}, Fires: []bool{true, true}, Exact: true,
			Pump: &Pump{Way: []int{0}, Round: []int{1}, Grows: []uint32{0, 0, 2}, Shortest: true}}},
		"it never begins": {filling(func(n *petri.Net) { n.Places[0].Initial = 0 }), Covering{Nodes: 1, Unbounded: make([]bool, 3), Fires: make([]bool, 2), Exact: true}},
		"an inhibitor arc": {filling(func(n *petri.Net) {
			n.Arcs = append(n.Arcs, petri.Arc{Source: "full", Target: "make", Kind: petri.Inhibitor, Weight: 5})
		}), Covering{Nodes: 5, Unbounded: make([]bool, 3), Fires: []bool{true, true}}},
		"an inhibitor arc of another place": {filling(func(n *petri.Net) {
			n.Arcs = append(n.Arcs, petri.Arc{Source: "idle", Target: "make", Kind: petri.Inhibitor, Weight: 1})
		}), Covering{Nodes: 3, Unbounded: []bool{false, false, true}, Fires: []bool{true, true}, Pump: &Pump{Way: []int{0}, Round: []int{1}, Grows: []uint32{0, 0, 2}}}},
		"a reset arc": {filling(func(n *petri.Net) {
			n.Arcs = append(n.Arcs, petri.Arc{Source: "full", Target: "make", Kind: petri.Reset})
		}), Covering{Nodes: 3, Unbounded: make([]bool, 3), Fires: []bool{true, true}}},
		"an urgent transition that it enables": {filling(func(n *petri.Net) {
			n.Transitions = append(n.Transitions, petri.Transition{ID: "now", Priority: petri.Urgent})
			n.Arcs = append(n.Arcs, petri.Arc{Source: "full", Target: "now", Weight: 1}, petri.Arc{Source: "go", Target: "now", Weight: 1})
		}), Covering{Nodes: 4, Unbounded: make([]bool, 3), Fires: []bool{true, true, true}}},
		"as many tokens as omega": {filling(func(n *petri.Net) { n.Places[0].Initial = omega }), Covering{Unbounded: make([]bool, 3), Fires: make([]bool, 2)}},
	} {
		if d := cmp.Diff(c.want, Cover(c.net, Options{Markings: 100})); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// A tree that ends at a bound decides nothing of what it has not found.
func TestACoverabilityTreeEndsAtItsBounds(t *testing.T) {
	net := petritest.Compile(t, rings(4, 5))
	for name, o := range map[string]Options{"nodes": {Markings: 100}, "memory": {Markings: 1e6, Memory: 20_000},
		"interrupted": {Markings: 1e6, Continue: func(visited, _ int) bool { return visited < 100 }}} {
		if got := Cover(net, o); got.Exact || got.Nodes == 0 || got.Nodes > 500 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := Cover(net, Options{Markings: 1e4}); !got.Exact || got.Nodes != 625 {
		t.Errorf("%+v; want 625 nodes", got)
	}
}

// The source transitions of a process begin instances: they fire once, and first. The tokens of
// another beginning are then not there.
func TestASourceTransitionOfAProcessBeginsAnInstance(t *testing.T) {
	n := &petri.Net{ID: "n", Places: []petri.Place{{ID: "start", Initial: 1}, {ID: "armed", Initial: 1, Role: petri.RoleState}, {ID: "end"}}, Transitions: []petri.Transition{{ID: "message"}, {ID: "none"}, {ID: "stop"}},
		Arcs: []petri.Arc{{Source: "message", Target: "end", Weight: 1}, {Source: "start", Target: "none", Weight: 1}, {Source: "none", Target: "end", Weight: 2}, {Source: "end", Target: "stop", Kind: petri.Read, Weight: 1}, {Source: "armed", Target: "stop", Weight: 1}}}
	tables := petritest.Compile(t, n)
	if got := Visit(tables, 50); got.Complete {
		t.Errorf("%+v of a net that is no process", got)
	}
	n.Model = &petri.Model{Kind: petri.ModelBPMN}
	want := Result{Markings: 5, Complete: true, Ends: 2, Bounds: []uint32{1, 1, 2}}
	if d := cmp.Diff(want, Visit(tables, 50)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want, Explore(tables, Options{Markings: 50, Reduce: true})); d != "" {
		t.Error(d)
	}
	n.Arcs = n.Arcs[:4] // stop takes nothing
	tables = petritest.Compile(t, n)
	if got := Cover(tables, Options{Markings: 50}); got.Pump != nil || !got.Exact || got.Nodes != 3 {
		t.Errorf("%+v; want no pump", got)
	}
}
