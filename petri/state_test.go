// SPDX-License-Identifier: Apache-2.0

package petri_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// agree compares a state with the reference: marking, enabledness, choice.
func agree(t *testing.T, tables *petri.Tables, s *petri.State, order petri.Order, ref *petritest.Reference, turn int) {
	t.Helper()
	n := tables.Net
	for i, p := range n.Places {
		if uint64(s.Tokens(i)) != ref.Marking[p.ID] {
			t.Fatalf("place %q holds %d, want %d", p.ID, s.Tokens(i), ref.Marking[p.ID])
		}
	}
	for i, tr := range n.Transitions {
		if got, want := s.Enabled(i), ref.Enabled(tr.ID); got != want {
			t.Fatalf("transition %q enabled %v, want %v", tr.ID, got, want)
		}
		var awaits []string
		if j := tables.Join(i); j != nil {
			for _, p := range j.Awaits(marked(s)) {
				awaits = append(awaits, n.Places[p].ID)
			}
		}
		if d := cmp.Diff(ref.Awaits(tr.ID), awaits); d != "" {
			t.Fatalf("transition %q waits for\n%s", tr.ID, d)
		}
		if got, want := len(s.Unmet(i)) == 0 && awaits == nil, s.Enabled(i); got != want {
			t.Fatalf("transition %q: unmet conditions %v, enabled %v", tr.ID, s.Unmet(i), want)
		}
	}
	got, want := s.Next(turn, order), ref.Next(turn)
	if got != want {
		t.Fatalf("next from %d is %d, want %d", turn, got, want)
	}
	if s.Dead() != (want < 0) {
		t.Fatalf("dead %v", s.Dead())
	}
}

func TestStatePlaysTheGameOfTheReference(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 1500 {
		n := petritest.RandomNet(r)
		tables := petritest.Compile(t, n)
		s, order, ref := tables.NewState(), make(petri.Order, tables.OrderLen()), petritest.NewReference(n)
		for range 60 {
			agree(t, tables, s, order, ref, r.IntN(len(n.Transitions)))
			if r.IntN(10) == 0 {
				p, k := r.IntN(len(n.Places)), r.Uint32N(4)
				if err := s.Add(p, k); err != nil {
					t.Fatal(err)
				}
				ref.Marking[n.Places[p].ID] += uint64(k)
				continue
			}
			tr := r.IntN(len(n.Transitions))
			err := s.Fire(tr)
			if fired := ref.Fire(n.Transitions[tr].ID); fired != (err == nil) {
				t.Fatalf("fire %q: %v, want fired %v", n.Transitions[tr].ID, err, fired)
			}
		}
	}
}

func net(places map[string]uint32, transitions []string, arcs ...petri.Arc) *petri.Net {
	n := &petri.Net{ID: "n"}
	for _, id := range []string{"p", "q", "r"} {
		if m, ok := places[id]; ok {
			n.Places = append(n.Places, petri.Place{ID: id, Initial: m})
		}
	}
	for _, id := range transitions {
		n.Transitions = append(n.Transitions, petri.Transition{ID: id})
	}
	for i, a := range arcs {
		a.ID = fmt.Sprint("a", i)
		if a.Weight == 0 && a.Kind != petri.Reset {
			a.Weight = 1
		}
		n.Arcs = append(n.Arcs, a)
	}
	return n
}

type marks = map[string]uint32

func TestRulesOfTheTokenGame(t *testing.T) {
	for _, c := range []struct {
		rule    string
		net     *petri.Net
		enabled bool  // transition t, before
		after   marks // of firing t
	}{
		{"weight 2 on a marking of 1 is not enabled",
			net(marks{"p": 1}, []string{"t"}, petri.Arc{Source: "p", Target: "t", Weight: 2}), false, nil},
		{"weight 2 takes 2",
			net(marks{"p": 3}, []string{"t"}, petri.Arc{Source: "p", Target: "t", Weight: 2}), true, marks{"p": 1}},
		{"weights over 255 count in full",
			net(marks{"p": 300, "q": 0}, []string{"t"}, petri.Arc{Source: "p", Target: "t", Weight: 257}, petri.Arc{Source: "t", Target: "q", Weight: 70000}), true, marks{"p": 43, "q": 70000}},
		{"parallel arcs add up though others stand between them",
			net(marks{"p": 1, "q": 1}, []string{"t"}, petri.Arc{Source: "p", Target: "t"}, petri.Arc{Source: "q", Target: "t"}, petri.Arc{Source: "p", Target: "t"}), false, nil},
		{"parallel output arcs add up",
			net(marks{"p": 1, "q": 0}, []string{"t"}, petri.Arc{Source: "t", Target: "q"}, petri.Arc{Source: "p", Target: "t"}, petri.Arc{Source: "t", Target: "q", Weight: 2}), true, marks{"p": 0, "q": 3}},
		{"inhibitor of 1 is the zero test",
			net(marks{"p": 1, "q": 1}, []string{"t"}, petri.Arc{Source: "p", Target: "t"}, petri.Arc{Source: "q", Target: "t", Kind: petri.Inhibitor}), false, nil},
		{"inhibitor of 3 lets 2 pass, and moves none",
			net(marks{"p": 1, "q": 2}, []string{"t"}, petri.Arc{Source: "p", Target: "t"}, petri.Arc{Source: "q", Target: "t", Kind: petri.Inhibitor, Weight: 3}), true, marks{"p": 0, "q": 2}},
		{"of parallel inhibitors every one must hold",
			net(marks{"p": 1, "q": 1}, []string{"t"}, petri.Arc{Source: "q", Target: "t", Kind: petri.Inhibitor, Weight: 5}, petri.Arc{Source: "q", Target: "t", Kind: petri.Inhibitor}), false, nil},
		{"a transition with only an inhibitor is enabled at zero",
			net(marks{"p": 0}, []string{"t"}, petri.Arc{Source: "p", Target: "t", Kind: petri.Inhibitor}, petri.Arc{Source: "t", Target: "p"}), true, marks{"p": 1}},
		{"read tests without taking",
			net(marks{"p": 2, "q": 0}, []string{"t"}, petri.Arc{Source: "p", Target: "t", Kind: petri.Read, Weight: 2}, petri.Arc{Source: "t", Target: "q"}), true, marks{"p": 2, "q": 1}},
		{"read of 3 on 2 is not enabled",
			net(marks{"p": 2}, []string{"t"}, petri.Arc{Source: "p", Target: "t", Kind: petri.Read, Weight: 3}), false, nil},
		{"reset empties, tests nothing, and comes before the output",
			net(marks{"p": 5, "q": 0}, []string{"t"}, petri.Arc{Source: "p", Target: "t", Kind: petri.Reset}, petri.Arc{Source: "t", Target: "p", Weight: 2}), true, marks{"p": 2, "q": 0}},
		{"takes from all inputs before it puts",
			net(marks{"p": 1}, []string{"t"}, petri.Arc{Source: "p", Target: "t"}, petri.Arc{Source: "t", Target: "p"}), true, marks{"p": 1}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			s := petritest.Compile(t, c.net).NewState()
			if s.Enabled(0) != c.enabled {
				t.Fatalf("enabled %v, want %v", s.Enabled(0), c.enabled)
			}
			err := s.Fire(0)
			if !c.enabled {
				if !errors.Is(err, petri.ErrNotEnabled) {
					t.Errorf("firing: %v, want %v", err, petri.ErrNotEnabled)
				}
				return
			}
			got := marks{}
			for i, p := range c.net.Places {
				got[p.ID] = s.Tokens(i)
			}
			if d := cmp.Diff(c.after, got); d != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, d)
			}
		})
	}
}

func TestOverflowIsRefusedAndChangesNothing(t *testing.T) {
	n := net(marks{"p": 1, "q": math.MaxUint32 - 1, "r": 0}, []string{"t"}, petri.Arc{Source: "p", Target: "t"},
		petri.Arc{Source: "t", Target: "r"}, petri.Arc{Source: "t", Target: "q", Weight: 2})
	s := petritest.Compile(t, n).NewState()
	if err := s.Fire(0); !errors.Is(err, petri.ErrOverflow) {
		t.Errorf("firing: %v", err)
	}
	if err := s.Add(1, 2); !errors.Is(err, petri.ErrOverflow) {
		t.Errorf("adding: %v", err)
	}
	if d := cmp.Diff([]uint32{1, math.MaxUint32 - 1, 0}, s.Marking()); d != "" {
		t.Error(d)
	}
	if err := s.Add(1, 1); err != nil || s.Tokens(1) != math.MaxUint32 {
		t.Errorf("adding one: %v, %d tokens", err, s.Tokens(1))
	}
}

func TestParallelArcsBeyond32BitsAreRefused(t *testing.T) {
	n := net(marks{"p": 0}, []string{"t"}, petri.Arc{Source: "p", Target: "t", Weight: math.MaxUint32}, petri.Arc{Source: "p", Target: "t", Weight: 1})
	var fault *petri.Fault
	if _, err := petri.Compile(n); !errors.As(err, &fault) {
		t.Errorf("compiled: %v", err)
	}
}

// run plays a net by itself and counts the firings of each transition.
func run(t *testing.T, n *petri.Net, firings int) map[string]int {
	t.Helper()
	tables := petritest.Compile(t, n)
	s, order, turn, fired := tables.NewState(), make(petri.Order, tables.OrderLen()), 0, map[string]int{}
	for range firings {
		tr := s.Next(turn, order)
		if tr < 0 {
			t.Fatal("nothing is enabled")
		}
		if err := s.Fire(tr); err != nil {
			t.Fatal(err)
		}
		fired[n.Transitions[tr].ID]++
		turn = (tr + 1) % tables.Transitions()
	}
	return fired
}

// No enabled transition waits forever for others of its priority.
func TestRotationIsFair(t *testing.T) {
	n := net(marks{"p": 1}, nil)
	want := map[string]int{}
	for i := range 130 {
		id := fmt.Sprint(i)
		n.Transitions = append(n.Transitions, petri.Transition{ID: id})
		n.Arcs = append(n.Arcs, petri.Arc{Source: "p", Target: id, Weight: 1}, petri.Arc{Source: id, Target: "p", Weight: 1})
		want[id] = 3
	}
	if d := cmp.Diff(want, run(t, n, 3*130)); d != "" {
		t.Error(d)
	}
}

// first is Next without rivals, by checking every transition: of the enabled ones of the
// highest priority, the first at or after turn, cyclically.
func first(tables *petri.Tables, s *petri.State, turn int) int {
	best := -1
	for i := range tables.Transitions() {
		tr := (turn + i) % tables.Transitions()
		if s.Enabled(tr) && !tables.Held(tr) && (best < 0 || tables.Priority(tr) > tables.Priority(best)) {
			best = tr
		}
	}
	return best
}

// The set of enabled transitions has 64 in a word: one, several, the last full
// or not.
func TestNextOfManyTransitionsIsTheFirstOfTheHighestPriority(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, transitions := range []int{1, 63, 64, 65, 128, 129, 200, 256, 300} {
		n := &petri.Net{ID: "wide"}
		for i := range transitions {
			id := fmt.Sprint(i)
			n.Places = append(n.Places, petri.Place{ID: "p" + id})
			n.Transitions = append(n.Transitions, petri.Transition{ID: id, Priority: r.IntN(3)})
			if r.IntN(9) > 0 { // else it is a source transition, which does not fire by itself
				n.Arcs = append(n.Arcs, petri.Arc{Source: "p" + id, Target: id, Weight: 1})
			}
		}
		tables := petritest.Compile(t, n)
		for range 60 {
			s := tables.NewState()
			for range r.IntN(6) { // few, so that whole words have none
				s.Set(r.IntN(transitions), 1)
			}
			for turn := range transitions {
				if got, want := s.Next(turn, nil), first(tables, s, turn); got != want {
					t.Fatalf("%d transitions, turn %d: %d, want %d", transitions, turn, got, want)
				}
			}
		}
	}
}

// On a cycle the turn reaches the same one of two rivals each time, but they alternate.
func TestRivalsOnACycleAlternate(t *testing.T) {
	n := net(marks{"p": 1, "q": 0}, []string{"go", "back", "back too"},
		petri.Arc{Source: "p", Target: "go"}, petri.Arc{Source: "go", Target: "q"},
		petri.Arc{Source: "q", Target: "back"}, petri.Arc{Source: "back", Target: "p"},
		petri.Arc{Source: "q", Target: "back too"}, petri.Arc{Source: "back too", Target: "p"})
	want := map[string]int{"go": 100_000, "back": 50_000, "back too": 50_000} // past the end of 16-bit stamps
	if d := cmp.Diff(want, run(t, n, 200_000)); d != "" {
		t.Error(d)
	}
}

func TestAnyIsUniform(t *testing.T) {
	n := net(marks{"p": 1}, []string{"a", "b", "c", "low"})
	for _, id := range []string{"a", "b", "c", "low"} {
		n.Arcs = append(n.Arcs, petri.Arc{ID: id, Source: "p", Target: id, Weight: 1})
	}
	n.Transitions[3].Priority = -1
	s, r, seen := petritest.Compile(t, n).NewState(), rand.New(rand.NewPCG(5, 5)), map[int]int{}
	for range 30_000 {
		seen[s.Any(r.Uint64())]++
	}
	for tr := range 3 {
		if seen[tr] < 9_500 || seen[tr] > 10_500 {
			t.Errorf("transition %d came %d times of 30000", tr, seen[tr])
		}
	}
	if len(seen) != 3 {
		t.Errorf("seen %v; want only the highest priority", seen)
	}
}

func TestSourceTransitionIsEnabledAndDoesNotFireByItself(t *testing.T) {
	n := net(marks{"p": 0}, []string{"t"}, petri.Arc{Source: "t", Target: "p"})
	s := petritest.Compile(t, n).NewState()
	if !s.Enabled(0) || s.Next(0, nil) != -1 || !s.Dead() {
		t.Errorf("enabled %v, next %d, dead %v", s.Enabled(0), s.Next(0, nil), s.Dead())
	}
	if err := s.Fire(0); err != nil || s.Tokens(0) != 1 {
		t.Errorf("fired from outside: %v, %d tokens", err, s.Tokens(0))
	}
}

func TestEmptyNetIsDead(t *testing.T) {
	s := petritest.Compile(t, &petri.Net{ID: "empty"}).NewState()
	if s.Next(0, nil) != -1 || s.Any(3) != -1 || !s.Dead() || len(s.Marking()) != 0 {
		t.Error("an empty net moves")
	}
}
