// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/engine/internal/shard"
	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/petri/split"
	"github.com/pnagent/pnagent/stats"
)

// A net has at most MaxNodes places and MaxNodes transitions. A net of that
// size is played up to its last node.
func TestANetHasAsManyNodesAsACellCanName(t *testing.T) {
	for _, c := range []struct {
		places, transitions int
		fits                bool
	}{{MaxNodes, 1, true}, {2, MaxNodes, true}, {MaxNodes + 1, 1, false}, {2, MaxNodes + 1, false}} {
		n := &petri.Net{ID: "large", Places: make([]petri.Place, c.places), Transitions: make([]petri.Transition, c.transitions)}
		for p := range n.Places {
			n.Places[p].ID = fmt.Sprint("p", p)
		}
		for tr := range n.Transitions {
			n.Transitions[tr].ID = fmt.Sprint("t", tr)
		}
		n.Places[0].Initial = 1
		last := fmt.Sprint("t", c.transitions-1)
		n.Arcs = []petri.Arc{{ID: "in", Source: "p0", Target: last, Weight: 1}, {ID: "out", Source: last, Target: fmt.Sprint("p", c.places-1), Weight: 1}}
		s, err := New(Config{Tables: petritest.Compile(t, n), Stride: 1, Count: 1}, now0)
		if (err == nil) != c.fits {
			t.Errorf("%d places and %d transitions: %v", c.places, c.transitions, err)
		}
		if err != nil {
			continue
		}
		if fired := s.Step(10, now0); fired != 1 || s.Rec.Firings() != 1 || s.Marking(0)[c.places-1] != 1 {
			t.Errorf("%d places and %d transitions: %d firings, %d counted", c.places, c.transitions, fired, s.Rec.Firings())
		}
	}
}

func TestInstancesAreFoundByTheirNumbers(t *testing.T) {
	for _, cfg := range []Config{{Stride: 1, Count: 4}, {First: 3, Stride: 2, Count: 3}, {First: 1, Stride: 5, Count: 1}, {Numbers: []int32{0, 4, 5, 11}}} {
		cfg.Tables = petritest.Compile(t, chain(petri.Normal, 1, 1))
		s := newShard(t, cfg)
		at := map[int]int{}
		for i := range s.Count {
			at[s.Number(i)] = i
		}
		for number := -3; number < 15; number++ {
			i, err := s.Index(number)
			if want, held := at[number]; held != (err == nil) || held && i != want || err != nil && !errors.Is(err, ErrNoInstance) {
				t.Errorf("%+v: instance %d is at %d, %v; want %d, %v", cfg, number, i, err, want, held)
			}
		}
	}
}

func TestAnInhibitedTransitionReturnsWhatInhibitsIt(t *testing.T) {
	n := chain(petri.Normal, 1, 1)
	n.Places = append(n.Places, petri.Place{ID: "full", Initial: 5})
	n.Arcs = append(n.Arcs, petri.Arc{ID: "c", Source: "full", Target: "t", Kind: petri.Inhibitor, Weight: 3})
	s := newShard(t, Config{Tables: petritest.Compile(t, n), Stride: 1, Count: 1})
	err := s.Fire(0, 0, now0)
	if want := `transition "t": not enabled: place "full" holds 5 tokens, expected fewer than 3`; !errors.Is(err, petri.ErrNotEnabled) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Injecting 0 tokens wakes no instance and is not recorded.
func TestToInjectNothingChangesNothing(t *testing.T) {
	s := newShard(t, Config{Tables: petritest.Compile(t, queueNet(1)), Stride: 1, Count: 1, Log: true})
	s.Step(10, now0)
	want := rowsOf(s, now0)
	s.Ready()
	if err := s.Inject(0, 0, 0, now0); err != nil || s.Present() != 0 || len(s.Ready().Log) != 0 {
		t.Errorf("%v, ready: %b", err, s.Present())
	}
	if d := difference(want, rowsOf(s, now0)); d != "" {
		t.Error(d)
	}
}

// An instance fires 64 times, then the next gets its turn. Under a discipline
// each turn is a visit. If all earlier visits used their quota, one more visit
// finds that nothing is left to do.
func TestAnInstanceGivesWayAfter64Firings(t *testing.T) {
	for _, d := range []*ready.Discipline{nil, fifo()} {
		s := newShard(t, Config{Tables: petritest.Compile(t, chain(petri.Normal, 1, 0)), Stride: 1, Count: 4, Log: true, Dispatch: d})
		s.Step(10, now0)
		before, _ := s.Queue()
		for i, n := range []uint32{130, 64, 63, 1} {
			if err := s.Inject(i, 0, n, now0); err != nil {
				t.Fatal(err)
			}
		}
		s.Ready()
		if fired := s.Step(1000, now0); fired != 258 {
			t.Errorf("%d firings, want 258", fired)
		}
		want := slices.Concat(slices.Repeat([]int{0}, 64), slices.Repeat([]int{1}, 64), slices.Repeat([]int{2}, 63), []int{3}, slices.Repeat([]int{0}, 66))
		if got := played(t, s); !slices.Equal(want, got) {
			t.Errorf("order %v, want %v", got, want)
		}
		if after, ok := s.Queue(); ok && after.Priorities[0].Served-before.Priorities[0].Served != 7 {
			t.Errorf("%d visits, want 3, 2, 1 and 1", after.Priorities[0].Served-before.Priorities[0].Served)
		}
	}
}

// A random choice does not depend on the order in which tokens came.
func TestChanceDoesNotHangOnTheOrderOfTokens(t *testing.T) {
	n := &petri.Net{ID: "n", Places: []petri.Place{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "end"}}}
	for k, p := range []string{"a", "b", "c"} {
		tr := "take " + p
		n.Transitions = append(n.Transitions, petri.Transition{ID: tr})
		n.Arcs = append(n.Arcs, petri.Arc{ID: fmt.Sprint("in ", k), Source: p, Target: tr, Weight: 1}, petri.Arc{ID: fmt.Sprint("out ", k), Source: tr, Target: "end", Weight: 1})
	}
	var first []byte
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}} {
		s := newShard(t, Config{Tables: petritest.Compile(t, n), Stride: 1, Count: 50, Seed: 7, Shuffle: true, Log: true})
		s.Step(1, now0)
		for i := range s.Count {
			for _, p := range order {
				if err := s.Inject(i, p, 1, now0); err != nil {
					t.Fatal(err)
				}
			}
		}
		s.Ready()
		s.Step(1000, now0)
		log := slices.Clone(s.Ready().Log)
		if first == nil {
			first = log
		}
		if len(log) == 0 || !slices.Equal(first, log) {
			t.Errorf("with tokens in the order %v, different transitions fire", order)
		}
	}
}

// The memory of a queue of injection times depends on the tokens in it, not on
// how many have passed through.
func TestAQueueHasTheMemoryOfWhatIsInIt(t *testing.T) {
	var q queue
	r := rand.New(rand.NewPCG(91, 1))
	var plain []int64
	for at := range int64(20_000) {
		n := 1 + r.Uint32N(2)
		q.push(at, n)
		for range n {
			plain = append(plain, at)
		}
		n = r.Uint32N(uint32(min(len(plain), 4)))
		if len(plain) > 20 {
			n = uint32(len(plain) - 10)
		}
		var gone []int64
		q.pop(n, func(time int64, n uint32) {
			for range n {
				gone = append(gone, time)
			}
		})
		if !slices.Equal(gone, plain[:n]) {
			t.Fatalf("%v leave, want %v", gone, plain[:n])
		}
		plain = plain[n:]
	}
	if len(q.runs) > 100 {
		t.Errorf("%d runs for %d tokens", len(q.runs), len(plain))
	}
}

// A state written by one shard can be read by shards among which the instances
// are distributed differently.
func TestAStateIsReadByShardsOfOtherInstances(t *testing.T) {
	type inside struct {
		held []stats.Held
		rest uint64
	}
	in := func(s *Shard, i int) inside {
		held := stats.HeldList{Limit: 1 << 20}
		s.Inside(i, nil, &held)
		return inside{held.Oldest(), shard.StateOf(s.cells[i].flags)}
	}
	r := rand.New(rand.NewPCG(93, 1))
	seen := map[uint64]int{}
	for range 40 {
		net := conflictFree(r)
		if r.IntN(2) == 0 {
			net = petritest.RandomNet(r)
		}
		tables := petritest.Compile(t, net)
		cfg := Config{Tables: tables, Modes: restful(r, tables), First: 3, Stride: 2, Count: 12}
		for tr := range cfg.Modes {
			cfg.Modes[tr].Delay.Shape = Fixed
		}
		writer := newShard(t, cfg)
		now := now0
		for range 12 {
			act(t, r, 3+2*r.IntN(12), []*Shard{writer}, now)
			writer.Step(1<<20, now)
			now += r.Int64N(second)
		}
		writer.Step(1<<20, now)
		state := writer.AppendState(nil)
		var readers []*Shard
		for k := range 3 {
			other := cfg
			other.First, other.Stride, other.Count = 3+2*k, 6, 4
			if r.IntN(2) == 0 {
				for number := 3 + 2*k; number < 27; number += 6 {
					other.Numbers = append(other.Numbers, int32(number))
				}
			}
			reader := newShard(t, other)
			if rest, err := reader.LoadState(append(slices.Clone(state), 7)); err != nil || len(rest) != 1 || rest[0] != 7 {
				t.Fatalf("%v, left %v", err, rest)
			}
			reader.Resume(now)
			if fired := reader.Step(100, now); fired != 0 {
				t.Fatalf("%d firings of instances at rest", fired)
			}
			readers = append(readers, reader)
		}
		for i := range writer.Count {
			reader := readers[i%3]
			at, err := reader.Index(writer.Number(i))
			if err != nil {
				t.Fatal(err)
			}
			want := in(writer, i)
			seen[want.rest]++
			if d := difference(want.held, in(reader, at).held); d != "" || want.rest != in(reader, at).rest {
				t.Fatalf("instance %d: state at rest %d, want %d (-written +read):\n%s", writer.Number(i), in(reader, at).rest, want.rest, d)
			}
		}
	}
	if seen[0] < 20 || seen[shard.StateOf(finished)] < 20 || seen[shard.StateOf(deadlocked)] < 20 {
		t.Errorf("instances by their state at rest: %v", seen)
	}
}

// Counted adds the cumulative counters as Look does, and nothing about what is
// present. A part counts no instances.
func TestCountedAddsWhatIsCumulative(t *testing.T) {
	net, region := line()
	tables := petritest.Compile(t, net)
	plan := planOf(t, tables, region)
	for _, part := range []*split.Part{nil, &plan.Regions[0]} {
		s := newShard(t, Config{Tables: tables, Stride: 1, Count: 2, Part: part})
		s.Step(10, now0)
		rows, look := stats.NewRows(tables.Places(), tables.Transitions()), rowsOf(s, now0)
		s.Counted(rows)
		want := stats.NewRows(tables.Places(), tables.Transitions())
		want.Columns = stats.Cumulative
		want.Net = stats.NetRow{Created: look.Net.Created, Finished: look.Net.Finished}
		if part != nil {
			want.Columns &^= stats.ColInstances
		}
		for p := range want.Places {
			from := &look.Places[p]
			want.Places[p] = stats.Place{Arrivals: from.Arrivals - from.Tokens, Departures: from.Departures, Dwell: from.Dwell, LastInjection: from.LastInjection}
		}
		for tr := range want.Transitions {
			want.Transitions[tr] = stats.Transition{Firings: look.Transitions[tr].Firings, LastFiring: look.Transitions[tr].LastFiring}
		}
		if d := difference(want, rows); d != "" {
			t.Errorf("a part: %v (-want +counted):\n%s", part != nil, d)
		}
	}
}

// Instances that needed a wide form free it when they hold few tokens again.
func TestInstancesGiveBackTheMemoryOfManyTokens(t *testing.T) {
	const instances = 3 * maxSpare
	s := newShard(t, Config{Tables: petritest.Compile(t, queueNet(0)), Stride: 1, Count: instances})
	for _, together := range []int{1, instances} {
		for first := 0; first < instances; first += together {
			for i := first; i < first+together; i++ {
				if err := s.Inject(i, 0, 5*inline, now0); err != nil {
					t.Fatal(err)
				}
			}
			s.Step(1<<20, now0)
		}
		if used := len(s.wide) - len(s.holes); used != 0 || len(s.wide) != together || len(s.spare) != min(together, maxSpare) {
			t.Errorf("%d instances with many tokens at a time: %d of %d wide forms are in use, %d are spare", together, used, len(s.wide), len(s.spare))
		}
	}
}

// LoadState of a state with fewer tokens frees the wide forms, too.
func TestAStateOfFewerTokensGivesBackTheMemoryOfMany(t *testing.T) {
	cfg := Config{Tables: petritest.Compile(t, queueNet(5*inline)), Stride: 1, Count: 10}
	s, ended := newShard(t, cfg), newShard(t, cfg)
	ended.Step(1<<20, now0)
	if used := len(s.wide) - len(s.holes); used != 10 {
		t.Fatalf("%d wide forms are in use, want 10", used)
	}
	if _, err := s.LoadState(ended.AppendState(nil)); err != nil {
		t.Fatal(err)
	}
	if used := len(s.wide) - len(s.holes); used != 0 {
		t.Errorf("%d wide forms are in use by instances without tokens", used)
	}
	for i := range s.Count {
		if m := s.Marking(i); m[0] != 0 || m[1] != 0 {
			t.Errorf("instance %d holds %v", i, m)
		}
	}
}
