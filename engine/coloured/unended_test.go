// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/stats"
)

// running returns the runs of a shard that are not over, as Starts returned
// them.
func running(s *Shard) map[RunID]Start {
	out := map[RunID]Start{}
	for run, id := range s.runs.active {
		n, l := &s.notes.all[id], s.notes.all[id].run
		in := &s.instances[n.instance]
		start := Start{Run: run, Era: l.era, Instance: s.Number(int(n.instance)), Transition: int32(n.transition), Attempt: int(l.attempt),
			Taken: s.seen(in, l.taken), Read: s.seen(in, l.read), Data: l.data, Started: n.since}
		if limit := s.rules[n.transition].Timeout; limit > 0 {
			start.Deadline = n.since + limit
		}
		out[run] = start
	}
	return out
}

// handed returns the runs that a shard hands out, and the number of those that
// it has cancelled.
func handed(s *Shard) map[RunID]Start {
	out := map[RunID]Start{}
	for _, start := range s.Ready().Starts {
		out[start.Run] = start
	}
	return out
}

func cancelled(s *Shard) (n uint64) {
	rows := stats.NewRows(s.Tables.Places(), s.Tables.Transitions())
	s.Counted(rows)
	for t := range rows.Transitions {
		n += rows.Transitions[t].Cancels
	}
	return n
}

// successor returns a shard that has replayed an owner's state and log, and has
// taken over.
func (o *owner) successor(now int64) *owner {
	o.t.Helper()
	f := newOwner(o.t, o.cfg)
	if o.state != nil {
		if _, err := f.LoadState(o.state); err != nil {
			o.t.Fatal(err)
		}
		if err := f.Recount(o.counted); err != nil {
			o.t.Fatal(err)
		}
	}
	replay(o.t, f.Shard, o.since)
	f.NameRuns(o.Shard.runs.era+1, f.LastRun()+1, 1)
	f.Resume(now)
	return f
}

// A successor continues every run that is not over: it hands out again those
// whose action is idempotent, unchanged, and puts back and counts as cancelled
// the others. Each token is in exactly one place or run.
func TestASuccessorHasTheRunsThatAreNotOver(t *testing.T) {
	r := rand.New(rand.NewPCG(72, 3))
	resumed, back := 0, 0
	for range 150 {
		cfg := randomConfig(t, r)
		cfg.Bindings = slices.Clone(cfg.Bindings)
		for k := range cfg.Bindings {
			b := &cfg.Bindings[k]
			b.Idempotent = b.Action && r.IntN(3) > 0
		}
		now := now0 + r.Int64N(200)
		o := newOwner(t, cfg)
		for range 40 {
			for range r.IntN(4) {
				o.happen(r, now)
			}
			o.step(r.IntN(9), now)
			if r.IntN(6) == 0 {
				o.snapshot(now)
			}
			o.commit(now)
			now += r.Int64N(120)
			if r.IntN(5) > 0 {
				continue
			}
			want, lost := running(o.Shard), uint64(0)
			maps.DeleteFunc(want, func(_ RunID, start Start) bool {
				put := !cfg.Bindings[start.Transition].Idempotent
				if put {
					lost++
				}
				return put
			})
			f := o.successor(now)
			got := handed(f.Shard)
			if diff := difference(want, got); diff != "" {
				t.Fatalf("(-not over +handed out again):\n%s", diff)
			}
			if n := cancelled(f.Shard); n != cancelled(o.Shard)+lost {
				t.Fatalf("%d cancelled; want %d and %d", n, cancelled(o.Shard), lost)
			}
			for i := range o.Count {
				if diff := difference(o.Tokens(i, 100), f.Tokens(i, 100)); diff != "" {
					t.Fatalf("instance %d (-owner's tokens +successor's):\n%s", i, diff)
				}
			}
			resumed, back = resumed+len(got), back+int(lost)
			if r.IntN(2) == 0 { // it is the owner now, and its log continues
				f.since, f.state, f.counted = append(o.since, f.since...), o.state, o.counted
				for _, run := range slices.Sorted(maps.Keys(got)) {
					f.runs = append(f.runs, got[run])
				}
				o = f
				o.commit(now)
			}
		}
	}
	if resumed < 100 || back < 100 {
		t.Errorf("%d runs were resumed and %d put back; expected more of both", resumed, back)
	}
}

func TestRunsInALogThatCannotBe(t *testing.T) {
	cfg := Config{Tables: petritest.Compile(t, empty(petritest.Ring(2))), Bindings: []Binding{{Action: true, Idempotent: true}, {}}, Stride: 1, Count: 1, Log: true}
	n := byte(2 * len(cfg.Bindings))
	token := []byte{1, 0, 1} // a token that was taken: place 0, identity 1
	start := func(sequence, transition byte, tokens []byte) []byte {
		return append(append([]byte{0, n + opStart, sequence, 0, transition, 2, refNone, 9}, tokens...), 0)
	}
	end := func(sequence, transition byte) []byte { return []byte{0, n + opEnd, sequence, transition} }
	for name, log := range map[string][]byte{
		"a transition without an action":  start(1, 1, token),
		"a run without a number":          start(0, 0, token),
		"a token that is not there":       start(1, 0, []byte{1, 0, 9}),
		"a place that is empty":           start(1, 0, []byte{1, 1, 1}),
		"a start twice":                   append(start(1, 0, token), start(1, 0, token)...),
		"an end without a start":          end(1, 0),
		"an end twice":                    append(append(start(1, 0, token), end(1, 0)...), end(1, 0)...),
		"the end of another transition's": append(start(1, 0, token), end(1, 1)...),
		"a start that ends early":         start(1, 0, token)[:6],
	} {
		t.Run(name, func(t *testing.T) {
			s := newShard(t, cfg)
			if err := s.Inject(0, 0, nil, 1, now0); err != nil {
				t.Fatal(err)
			}
			f := newShard(t, cfg)
			if err := f.Replay(s.Ready().Log, now0); err != nil {
				t.Fatal(err)
			}
			if err := f.Replay(log, now0); !errors.Is(err, ErrLog) {
				t.Errorf("%v; want ErrLog", err)
			}
		})
	}
}

// empty takes the tokens out of a net.
func empty(n *petri.Net) *petri.Net {
	for p := range n.Places {
		n.Places[p].Initial = 0
	}
	return n
}
