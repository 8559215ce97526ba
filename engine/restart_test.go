// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/stats"
)

// killed leaves the engine as a kill of its process does: nothing more is
// written.
func killed(e *Engine) { e.recorder.fail(errors.New("the process is gone")) }

// alive runs the engine until end is called, which waits for it.
func alive(t *testing.T, e *Engine) (end func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = e.Run(ctx) // it fails where it was killed
	}()
	return func() {
		cancel()
		<-done
	}
}

// published returns all rows of a net that are published, at a time.
func published(t *testing.T, e *Engine, net int, now int64) *stats.Rows {
	t.Helper()
	tables := e.cfg.Nets[net].Tables
	rows := stats.NewRows(tables.Places(), tables.Transitions())
	if err := e.Rows(t.Context(), net, now, rows); err != nil {
		t.Fatal(err)
	}
	for p := range rows.Places {
		for k := range rows.Places[p].Stuck {
			rows.Places[p].Stuck[k].Waits = nil // what came to rest may be looked at again
		}
	}
	for i := range rows.Transitions {
		rows.Transitions[i].Enabled, rows.Transitions[i].EnabledSince = 0, 0
		rows.Transitions[i].Running, rows.Transitions[i].RunningSince = 0, 0
	}
	rows.Queues, rows.Waiting, rows.Blocks = nil, 0, nil
	return rows
}

// balanced checks that what arrived in each place and has not left is there.
func balanced(t *testing.T, rows *stats.Rows) {
	t.Helper()
	for p, row := range rows.Places {
		if row.Arrivals-row.Departures != row.Tokens {
			t.Errorf("place %d: %d arrivals, %d departures, %d tokens", p, row.Arrivals, row.Departures, row.Tokens)
		}
	}
}

// An instance at rest is at rest in every later life, and is counted once.
//
//promise:durable kill
func TestAnEngineStartsAgainHoweverOftenItIsKilled(t *testing.T) {
	step := func(to uint32, more ...petri.Arc) *petri.Net {
		return &petri.Net{ID: "step", Places: []petri.Place{{ID: "a", Initial: 1}, {ID: "b", Initial: to}, {ID: "never"}},
			Transitions: []petri.Transition{{ID: "t"}, {ID: "u"}},
			Arcs:        append([]petri.Arc{{ID: "1", Source: "a", Target: "t", Weight: 1}, {ID: "2", Source: "t", Target: "b", Weight: 1}, {ID: "3", Source: "never", Target: "u", Weight: 1}}, more...)}
	}
	for name, c := range map[string]struct {
		net  *petri.Net
		want stats.NetRow
	}{
		"ended":      {step(0), stats.NetRow{Created: 3, Finished: 3}},
		"deadlocked": {step(0, petri.Arc{ID: "4", Source: "b", Target: "u", Weight: 1}), stats.NetRow{Created: 3, Active: 3, Deadlocked: 3}},
		"failed":     {step(1<<32 - 1), stats.NetRow{Created: 3, Failed: 3}},
	} {
		for _, machine := range []string{"plain", "coloured"} {
			for _, snapshot := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, snapshots %t", name, machine, snapshot), func(t *testing.T) {
					net := NetConfig{Tables: petritest.Compile(t, c.net)}
					if machine == "coloured" {
						net.Transitions = make([]Transition, len(c.net.Transitions))
						net.Transitions[0].Guard = always
					}
					dir := t.TempDir()
					for life := range 5 {
						log := openJournal(t, dir)
						e := newEngine(t, Config{Source: "s", Nets: []NetConfig{net}, Instances: 3, Workers: 1 + life%2, Journal: log})
						stop := alive(t, e)
						deadline := time.Now().Add(patience)
						for time.Now().Before(deadline) && published(t, e, 0, time.Now().UnixMicro()).Net != c.want {
							time.Sleep(time.Millisecond)
						}
						if got := published(t, e, 0, time.Now().UnixMicro()).Net; got != c.want {
							t.Fatalf("life %d: %+v; want %+v", life, got, c.want)
						}
						if !snapshot {
							killed(e)
						}
						stop()
						if err := log.Close(); err != nil {
							t.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// The counters of any net continue after a kill exactly where they were,
// whatever the number of workers and whenever a snapshot was made.
//
//promise:counters kill none
func TestCountersAfterAKillAreThoseOfTheLog(t *testing.T) {
	rounds, moved, rests := uint64(0), uint64(0), uint64(0)
	for seed := range seeds.Of(1, 16, 7, 5, 12, 1, 3, 4) {
		r := rand.New(rand.NewPCG(13, seed))
		rounds++
		nets := []NetConfig{{Tables: petritest.Compile(t, petritest.RandomNet(r))}, {Tables: petritest.Compile(t, line(3))}}
		for k, n := range nets {
			if r.IntN(3) == 0 { // the other machine
				nets[k].Transitions = make([]Transition, n.Tables.Transitions())
				for tr := range nets[k].Transitions {
					if len(n.Tables.Conds(tr)) > 0 && !n.Tables.Source(tr) {
						nets[k].Transitions[tr].Guard = always
						break
					}
				}
			}
		}
		nets[1].Tables.Net.ID = "second"
		dir := t.TempDir()
		now := int64(1_790_000_000_000_000)
		var want []*stats.Rows
		for life := range 5 {
			log := openJournal(t, dir)
			e := newEngine(t, Config{Source: "s", Nets: nets, Instances: 9, Workers: 1 + r.IntN(4), Firings: 1 + r.IntN(300), Seed: r.Uint64(), Shuffle: true,
				Journal: log, Clock: func() int64 { return now + int64(life)*1e6 }})
			if life == 0 {
				runToEnd(t, e)
			} else {
				ended(t, e)
				for k := range nets {
					got := published(t, e, k, now+1e9)
					if !slices.ContainsFunc(got.Transitions, func(t stats.Transition) bool { return t.Firings > 0 }) {
						// A snapshot leaves out instances that never moved. The next run finds them at rest, and that their tokens are dead.
						got.Net.Deadlocked, want[k].Net.Deadlocked = 0, 0
						for i := range got.Places {
							got.Places[i].Groups, want[k].Places[i].Groups = nil, nil
						}
					}
					balanced(t, got)
					if d := cmp.Diff(want[k], got); d != "" {
						t.Fatalf("seed %d, life %d, net %d (-before +after):\n%s", seed, life, k, d)
					}
				}
				for _, w := range e.workers {
					for _, s := range w.shards {
						s.Step(1+r.IntN(100), w.now())
					}
				}
			}
			for range 5 {
				k := r.IntN(2)
				places := nets[k].Tables.Net.Places
				if err := e.Inject(t.Context(), nets[k].Tables.Net.ID, r.IntN(9), places[r.IntN(len(places))].ID, r.Uint32N(4)); err != nil {
					t.Fatal(err)
				}
			}
			if r.IntN(3) == 0 {
				if err := e.saveState(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			want = nil
			for k := range nets {
				rows := published(t, e, k, now+1e9)
				want = append(want, rows)
				rests += rows.Net.Finished + rows.Net.Deadlocked
				for i := range rows.Transitions {
					moved += rows.Transitions[i].Firings
				}
			}
			killed(e)
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if rounds > 1 && (moved < 300*rounds || rests < 6*rounds) {
		t.Errorf("too little happened with %d seeds: %d firings, %d at rest", rounds, moved, rests)
	}
}

// What queues have served does not fall below what was published.
func TestQueuesCountOnAfterAKill(t *testing.T) {
	dir := t.TempDir()
	net := NetConfig{Tables: petritest.Compile(t, petritest.Ring(3)), Priority: func(i int) ready.Priority { return ready.Priority(i % 2) }}
	var last []stats.Queue
	for life := range 4 {
		log := openJournal(t, dir)
		e := newEngine(t, Config{Source: "s", Nets: []NetConfig{net}, Instances: 4, Workers: 1 + life%3, Firings: 1000, Journal: log,
			Dispatch: &Dispatch{Policy: ready.PolicyStrict}})
		runToEnd(t, e)
		rows := stats.NewRows(3, 3)
		if err := e.published(t.Context(), 0, time.Now().UnixMicro(), rows); err != nil {
			t.Fatal(err)
		}
		for k, q := range last {
			if rows.Queues[k].Priority != q.Priority || rows.Queues[k].Served <= q.Served && q.Priority == 1 || rows.Queues[k].Served < q.Served {
				t.Errorf("life %d: %+v after %+v", life, rows.Queues, last)
			}
		}
		last = rows.Queues
		if life == 1 {
			if err := e.saveState(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		killed(e)
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A journal in the format of another version is refused, and the error says what to do.
func TestAJournalOfAnotherFormatIsRefused(t *testing.T) {
	log := openJournal(t, t.TempDir())
	defer log.Close()
	if _, err := log.Append(t.Context(), 0, []byte(`{"nets":[{"id":"n","digest":"d"}],"instances":1,"created":1790000000000000}`)); err != nil {
		t.Fatal(err)
	}
	_, err := New(Config{Source: "s", Nets: []NetConfig{{Tables: petritest.Compile(t, line(2))}}, Instances: 1, Workers: 1, Journal: log})
	want := "it has format 0, and this version reads format 3; let a version that reads it end its instances, or continue with that one"
	if !errors.Is(err, ErrJournal) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want %s", err, want)
	}
}

// header writes the first commit of a journal.
func (c *Config) header(log interface {
	Append(context.Context, uint64, ...[]byte) (uint64, error)
}, created int64) error {
	for k := range c.Nets {
		if c.Nets[k].Transitions == nil {
			var err error
			if c.Nets[k].Transitions, err = Declared(c.Nets[k].Tables); err != nil {
				return err
			}
		}
	}
	h, err := headerOf(c, created)
	if err != nil {
		return err
	}
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	_, err = log.Append(context.Background(), 0, text)
	return err
}

// An idempotent action that was running when its process was killed is
// performed again with its key; another one is put back and tried under a new
// one.
//
//promise:durable kill
func TestIdempotentActionsKeepTheirKeyOverAKill(t *testing.T) {
	for _, idempotent := range []bool{true, false} {
		dir := t.TempDir()
		var keys [][]string // by life, of the instances
		for life := range 3 {
			got := make(chan *action.Run, 8)
			act := func(ctx context.Context, r *action.Run) (coloured.Outcome, error) {
				got <- r
				<-ctx.Done()
				return coloured.Outcome{}, ctx.Err()
			}
			log := openJournal(t, dir)
			e := newEngine(t, Config{Source: "s", Nets: []NetConfig{working(t, "n", 1, Transition{Action: act, Idempotent: idempotent})}, Instances: 3,
				Workers: 1 + (life+1)%3, Journal: log})
			stop := alive(t, e)
			of := make([]string, 3)
			for range of {
				r := <-got
				of[r.Start.Instance] = r.Key
			}
			keys = append(keys, of)
			killed(e)
			stop()
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
		}
		seen := map[string]bool{}
		for life, of := range keys {
			if same := reflect.DeepEqual(of, keys[0]); life > 0 && same != idempotent {
				t.Errorf("idempotent %t: keys %q, and in life %d %q", idempotent, keys[0], life, of)
			}
			for _, key := range of {
				seen[key] = true
			}
		}
		if want := map[bool]int{true: 3, false: 9}[idempotent]; len(seen) != want {
			t.Errorf("idempotent %t: %d different keys in %q; want %d", idempotent, len(seen), keys, want)
		}
	}
}

// A replay that fails says where, what was found and what was expected; and that
// the journal is of another engine only if it is.
func TestErrorsOfAReplaySayWhatWasFound(t *testing.T) {
	for want, ops := range map[string][]byte{
		`commit 2 (0000000000000001.segment, offset `: {0, 9},
		`net "line": what was logged does not fit the net: instance 0 comes to rest while an immediate transition is enabled; expected none to be`: {0, 3},
		`9 where at most`: {0, 9},
		`a section of kind 8 with 1 bytes, where 1 bytes are left; expected a kind below`: nil,
	} {
		log := openJournal(t, t.TempDir())
		cfg := Config{Source: "s", Nets: []NetConfig{{Tables: petritest.Compile(t, line(3))}}, Instances: 1, Workers: 1, Journal: log}
		if err := cfg.header(log, 1_790_000_000_000_000); err != nil {
			t.Fatal(err)
		}
		commit := appendSection(appendTime(nil, 1_790_000_000_000_001), 0, ops)
		if ops == nil {
			commit = appendSection(appendTime(nil, 1_790_000_000_000_001), 8, []byte{1})
		}
		if _, err := log.Append(t.Context(), 1, commit); err != nil {
			t.Fatal(err)
		}
		_, err := New(cfg)
		if !errors.Is(err, ErrReplay) || errors.Is(err, ErrJournal) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
