// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// The store numbers markings as a map does, for counts of any size.
func TestStoreNumbersEveryMarking(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		places := r.IntN(70)
		s := newStore(oneBit(places), nil, &budget{left: math.MaxInt64})
		index, all := map[string]uint32{}, [][]uint32{}
		m := make([]uint32, places)
		for range 1500 {
			if len(all) > 0 && r.IntN(10) > 0 { // as a visit does: a marking that differs little from a known one
				n := r.IntN(len(all))
				copy(m, s.get(uint32(n)))
				if !slices.Equal(m, all[n]) {
					t.Fatalf("seed %d: marking %d is %v, want %v", seed, n, m, all[n])
				}
			}
			if places > 0 {
				m[r.IntN(places)] = uint32(r.Uint64N(uint64(1) << r.IntN(2+int(seed%32))))
			}
			want, is := index[fmt.Sprint(m)]
			if !is {
				want = uint32(len(all))
				index[fmt.Sprint(m)], all = want, append(all, slices.Clone(m))
			}
			if got, ok := s.add(m); !ok || got != want || s.len() != len(all) {
				t.Fatalf("seed %d: number %d of %d, want %d of %d", seed, got, s.len(), want, len(all))
			}
		}
		for n, want := range all {
			if got := s.get(uint32(n)); !slices.Equal(got, want) {
				t.Fatalf("seed %d: marking %d is %v, want %v", seed, n, got, want)
			}
		}
	}
}

// A store that has rearranged its tables, and then gets larger counts, numbers markings as a
// map does. A table whose rows are part of one marking each is dissolved into the one above
// it; a table whose rows are part of many is not.
func TestStoreRearrangesItsTables(t *testing.T) {
	const places, markings = 16, 40_000
	scattered := func(n, p int) uint32 { return uint32(factor(n*places+p) >> 56) }
	repeated := func(n, p int) uint32 { return scattered(n>>(p/8*8)&0xff, p) } // by bits of n, others for each half
	for _, tt := range []struct {
		rule   string
		count  func(n, p int) uint32 // of a place in a marking
		tables int
	}{
		{"each half of a marking is in no other", scattered, 1},
		{"one half of a marking is in many", func(n, p int) uint32 {
			if p < 8 {
				return scattered(n, p)
			}
			return repeated(n, p)
		}, 2},
		{"each half of a marking is in many", repeated, 3},
		{"all counts become larger", func(n, p int) uint32 { return uint32(n * (p%3 + 1)) }, 1},
		{"all counts become larger late", func(n, p int) uint32 { return scattered(n, p) << (n >> 15 * p) }, 1},
	} {
		s := newStore(oneBit(places), nil, &budget{left: math.MaxInt64})
		all := make([][]uint32, markings)
		for n := range all {
			all[n] = make([]uint32, places)
			for p := range all[n] {
				all[n][p] = tt.count(n, p)
			}
			got, ok := s.add(all[n])
			again, _ := s.add(all[n/3])
			if !ok || int(got) != n || int(again) != n/3 {
				t.Fatalf("%s: marking %d has number %d, and %d has %d", tt.rule, n, got, n/3, again)
			}
			s.get(uint32(n / 2))
		}
		for n, want := range all {
			if got := s.get(uint32(n)); !slices.Equal(got, want) {
				t.Fatalf("%s: marking %d is %v, want %v", tt.rule, n, got, want)
			}
		}
		if len(s.nodes) != tt.tables {
			t.Errorf("%s: %d tables, want %d", tt.rule, len(s.nodes), tt.tables)
		}
	}
}

// A store that has no memory for a marking, or for other tables, still has the markings that were
// added before, and its account is right.
func TestStoreWithoutMemory(t *testing.T) {
	const places = 12
	for _, memory := range []int64{1, 1 << 10, 60 << 10, 100 << 10, 200 << 10, 500 << 10, 1 << 20, 2 << 20} {
		b := &budget{left: memory}
		s := newStore(oneBit(places), nil, b)
		marking := func(n int) []uint32 {
			m := make([]uint32, places)
			for p := range m {
				m[p] = uint32(n >> (p % 8) & (n>>9 | 1))
			}
			m[0] = uint32(n)
			return m
		}
		n := 0
		for ; ; n++ {
			if _, ok := s.add(marking(n)); !ok {
				break
			}
			s.get(uint32(n))
		}
		for i := range s.len() {
			if got := s.get(uint32(i)); !slices.Equal(got, marking(i)) {
				t.Fatalf("%d bytes: marking %d is %v, want %v", memory, i, got, marking(i))
			}
		}
		s.release()
		if s.len() != n || b.left != memory {
			t.Errorf("%d bytes: %d markings of %d, and %d bytes after their release", memory, s.len(), n, b.left)
		}
	}
}

// build is a net that is being made.
type build struct{ petri.Net }

func (b *build) place(id string, tokens uint32) {
	b.Places = append(b.Places, petri.Place{ID: id, Initial: tokens})
}

func (b *build) transition(id string, from, to []string) {
	b.Transitions = append(b.Transitions, petri.Transition{ID: id})
	for _, p := range from {
		b.Arcs = append(b.Arcs, petri.Arc{Source: p, Target: id, Weight: 1})
	}
	for _, p := range to {
		b.Arcs = append(b.Arcs, petri.Arc{Source: id, Target: p, Weight: 1})
	}
}

// philosophers returns n dining philosophers who take the left fork, then the right
// one: 3 to the power of n is about the number of markings; two are dead.
func philosophers(n int) *petri.Net {
	b := &build{petri.Net{ID: "philosophers"}}
	for i := range n {
		b.place(fmt.Sprint("fork", i), 1)
		for _, state := range []string{"think", "left", "right", "eat"} {
			b.place(fmt.Sprint(state, i), map[string]uint32{"think": 1}[state])
		}
	}
	for i := range n {
		left, right := fmt.Sprint("fork", i), fmt.Sprint("fork", (i+1)%n)
		think, hasLeft, hasRight, eat := fmt.Sprint("think", i), fmt.Sprint("left", i), fmt.Sprint("right", i), fmt.Sprint("eat", i)
		b.transition(fmt.Sprint("a", i), []string{think, left}, []string{hasLeft})
		b.transition(fmt.Sprint("b", i), []string{think, right}, []string{hasRight})
		b.transition(fmt.Sprint("c", i), []string{hasLeft, right}, []string{eat})
		b.transition(fmt.Sprint("d", i), []string{hasRight, left}, []string{eat})
		b.transition(fmt.Sprint("e", i), []string{eat}, []string{think, left, right})
	}
	return &b.Net
}

// kanban returns the Kanban system of four cells with n cards each (G. Ciardo, M. Tilgner,
// On the Use of Kronecker Operators for the Solution of GSPNs, 1996). It has 58,400
// markings for 3 and 454,475 for 4.
func kanban(n uint32) *petri.Net {
	b := &build{petri.Net{ID: "kanban"}}
	for c := 1; c <= 4; c++ {
		for _, state := range []string{"m", "back", "out"} {
			b.place(fmt.Sprint("p", state, c), 0)
		}
		b.place(fmt.Sprint("p", c), n)
	}
	for c := 1; c <= 4; c++ {
		m, back, out := fmt.Sprint("pm", c), fmt.Sprint("pback", c), fmt.Sprint("pout", c)
		b.transition(fmt.Sprint("redo", c), []string{m}, []string{back})
		b.transition(fmt.Sprint("ok", c), []string{m}, []string{out})
		b.transition(fmt.Sprint("back", c), []string{back}, []string{m})
	}
	b.transition("in", []string{"p1"}, []string{"pm1"})
	b.transition("split", []string{"pout1", "p2", "p3"}, []string{"p1", "pm2", "pm3"})
	b.transition("join", []string{"pout2", "pout3", "p4"}, []string{"p2", "p3", "pm4"})
	b.transition("out", []string{"pout4"}, []string{"p4"})
	return &b.Net
}

// counters returns n places that source transitions fill, two at a time: an unbounded net.
func counters(n int) *petri.Net {
	b := &build{petri.Net{ID: "counters"}}
	for i := range n {
		b.place(fmt.Sprint("p", i), 0)
	}
	for i := range n {
		b.transition(fmt.Sprint("t", i), nil, []string{fmt.Sprint("p", i), fmt.Sprint("p", (7*i+1)%n)})
	}
	return &b.Net
}

// heap returns the bytes of live objects.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // the second one frees what pools hold
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

const maxBytesPerMarking = 40

// The memory that the store takes from its budget is what the runtime measures, within 3 percent.
func TestStoreCountsItsMemory(t *testing.T) {
	for _, net := range []*petri.Net{philosophers(11), kanban(4), counters(40)} {
		tables := petritest.Compile(t, net)
		next, before, b := make([]uint32, tables.Places()), heap(), &budget{left: math.MaxInt64}
		s := newStore(oneBit(tables.Places()), nil, b)
		s.add(tables.Initial)
		for at := 0; at < s.len() && s.len() < 150_000; at++ {
			m := s.get(uint32(at))
			for tr := range tables.Transitions() {
				if tables.EnabledIn(m, tr) && fire(tables, tr, m, next) {
					s.add(next)
				}
			}
		}
		measured, counted := heap()-before, math.MaxInt64-b.left
		if off := counted * 3 / 100; measured > counted+off || measured < counted-off {
			t.Errorf("%s: %d bytes counted, %d bytes measured for %d markings", net.ID, counted, measured, s.len())
		}
		s.release()
		if b.left != math.MaxInt64 {
			t.Errorf("%s: %d bytes were not given back", net.ID, math.MaxInt64-b.left)
		}
	}
}

// Both the memory that the visit accounts for and what the runtime measures are at
// most maxBytesPerMarking for a marking, also while tables grow.
func TestMemoryOfAMarking(t *testing.T) {
	for _, tt := range []struct {
		net      *petri.Net
		markings int
	}{{philosophers(11), 177_147}, {rings(6, 7), 117_649}, {kanban(4), 454_475}} {
		tables := petritest.Compile(t, tt.net)
		before, most := heap(), int64(0)
		r := Explore(tables, Options{Markings: math.MaxInt32, Memory: int64(tt.markings) * maxBytesPerMarking, Continue: func(visited, found int) bool {
			if found > 100_000 && visited%50_000 == 0 {
				most = max(most, (heap()-before)/int64(found))
			}
			return true
		}})
		if !r.Complete || r.Markings != tt.markings || most == 0 || most > maxBytesPerMarking {
			t.Errorf("%s: %d markings, stopped by %q, %d bytes each by the runtime", tt.net.ID, r.Markings, r.Stopped, most)
		}
		t.Logf("%s: %d markings, at most %d bytes each", tt.net.ID, r.Markings, most)
	}
}

// The sizes are published; TestMemoryOfAMarking has that for four cards.
func TestSizeOfKanban(t *testing.T) {
	for cards, want := range map[uint32]int{1: 160, 2: 4600, 3: 58400} {
		if r := Visit(petritest.Compile(t, kanban(cards)), 1e6); r.Markings != want || !r.Complete || r.Deadlocks != 0 {
			t.Errorf("%d cards: %d markings, want %d", cards, r.Markings, want)
		}
	}
}

func TestVisitEndsAtItsMemory(t *testing.T) {
	tables := petritest.Compile(t, rings(5, 7))
	previous := -1
	for _, memory := range []int64{1, 1 << 10, 30 << 10, 100 << 10, 200 << 10} {
		r := Explore(tables, Options{Markings: 1e6, Memory: memory})
		if r.Complete || r.Stopped != MaxMemory || r.Markings < previous || r.Markings >= ringMarkings {
			t.Errorf("%d bytes: %d markings, complete %v, stopped by %q", memory, r.Markings, r.Complete, r.Stopped)
		}
		previous = r.Markings
	}
	if previous < 1000 {
		t.Errorf("only %d markings", previous)
	}
	if r := Explore(tables, Options{Markings: 1e6, Memory: 2 << 20}); !r.Complete {
		t.Errorf("%d markings, stopped by %q", r.Markings, r.Stopped)
	}
	wide := &petri.Net{Places: []petri.Place{{ID: "p", Initial: 1}}, Transitions: []petri.Transition{{ID: "t"}},
		Arcs: []petri.Arc{{Source: "t", Target: "p", Weight: 1}}}
	if r := Explore(petritest.Compile(t, wide), Options{Markings: 1e6, Memory: 20 << 10}); r.Stopped != MaxMemory || r.Bounds[0] != uint32(r.Markings) {
		t.Errorf("a net whose counts become wider: %+v", r)
	}
}

func TestVisitCanBeInterrupted(t *testing.T) {
	r := Explore(petritest.Compile(t, rings(5, 7)), Options{Markings: 1e6, Continue: func(visited, _ int) bool { return visited < 100 }})
	if r.Complete || r.Stopped != Interrupted || r.Markings != 100 {
		t.Errorf("%d markings, complete %v, stopped by %q", r.Markings, r.Complete, r.Stopped)
	}
}

func TestReasonOfAnIncompleteVisit(t *testing.T) {
	tables := petritest.Compile(t, rings(5, 7))
	if r := Visit(tables, ringMarkings-1); r.Stopped != MaxMarkings || r.Markings != ringMarkings-1 {
		t.Errorf("%d markings, stopped by %q", r.Markings, r.Stopped)
	}
	if r := Visit(tables, ringMarkings); r.Stopped != AllVisited || !r.Complete {
		t.Errorf("%d markings, stopped by %q", r.Markings, r.Stopped)
	}
	huge := &petri.Net{Places: []petri.Place{{ID: "p", Initial: math.MaxUint32}}, Transitions: []petri.Transition{{ID: "t"}},
		Arcs: []petri.Arc{{Source: "t", Target: "p", Weight: 1}}}
	if r := Visit(petritest.Compile(t, huge), 10); r.Stopped != Overflow || r.Complete || r.Markings != 1 {
		t.Errorf("%+v", r)
	}
}
