// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// A forest is a set of engines, collectors with a share each that are killed and
// restarted, a root above them, and a collector that receives every message of the
// engines: the truth.
type forest struct {
	t       *testing.T
	r       *rand.Rand
	now     int64
	engines []engine
	below   []branch
	root    *Merger
	truth   *Merger
	change  bool // shares change, and engines end while nothing receives them: then something may be missing
	last    []uint64
}

// branch is a collector below.
type branch struct {
	name  string
	share Share
	m     *Merger // nil while it is down
	enc   Saver
	state []byte // on its disk; nil before the first

	since, before int64
	fence         uint64
	epoch         int64
	seq           uint64
}

func newForest(t *testing.T, seed uint64, change bool) *forest {
	f := &forest{t: t, r: rand.New(rand.NewPCG(seed, 3)), now: t0, root: NewMerger(Rules{}, t0), truth: NewMerger(Rules{}, t0), change: change}
	f.engines, f.below = make([]engine, 1+f.r.IntN(5)), make([]branch, 1+f.r.IntN(3))
	f.define(f.root)
	f.define(f.truth)
	for i := range f.engines {
		f.engines[i].start(fmt.Sprint("e", i), f.tick(), worldRows)
	}
	for i := range f.below {
		f.below[i] = branch{name: fmt.Sprint("child", i), share: Share{Index: i + 1, Count: len(f.below)}}
		f.start(&f.below[i])
	}
	return f
}

// tick lets a moment pass: no two things happen at once.
func (f *forest) tick() int64 {
	f.now += 1 + f.r.Int64N(3e5)
	return f.now
}

func (f *forest) define(m *Merger) {
	f.t.Helper()
	if _, err := m.Define("d", lineNet("n", worldRows, worldRows), f.now); err != nil {
		f.t.Fatal(err)
	}
}

func (f *forest) take(m *Merger, msg *telemetry.Snapshot) {
	f.t.Helper()
	if _, err := m.Take(msg, 0, f.now); err != nil {
		f.t.Fatal(err)
	}
}

// start starts a branch as package uplink does.
func (f *forest) start(b *branch) {
	f.t.Helper()
	now := f.tick()
	b.m, b.seq, b.fence, b.epoch = NewMerger(Rules{CountedBefore: b.before}, now), 0, b.fence+1, now
	if b.state == nil {
		b.since = now
	} else if err := b.m.Restore([][]byte{b.state}, Admission{Share: b.share, PNML: pnmlLimits()}, now); err != nil {
		f.t.Fatal(err)
	}
	f.define(b.m)
}

// save has a branch keep what it has, and publish as much of it as arrives.
func (f *forest) publish(b *branch, arrives bool) {
	f.t.Helper()
	view, _ := b.m.Tick(f.tick())
	var err error
	if b.state, err = b.enc.save(b.m); err != nil {
		f.t.Fatal(err)
	}
	b.seq++
	if !arrives || view.Nets[0].Rows.Columns == 0 {
		return
	}
	msg := &telemetry.Snapshot{Source: b.name, Net: "n", Digest: "d", Epoch: b.epoch, Seq: b.seq, SentAt: f.now, Interval: time.Second,
		Full: true, Region: "up/" + b.name, Fence: b.fence, Since: b.since, Rows: *stats.NewRows(worldRows, worldRows)}
	if err := view.FillRows("n", &msg.Rows); err != nil {
		f.t.Fatal(err)
	}
	f.take(f.root, msg)
}

// owner returns the branch whose share an engine is in.
func (f *forest) owner(e *engine) *branch {
	for i := range f.below {
		if f.below[i].share.Has("n", e.msg.Source) {
			return &f.below[i]
		}
	}
	f.t.Fatal("a source is in no share")
	return nil
}

// say publishes all rows of an engine.
func (f *forest) say(e *engine, bye bool) {
	f.t.Helper()
	e.msg.Seq++
	e.msg.SentAt = f.tick()
	msg := clone(&e.msg)
	msg.Bye = bye
	f.take(f.truth, msg)
	if b := f.owner(e); b.m != nil {
		f.take(b.m, msg)
	}
}

func (f *forest) step() {
	e := &f.engines[f.r.IntN(len(f.engines))]
	b := &f.below[f.r.IntN(len(f.below))]
	switch f.r.IntN(20) {
	case 0, 1: // killed, in the middle of anything
		b.m = nil
	case 2:
		if b.m == nil {
			f.start(b)
		}
	case 3: // an engine ends and starts again
		if f.change || f.owner(e).m != nil {
			f.say(e, f.r.IntN(2) == 0)
			e.start(e.msg.Source, f.tick(), worldRows)
		}
		if !f.change && f.owner(e).m != nil {
			f.publish(f.owner(e), f.r.IntN(4) > 0)
		}
	case 4:
		if f.change && f.r.IntN(4) == 0 {
			f.changeShares()
		}
	case 5, 6, 7, 8:
		if b.m != nil {
			f.publish(b, f.r.IntN(4) > 0)
		}
	default:
		e.play(f.r)
		f.say(e, false)
	}
	f.check()
}

// changeShares gives the branches other shares, of another number at times.
func (f *forest) changeShares() {
	for i := range f.below {
		f.below[i].m = nil
	}
	if n := len(f.below); n > 1 && f.r.IntN(2) == 0 {
		for i := range f.below { // they swap
			f.below[i].share.Index = (f.below[i].share.Index % n) + 1
		}
	} else {
		b := branch{name: fmt.Sprint("child", n)}
		f.below = append(f.below, b)
		for i := range f.below {
			f.below[i].share = Share{Index: i + 1, Count: n + 1}
		}
	}
	now := f.tick()
	for i := range f.below {
		f.below[i].before = now
		f.start(&f.below[i])
	}
}

// counters are those that are compared, of every row.
func counters(view *View) (all []uint64) {
	for _, n := range view.Nets {
		s := sumsOf(n.Rows)
		all = append(append(append(append(all, s.Arrivals...), s.Firings...), s.Timeouts...), s.Served)
	}
	return all
}

// check holds at every moment: no counter of the root falls, and none is more
// than the truth.
func (f *forest) check() {
	f.t.Helper()
	root, _ := f.root.Tick(f.now)
	truth, _ := f.truth.Tick(f.now)
	checkTotals(f.t, root)
	now, most := counters(root), counters(truth)
	for i := range now {
		if now[i] > most[i] {
			f.t.Fatalf("counter %d of the root is %d, which is more than the truth, %d", i, now[i], most[i])
		}
		if f.last != nil && now[i] < f.last[i] {
			f.t.Fatalf("counter %d of the root fell from %d to %d", i, f.last[i], now[i])
		}
	}
	f.last = now
}

// rest has everybody say what there is, and returns what is missing at the root.
func (f *forest) rest() (missing []uint64) {
	f.t.Helper()
	for i := range f.below {
		if f.below[i].m == nil {
			f.start(&f.below[i])
		}
	}
	for i := range f.engines {
		f.say(&f.engines[i], false)
	}
	for i := range f.below {
		f.publish(&f.below[i], true)
	}
	f.check()
	root, _ := f.root.Tick(f.now)
	truth, _ := f.truth.Tick(f.now)
	checkTotals(f.t, root)
	want, got := sumsOf(truth.Nets[0].Rows), sumsOf(root.Nets[0].Rows)
	if fmt.Sprint(want.Tokens, want.Ready) != fmt.Sprint(got.Tokens, got.Ready) {
		f.t.Fatalf("tokens and instances that are ready: the root has %d and %d, in truth %d and %d", got.Tokens, got.Ready, want.Tokens, want.Ready)
	}
	for i, n := range counters(truth) {
		missing = append(missing, n-counters(root)[i])
	}
	return missing
}

// Collectors below the root may be killed at any moment, between two saves or
// between a save and the publication of its contents. The root has the truth, as
// long as one process receives the end of each engine and saves it.
//
//promise:counters kill none
func TestRootHasTheTruthWhicheverChildIsKilled(t *testing.T) {
	for seed := range seeds.Of(10, 150, 91, 21, 88, 14, 39, 73, 122) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			f := newForest(t, seed, false)
			for range 20 {
				for range 20 {
					f.step()
				}
				for i, n := range f.rest() {
					if n != 0 {
						t.Fatalf("counter %d: the root lacks %d", i, n)
					}
				}
			}
		})
	}
}

// When shares change, and engines end while no collector receives them, the root
// may miss some counts. No counter falls, nothing counts twice, and once all
// processes run again nothing more is lost.
//
//promise:counters stop none
func TestRootNeverCountsTwiceWhenSharesChange(t *testing.T) {
	for seed := range seeds.Of(10, 150, 103, 18, 19, 25, 47) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			f := newForest(t, seed, true)
			for range 20 {
				for range 20 {
					f.step()
				}
				before := f.rest()
				for i := range f.engines {
					f.engines[i].play(f.r)
				}
				if after := f.rest(); fmt.Sprint(before) != fmt.Sprint(after) {
					t.Fatalf("the root lacks %d, and later %d", before, after)
				}
			}
		})
	}
}
