// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/petri/split"
	"github.com/pnagent/pnagent/stats"
)

// owner is a shard and what its followers have received.
type owner struct {
	*Shard
	t       *testing.T
	cfg     Config
	made    int64
	state   []byte // of the last snapshot; nil before the first
	counted *stats.Rows
	since   []batch // the commits after it
}

func newOwner(t *testing.T, cfg Config, now int64) *owner {
	t.Helper()
	cfg.Log = true
	s, err := New(cfg, now)
	if err != nil {
		t.Fatal(err)
	}
	return &owner{Shard: s, t: t, cfg: cfg, made: now}
}

func (o *owner) commit(now int64) {
	o.since = append(o.since, batch{now, bytes.Clone(o.Ready().Log)})
}

func (o *owner) snapshot(now int64) {
	o.commit(now)
	o.state, o.since = o.AppendState(nil), nil
	o.counted = stats.NewRows(o.Tables.Places(), o.Tables.Transitions())
	o.Counted(o.counted)
}

// follower returns a shard that has replayed everything from the owner.
func (o *owner) follower(now int64) *owner {
	o.t.Helper()
	f := newOwner(o.t, o.cfg, o.made)
	if o.state != nil {
		if rest, err := f.LoadState(o.state); err != nil || len(rest) > 0 {
			o.t.Fatalf("%v, %d bytes left", err, len(rest))
		}
		if err := f.Recount(o.counted); err != nil {
			o.t.Fatal(err)
		}
	}
	for _, b := range o.since {
		if err := f.Replay(b.ops, b.now); err != nil {
			o.t.Fatal(err)
		}
	}
	f.Resume(now)
	if ready := f.Ready(); len(ready.Log) > 0 || len(ready.Crossings) > 0 {
		o.t.Fatalf("it records again what it replays")
	}
	return f
}

// agree compares everything visible of two shards, now and later.
func (o *owner) agree(f *owner, now int64) {
	o.t.Helper()
	for _, at := range []int64{now, now + 2*stats.BlockedAfter} {
		if want, got := rowsOf(o.Shard, at), rowsOf(f.Shard, at); !reflect.DeepEqual(want, got) {
			o.t.Fatalf("(-owner +follower):\n%s", difference(want, got))
		}
	}
}

// happen makes a random event happen, the same for the same r.
func (o *owner) happen(r *rand.Rand, now int64) {
	o.t.Helper()
	i, p, tr, n := r.IntN(o.Count), r.IntN(o.Tables.Places()), r.IntN(len(o.rules)), r.Uint32N(4)
	if r.IntN(12) == 0 {
		n = math.MaxUint32 - 2 // so that firings overflow it
	}
	var err error
	switch r.IntN(3) {
	case 0:
		err = o.Inject(i, p, n, now)
	case 1:
		err = o.Fire(i, tr, now)
	}
	for _, expected := range []error{petri.ErrNotEnabled, petri.ErrOverflow, ErrElsewhere} {
		if errors.Is(err, expected) {
			return
		}
	}
	if err != nil {
		o.t.Fatal(err)
	}
}

// randomConfig returns a configuration for a random net, or for a part of one.
func randomConfig(t *testing.T, r *rand.Rand) Config {
	t.Helper()
	cfg := Config{Stride: 1 + r.IntN(2), First: r.IntN(3), Count: 1 + r.IntN(4), Seed: r.Uint64(), Shuffle: r.IntN(4) == 0}
	if r.IntN(3) == 0 {
		net, region := regional(r)
		cfg.Tables = petritest.Compile(t, net)
		plan := planOf(t, cfg.Tables, region)
		cfg.Part = &plan.Regions[r.IntN(len(plan.Regions))]
	} else {
		net := petritest.RandomNet(r)
		if r.IntN(3) == 0 {
			net = conflictFree(r) // which comes to rest
		}
		if r.IntN(2) == 0 {
			for p := range net.Places {
				net.Places[p].Initial = 0
			}
		}
		cfg.Tables = petritest.Compile(t, net)
	}
	cfg.Modes = randomModes(r, cfg.Tables)
	if r.IntN(3) == 0 {
		cfg.Modes = nil
	}
	if r.IntN(3) == 0 {
		cfg.Numbers = split.Numbers(30, r.IntN(8), 8)
	}
	if r.IntN(3) == 0 {
		cfg.Dispatch, cfg.Priority = strict(), func(number int) ready.Priority { return ready.Priority(number % 3) }
	}
	return cfg
}

// After each commit, a follower sees exactly what the owner sees, whatever was
// played between two commits and whenever a snapshot was made.
func TestAFollowerSeesWhatTheOwnerSees(t *testing.T) {
	var net stats.NetRow
	n, cuts, parts, clocks := 0, 0, 0, 0
	for seed := range seeds.Of(5, 200, 82, 187, 142, 96, 102, 64, 22, 166, 152, 176, 7, 12, 85, 17, 43, 155, 13, 55, 153, 60, 149, 30, 65, 112) {
		n++
		r := rand.New(rand.NewPCG(71, seed))
		cfg := randomConfig(t, r)
		now := now0 + r.Int64N(second)
		o := newOwner(t, cfg, now0)
		o.Step(1<<13, now0) // this log is replayed after each commit until the first snapshot
		o.commit(now0)
		for range 30 {
			for range r.IntN(3) {
				o.happen(r, now)
				if r.IntN(2) == 0 {
					o.Step(r.IntN(30), now)
				}
			}
			o.Step(r.IntN(9), now)
			switch r.IntN(6) {
			case 0:
				o.snapshot(now)
			case 1, 2: // two commits at one time
				o.commit(now)
				o.Step(r.IntN(9), now)
			}
			o.commit(now)
			if r.IntN(3) == 0 {
				o.agree(o.follower(now), now)
				cuts++
			}
			now += r.Int64N(2 * second)
		}
		rows := rowsOf(o.Shard, now)
		net.Merge(&rows.Net)
		clocks += planned(&o.clocks)
		if o.Part != nil {
			parts++
		}
	}
	if n > 1 && (cuts < 6*n || parts < n/7 || clocks < n/4 || min(net.Finished, net.Failed, net.Deadlocked) < max(1, uint64(n)/40)) {
		t.Errorf("too little happened with %d seeds: %d cuts, %d parts, %d clocks, %+v", n, cuts, parts, clocks, net)
	}
}

// A follower that takes over fires and counts as the owner would have. The nets
// have no rivals and no randomness, because the log does not record the order
// of choices, or the turn of an instance without tokens.
func TestAFollowerContinuesAsTheOwnerWouldHave(t *testing.T) {
	r := rand.New(rand.NewPCG(73, 2))
	played := 0
	for range 600 {
		cfg := randomConfig(t, r)
		cfg.Shuffle, cfg.Dispatch = false, nil
		o := newOwner(t, cfg, now0)
		if o.Tables.OrderLen() > 0 {
			continue
		}
		now := now0
		for range 12 {
			o.happen(r, now)
			o.Step(1000, now)
			if r.IntN(5) == 0 {
				o.snapshot(now)
			}
			o.commit(now)
			now += r.Int64N(2 * second)
		}
		f := o.follower(now)
		for i := range f.cells {
			f.cells[i].turn = o.cells[i].turn
		}
		if o.Step(1000, now) == 1000 {
			continue // it never comes to rest, and not all instances have had their turn
		}
		f.Step(1000, now)
		for range 8 {
			seed := r.Uint64()
			for _, x := range []*owner{o, f} {
				x.happen(rand.New(rand.NewPCG(seed, 1)), now)
				played += x.Step(1<<12, now)
			}
			if slices.ContainsFunc([]*owner{o, f}, func(x *owner) bool { return x.Present() != 0 }) {
				break
			}
			o.agree(f, now)
			now += r.Int64N(2 * second)
		}
	}
	if played < 5000 {
		t.Errorf("only %d firings after the take-over", played)
	}
}

// A follower of a follower also follows the first owner.
func TestTakeOversFollowEachOther(t *testing.T) {
	r := rand.New(rand.NewPCG(79, 2))
	for range 60 {
		o := newOwner(t, randomConfig(t, r), now0)
		now := now0
		for range 6 {
			for range 5 {
				o.happen(r, now)
				o.Step(r.IntN(20), now)
				o.commit(now)
				now += r.Int64N(second)
			}
			next := o.follower(now)
			next.state, next.counted, next.since = o.state, o.counted, o.since
			o = next
			o.commit(now)
			o.agree(o.follower(now), now)
		}
	}
}

// queueNet takes tokens from in to out and destroys them there.
func queueNet(initial uint32) *petri.Net {
	return &petri.Net{ID: "queue", Places: []petri.Place{{ID: "in", Initial: initial}, {ID: "out"}}, Transitions: []petri.Transition{{ID: "move"}, {ID: "drop"}},
		Arcs: []petri.Arc{{ID: "1", Source: "in", Target: "move", Weight: 1}, {ID: "2", Source: "move", Target: "out", Weight: 1}, {ID: "3", Source: "out", Target: "drop", Weight: 1}}}
}

func TestInstancesThatAreSpentAreNotKept(t *testing.T) {
	for _, c := range []struct {
		rule  string
		cfg   Config
		bytes int
	}{
		{"that have finished: one row of all", Config{Stride: 1}, 8},
		{"each second one", Config{Stride: 2, First: 7}, 8},
		{"of a partition: many rows", Config{Numbers: split.Numbers(40_000, 3, 40)}, 4000},
		{"of a part: nothing at all", Config{Stride: 1, Part: &split.Part{Transitions: []bool{true, false}, Places: []bool{true, false}}}, 1},
		{"that began with a token", Config{Stride: 1, Tables: petritest.Compile(t, queueNet(1))}, 8},
	} {
		t.Run(c.rule, func(t *testing.T) {
			c.cfg.Count = 1000
			if c.cfg.Tables == nil {
				c.cfg.Tables = petritest.Compile(t, queueNet(0))
			}
			o := newOwner(t, c.cfg, now0)
			for i := range o.Count {
				if err := o.Inject(i, 0, 1+uint32(i%9), now0); err != nil { // some need the wide form
					t.Fatal(err)
				}
			}
			o.Step(1<<20, now0)
			o.snapshot(now0)
			if len(o.state) > c.bytes {
				t.Errorf("%d bytes, want at most %d", len(o.state), c.bytes)
			}
			f := o.follower(now0)
			o.agree(f, now0)
			if !bytes.Equal(f.AppendState(nil), o.state) {
				t.Error("its state differs")
			}
			for _, x := range []*owner{o, f} { // instances that have ended start again
				if err := x.Inject(o.Count-1, 0, 1, now0); err != nil || x.Step(100, now0) == 0 {
					t.Fatalf("the instance does not continue: %v", err)
				}
			}
			o.agree(f, now0)
		})
	}
}

func TestWhatIsNotSpentIsKept(t *testing.T) {
	inject := func(o *owner) error { return o.Inject(0, 0, 1, now0) }
	for _, c := range []struct {
		rule string
		net  *petri.Net
		mode []Mode
		do   func(o *owner) error
	}{
		{"an end that was not counted yet", queueNet(0), nil, func(o *owner) error { return errors.Join(inject(o), o.stepOnly(2)) }},
		{"a token at the end", &petri.Net{ID: "n", Places: []petri.Place{{ID: "p"}}, Transitions: []petri.Transition{{ID: "t"}},
			Arcs: []petri.Arc{{ID: "1", Source: "t", Target: "p", Weight: 1}}}, nil, inject},
		{"a clock", queueNet(0), []Mode{{Kind: Delayed, Delay: Delay{A: 1e6}}, {}}, inject},
		{"an instance that is back at an initial marking with tokens", slowBack(), nil, inject},
	} {
		t.Run(c.rule, func(t *testing.T) {
			o := newOwner(t, Config{Tables: petritest.Compile(t, c.net), Modes: c.mode, Stride: 1, Count: 3}, now0)
			o.Step(100, now0)
			if err := c.do(o); err != nil {
				t.Fatal(err)
			}
			if c.rule != "an end that was not counted yet" {
				o.Step(100, now0)
			}
			o.snapshot(now0)
			if len(o.state) < 4 {
				t.Errorf("state %v", o.state)
			}
			f := o.follower(now0)
			o.agree(f, now0)
			if o.Step(100, now0) != f.Step(100, now0) {
				t.Error("it continues differently")
			}
			o.agree(f, now0)
		})
	}
}

// stepOnly makes exactly n firings.
func (o *owner) stepOnly(n int) error {
	if got := o.Step(n, now0); got != n {
		return fmt.Errorf("%d firings", got)
	}
	return nil
}

// slowBack returns a net that puts a token back into its place after a delay.
func slowBack() *petri.Net {
	return &petri.Net{ID: "back", Places: []petri.Place{{ID: "in"}, {ID: "home", Initial: 1}}, Transitions: []petri.Transition{{ID: "t"}},
		Arcs: []petri.Arc{{ID: "1", Source: "in", Target: "t", Weight: 1}, {ID: "2", Source: "home", Target: "t", Weight: 1}, {ID: "3", Source: "t", Target: "home", Weight: 1}}}
}

func TestLoadStateRefusesRowsThatCannotBe(t *testing.T) {
	for name, state := range map[string][]byte{
		"no step":             {1, 8, 0, 3, 0},
		"one before the last": {9, 8, 1, 3, 10, 8, 1, 3, 0},
		"beyond all numbers":  {9, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 2, 0},
		"half a row":          {9, 8, 1},
		"at rest as nothing":  {9, 10, 0, 0, 0},
	} {
		s := newShard(t, Config{Tables: petritest.Compile(t, queueNet(0)), Stride: 1, Count: 20})
		if _, err := s.LoadState(state); !errors.Is(err, ErrLog) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReplayRefusesRestThatCannotBe(t *testing.T) {
	for name, ops := range map[string][]byte{
		"something is enabled":       {0, 2},
		"of nothing beyond":          {0, 5},
		"a failure of nothing":       {0, 3},
		"a failure without a chance": {0, 3, 1},
		"twice":                      {0, 0, 0, 1, 0, 2, 0, 2},
	} {
		s := newShard(t, Config{Tables: petritest.Compile(t, queueNet(1)), Stride: 1, Count: 2})
		if err := s.Replay(ops, now0); !errors.Is(err, ErrLog) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRowsOfAnotherNetAreNotTakenOver(t *testing.T) {
	s := newShard(t, Config{Tables: petritest.Compile(t, queueNet(0)), Stride: 1, Count: 2})
	if s.Recount(stats.NewRows(3, 3)) == nil {
		t.Error("no error")
	}
}
