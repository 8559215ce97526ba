// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// urgently makes some transitions of a net urgent.
func urgently(r *rand.Rand, n *petri.Net) {
	for t := range n.Transitions {
		if r.IntN(3) == 0 {
			n.Transitions[t].Priority = petri.Urgent
		}
	}
}

// After Urge, however far Step came, no urgent transition may fire by itself in any instance,
// with what the reference says. A coloured shard plays plain nets, too.
func TestUrgeLeavesNoUrgentTransitionEnabled(t *testing.T) {
	urged := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 7))
		n := petritest.RandomNet(r)
		urgently(r, n)
		tables, shuffle := petritest.Compile(t, n), seed%2 == 0
		p, err := plain.New(plain.Config{Tables: tables, Count: 3, Stride: 1, Seed: seed, Shuffle: shuffle}, now0)
		if err != nil {
			t.Fatal(err)
		}
		c, err := New(Config{Tables: tables, Count: 3, Stride: 1, Seed: seed, Shuffle: shuffle}, now0)
		if err != nil {
			t.Fatal(err)
		}
		inject := func(i, place int) { _, _ = p.Inject(i, place, 1, now0), c.Inject(i, place, nil, 1, now0) }
		fire := func(i, tr int) { _, _ = p.Fire(i, tr, now0), c.Fire(i, tr, nil, now0) }
		for range 30 {
			most := 0
			switch i := r.IntN(3); r.IntN(3) {
			case 0:
				inject(i, r.IntN(tables.Places()))
			case 1:
				fire(i, r.IntN(tables.Transitions()))
			default:
				most = max(p.Step(1+i, now0), c.Step(1+i, now0))
			}
			a, b := p.Urge(now0), c.Urge(now0)
			urged += a + b
			if max(most, a, b) >= 1024 {
				break // there is an endless loop
			}
			for i := range 3 {
				for _, m := range [][]uint32{p.Marking(i), c.Marking(i)} {
					if id := urgentIn(n, m); id != "" {
						t.Fatalf("seed %d, instance %d: %s is enabled in %v", seed, i, id, m)
					}
				}
			}
		}
	}
	if urged < 500 {
		t.Errorf("%d urgent firings; expected more", urged)
	}
}

// urgentIn returns an urgent transition that is enabled in a marking.
func urgentIn(n *petri.Net, m []uint32) string {
	ref := petritest.NewReference(n)
	for place := range m {
		ref.Marking[n.Places[place].ID] = uint64(m[place])
	}
	for _, tr := range n.Transitions {
		if tr.Priority == petri.Urgent && !ref.Source(tr.ID) && ref.Enabled(tr.ID) {
			return tr.ID
		}
	}
	return ""
}

// The same with guards, actions, delays and branches. What urgent transitions did is in the
// log: a replay comes to the same state.
func TestUrgentTransitionsOfAnyKind(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 8))
		n, bindings := randomNet(r)
		urgently(r, n)
		cfg := Config{Tables: petritest.Compile(t, n), Bindings: bindings, Count: 3, Stride: 1, Seed: seed, Log: true}
		s, err := New(cfg, now0)
		if err != nil {
			t.Fatal(err)
		}
		again, err := New(cfg, now0)
		if err != nil {
			t.Fatal(err)
		}
		now := now0
		for k, endless := 0, false; k < 40 && !endless; k++ {
			now += r.Int64N(100)
			played := anything(r, s, now)
			endless = max(played, s.Urge(now)) >= 1024
			for i := range s.instances {
				if s.Urgent == nil || endless {
					break
				}
				if c, _, ok := s.at(i, now).choose(s.Urgent); ok {
					t.Fatalf("seed %d: %q may fire in instance %d", seed, n.Transitions[c.t].ID, i)
				}
			}
			if err := again.Replay(s.Ready().Log, now); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		for i := range s.instances {
			if a, b := s.Tokens(i, 1000), again.Tokens(i, 1000); difference(a, b) != "" {
				t.Fatalf("seed %d, instance %d: %v, and after a replay %v", seed, i, a, b)
			}
		}
	}
}

// anything does something to a shard, and returns what it played.
func anything(r *rand.Rand, s *Shard, now int64) int {
	i := r.IntN(len(s.instances))
	switch k := r.IntN(4); {
	case k == 0:
		_ = s.Inject(i, r.IntN(s.Tables.Places()), nil, 1, now)
	case k == 1:
		_ = s.Fire(i, r.IntN(s.Tables.Transitions()), nil, now)
	case k == 2 && len(s.runs.active) > 0:
		_ = s.Done(slices.Min(slices.Collect(maps.Keys(s.runs.active))), Outcome{}, now)
	default:
		return s.Step(1+r.IntN(5), now)
	}
	return 0
}
