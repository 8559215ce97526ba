// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine/plain"
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
	runs    []Start
	log     []byte // since the last commit
	crossed []split.Crossing
	state   []byte // of the last snapshot; nil before the first
	counted *stats.Rows
	since   []batch // the commits after it
}

func newOwner(t *testing.T, cfg Config) *owner {
	t.Helper()
	cfg.Log = true
	return &owner{Shard: newShard(t, cfg), t: t, cfg: cfg}
}

// take takes what the shard has done.
func (o *owner) take() {
	ready := o.Ready()
	o.log, o.runs = append(o.log, ready.Log...), append(o.runs, ready.Starts...)
	o.crossed = append(o.crossed, ready.Crossings...)
}

func (o *owner) commit(now int64) {
	o.take()
	o.since = append(o.since, batch{now, o.log})
	o.log = nil
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
	f := newOwner(o.t, o.cfg)
	if o.state != nil {
		if rest, err := f.LoadState(o.state); err != nil || len(rest) > 0 {
			o.t.Fatalf("%v, %d bytes left", err, len(rest))
		}
		if err := f.Recount(o.counted); err != nil {
			o.t.Fatal(err)
		}
	}
	replay(o.t, f.Shard, o.since)
	f.Resume(now)
	f.take()
	if len(f.log) > 0 || len(f.crossed) > 0 {
		o.t.Fatal("it records again what it replays")
	}
	return f
}

// happen makes a random event happen.
func (o *owner) happen(r *rand.Rand, now int64) {
	o.t.Helper()
	i, p, tr, n := r.IntN(o.Count), r.IntN(o.Tables.Places()), r.IntN(len(o.rules)), r.Uint32N(4)
	if r.IntN(20) == 0 {
		n = math.MaxUint32 - 2 // so that firings overflow it
	}
	var err error
	switch r.IntN(5) {
	case 0:
		err = o.Inject(i, p, dataFor(r, o.Shard), n, now)
	case 1:
		err = o.Fire(i, tr, nil, now)
	case 2, 3, 4:
		if len(o.runs) == 0 {
			return
		}
		k := r.IntN(len(o.runs))
		outcome, _ := randomOutcome(r, o.Tables, &modelRun{t: int(o.runs[k].Transition)})
		if r.IntN(5) == 0 {
			err = o.Cancel(o.runs[k].Run, now)
		} else {
			err = o.Done(o.runs[k].Run, outcome, now)
		}
		o.runs = slices.Delete(o.runs, k, k+1)
	}
	for _, expected := range []error{petri.ErrNotEnabled, petri.ErrOverflow, plain.ErrElsewhere, ErrLate, ErrOutcome, ready.ErrFull} {
		if errors.Is(err, expected) {
			return
		}
	}
	if err != nil {
		o.t.Fatal(err)
	}
}

func (o *owner) step(budget int, now int64) {
	o.Step(budget, now)
	o.take()
}

// known removes from rows what no log records: the reasons why transitions
// wait, and the running actions.
func known(rows *stats.Rows) *stats.Rows {
	rows.Blocks = nil
	for p := range rows.Places {
		for k := range rows.Places[p].Stuck {
			rows.Places[p].Stuck[k].Waits = nil
		}
		rows.Places[p].Groups = nil
	}
	for t := range rows.Transitions {
		row := &rows.Transitions[t]
		row.Enabled, row.EnabledSince, row.Running, row.RunningSince = 0, 0, 0, 0
	}
	return rows
}

func (o *owner) agree(f *owner, now int64, see func(*stats.Rows) *stats.Rows) {
	o.t.Helper()
	want, got := see(rowsOf(o.Shard, now)), see(rowsOf(f.Shard, now))
	if !reflect.DeepEqual(want, got) {
		o.t.Fatalf("(-owner +follower):\n%s", gocmp.Diff(want, got))
	}
}

// randomConfig returns a configuration for a random net, or for a part of one.
func randomConfig(t *testing.T, r *rand.Rand) Config {
	t.Helper()
	cfg := Config{Stride: 1 + r.IntN(2), First: r.IntN(3), Count: 1 + r.IntN(4), Seed: r.Uint64(), Shuffle: r.IntN(4) == 0}
	if r.IntN(3) == 0 {
		tables, bindings, plan := regional(t, r, func(*petri.Net) {})
		cfg.Tables, cfg.Bindings, cfg.Part = tables, bindings, &plan.Regions[r.IntN(len(plan.Regions))]
	} else {
		net, bindings := randomOf(r.IntN(2) + 600*r.IntN(2))(r)
		if r.IntN(3) == 0 {
			net, bindings = courier(r) // in which all tokens reach an end
		}
		if r.IntN(2) == 0 {
			for p := range net.Places {
				net.Places[p].Initial = 0
			}
		}
		cfg.Tables, cfg.Bindings = petritest.Compile(t, net), bindings
	}
	if r.IntN(3) == 0 {
		cfg.Numbers = split.Numbers(30, r.IntN(8), 8)
	}
	return cfg
}

// After each commit a follower has the counters of the owner and sees the same
// tokens, whatever fails, is retried, cancelled, times out or comes too late.
func TestAFollowerCountsWhatTheOwnerCounts(t *testing.T) {
	total := stats.NewRows(0, 1)
	runs, cuts, parts, dead := uint64(0), uint64(0), uint64(0), uint64(0)
	for seed := range seeds.Of(10, 250, 29, 169, 186, 199, 26, 111, 47, 123, 40, 211, 242, 35, 62, 46, 89, 78, 72, 16, 19, 163, 38, 100, 20, 69, 131, 149, 213, 23, 24, 25, 101, 207, 218, 22, 50, 86, 113, 115, 132, 156, 162, 180, 222) {
		r := rand.New(rand.NewPCG(71, seed))
		runs++
		cfg := randomConfig(t, r)
		for k := range cfg.Bindings { // a follower that resumes does not cancel their runs
			cfg.Bindings[k].Idempotent = cfg.Bindings[k].Action
		}
		now := now0 + r.Int64N(200)
		o := newOwner(t, cfg)
		o.step(1<<10, now0)
		o.commit(now0)
		for range 30 {
			for range r.IntN(4) {
				o.happen(r, now)
				if r.IntN(2) == 0 {
					o.step(r.IntN(20), now)
				}
			}
			o.step(r.IntN(9), now)
			if r.IntN(6) == 0 {
				o.snapshot(now)
			}
			o.commit(now)
			if r.IntN(3) == 0 {
				f := o.follower(now)
				see := known
				if o.state != nil && slices.ContainsFunc(o.instances, func(in instance) bool { return in.has(deadlocked) && !in.has(everMoved) }) {
					see = func(rows *stats.Rows) *stats.Rows { // the first Step finds instances that never moved
						rows.Net.Deadlocked = 0
						return known(rows)
					}
				}
				o.agree(f, now, see)
				o.agree(f, now+1e9, see)
				for i := range o.Count {
					if want, got := o.Tokens(i, 100), f.Tokens(i, 100); !reflect.DeepEqual(want, got) {
						t.Fatalf("instance %d (-owner's tokens +follower's):\n%s", i, gocmp.Diff(want, got))
					}
				}
				cuts, dead = cuts+1, dead+o.Deadlocked
			}
			now += r.Int64N(300)
		}
		rows := rowsOf(o.Shard, now)
		total.Net.Merge(&rows.Net)
		for k := range rows.Transitions {
			total.Transitions[0].Merge(&rows.Transitions[k])
		}
		if o.Part != nil {
			parts++
		}
	}
	n, c := total.Net, total.Transitions[0]
	if runs > 1 && (cuts < 4*runs || parts < runs/13 || min(n.Finished, n.Failed, dead) < runs/25 ||
		min(c.Failures, c.Retries, c.Cancels, c.Timeouts, c.Late, c.Duration.Count()) < runs/8) {
		t.Errorf("too little happened: %d cuts, %d parts, %d times deadlocked, %+v, %+v", cuts, parts, dead, n, c)
	}
}

// If tokens alone decide about firings, a follower sees all that the owner
// sees.
func TestAFollowerSeesWhatTheOwnerSees(t *testing.T) {
	for seed := range seeds.Of(10, 150, 95, 105, 29, 61, 34, 47) {
		r := rand.New(rand.NewPCG(77, seed))
		o := newOwner(t, Config{Tables: petritest.Compile(t, petritest.RandomNet(r)), Stride: 1, Count: 3})
		o.step(1<<10, now0)
		o.commit(now0)
		for now := now0; now < now0+40*second; now += r.Int64N(4 * second) {
			i, p := r.IntN(3), r.IntN(o.Tables.Places())
			if err := o.Inject(i, p, nil, r.Uint32N(4), now); err != nil {
				t.Fatal(err)
			}
			o.step(r.IntN(30), now)
			o.commit(now)
			f := o.follower(now)
			same := func(rows *stats.Rows) *stats.Rows { return rows }
			o.agree(f, now, same)
			o.agree(f, now+2*stats.BlockedAfter, same)
		}
	}
}

const second = int64(1e6)

func TestInstancesThatAreSpentAreNotKept(t *testing.T) {
	for _, c := range []struct {
		rule    string
		initial string
		cfg     Config
		bytes   int
	}{
		{"that have finished: one row of all", "in out", Config{Stride: 1}, 15},
		{"each second one", "in out", Config{Stride: 2, First: 7}, 15},
		{"of a partition: many rows", "in out", Config{Numbers: split.Numbers(40_000, 3, 40)}, 4000},
		{"of a part: nothing at all", "in out", Config{Part: &split.Part{Transitions: []bool{true, false}, Places: []bool{true, false}}}, 9},
		{"that began with a token", "in:1 out", Config{}, 15},
	} {
		t.Run(c.rule, func(t *testing.T) {
			c.cfg.Count, c.cfg.Tables = 1000, petritest.Compile(t, build(c.initial, "move drop", "in>move move>out out>drop"))
			o := newOwner(t, c.cfg)
			for i := range o.Count {
				if err := o.Inject(i, 0, []byte("x"), 1+uint32(i%9), now0); err != nil {
					t.Fatal(err)
				}
			}
			o.step(1<<20, now0)
			o.snapshot(now0)
			if len(o.state) > c.bytes {
				t.Errorf("%d bytes, want at most %d", len(o.state), c.bytes)
			}
			f := o.follower(now0)
			o.agree(f, now0, known)
			if !bytes.Equal(f.AppendState(nil), o.state) {
				t.Error("its state differs")
			}
			for _, x := range []*owner{o, f} { // instances that have ended start again
				if err := x.Inject(o.Count-1, 0, []byte("y"), 2, now0+5); err != nil {
					t.Fatal(err)
				}
				x.step(1, now0+5)
				x.commit(now0 + 5)
			}
			o.agree(f, now0+5, known)
			o.agree(o.follower(now0+5), now0+5, known) // its identities continue those of the owner
		})
	}
}

func TestReplayRefusesCountsThatCannotBe(t *testing.T) {
	for name, ops := range map[string][]byte{
		"beyond all":                  {0, 6 + opFire},
		"a failure of nothing":        {0, 6 + opFailed, 3},
		"at rest in two ways":         {0, 6 + opRest, finished | failed},
		"at rest as nothing":          {0, 6 + opRest, revived + 1},
		"a run of nothing":            {0, 6 + opEnd, 1, 2, 1},
		"an injection of no identity": {0, 6 + opInject, 1, 0, 1, 0},
		"half":                        {0, 6 + opLate},
	} {
		s := newShard(t, Config{Tables: petritest.Compile(t, petritest.Ring(3)), Count: 1})
		if err := s.Replay(ops, now0); !errors.Is(err, ErrLog) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLoadStateRefusesRowsThatCannotBe(t *testing.T) {
	for name, state := range map[string][]byte{
		"no step":             {1, 12, 0, 3, 0},
		"one before the last": {9, 12, 1, 3, 10, 12, 1, 3, 0},
		"beyond all numbers":  {9, 12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 2, 0},
		"half a row":          {9, 12, 1},
		"no such kind":        {9, 11, 1, 1, 0},
	} {
		s := newShard(t, Config{Tables: petritest.Compile(t, petritest.Ring(3)), Count: 20})
		if _, err := s.LoadState(state); !errors.Is(err, ErrLog) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if newShard(t, Config{Tables: petritest.Compile(t, petritest.Ring(3)), Count: 1}).Recount(stats.NewRows(1, 1)) == nil {
		t.Error("rows of another net are accepted")
	}
}
