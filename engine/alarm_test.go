// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/stats"
)

// delayed is an engine of rings of two places, each of whose transitions has a delay.
func delayed(t *testing.T, cfg Config, d plain.Delay, guard coloured.Guard) *Engine {
	tr := Transition{Mode: plain.Mode{Kind: plain.Delayed, Delay: d}, Guard: guard}
	cfg.Source, cfg.Nets = "s", []NetConfig{{Tables: petritest.Compile(t, petritest.Ring(2)), Transitions: []Transition{tr, tr}}}
	return newEngine(t, cfg)
}

func firingsOf(t *testing.T, e *Engine) uint64 {
	t.Helper()
	rows := rowsOf(t, e, 0)
	return rows.Transitions[0].Firings + rows.Transitions[1].Firings
}

// What is due is played without waking its workers; if it is much, they continue.
func TestOnlyMuchThatIsDueWakesAWorker(t *testing.T) {
	for _, c := range []struct {
		name      string
		instances int
		delay     plain.Delay
		least     int // guards that workers themselves evaluate in 10 s, after the first second
		most      int
	}{
		{"little at once", 1000, plain.Delay{Shape: plain.Uniform, A: 100_000, B: 900_000}, 0, 0},
		{"two thousand at once", 2000, plain.Delay{A: 500_000}, 20_000, math.MaxInt},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var e *Engine
				var counts atomic.Bool
				alone := 0
				guard := func([]coloured.Placed, int64) coloured.Verdict {
					if counts.Load() && !slices.ContainsFunc(e.workers, func(w *worker) bool { return w.waiting }) {
						alone++
					}
					return coloured.Verdict{OK: true}
				}
				e = delayed(t, Config{Instances: c.instances, Workers: 1}, c.delay, guard)
				stop := start(t, e)
				time.Sleep(time.Second)
				counts.Store(true)
				time.Sleep(10 * time.Second)
				counts.Store(false)
				stop()
				if fired := firingsOf(t, e); fired < uint64(19*c.instances) {
					t.Errorf("%d firings; want at least %d", fired, 19*c.instances)
				}
				if alone < c.least || alone > c.most {
					t.Errorf("%d guards were evaluated by workers that were woken; want %d to %d", alone, c.least, c.most)
				}
			})
		})
	}
}

// To read the rows of an engine that waits wakes none of its workers, and holds up nothing that is
// due.
func TestALookDoesNotWakeAWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := delayed(t, Config{Instances: 1000, Workers: 2}, plain.Delay{Shape: plain.Uniform, A: 100_000, B: 900_000}, nil)
		stop := start(t, e)
		time.Sleep(time.Millisecond)
		for _, w := range e.workers {
			waited := false
			if err := e.look(t.Context(), w, func(int64) { waited = w.waiting }); err != nil || !waited {
				t.Errorf("the worker waits during a look: %v, %v", waited, err)
			}
		}
		var readers sync.WaitGroup
		for range 3 {
			readers.Go(func() {
				for range 400 {
					if err := e.Rows(t.Context(), 0, 0, stats.NewRows(2, 2)); err != nil {
						t.Error(err)
						return
					}
					time.Sleep(25 * time.Millisecond)
				}
			})
		}
		readers.Wait()
		stop()
		if fired := firingsOf(t, e); fired < 19_400 {
			t.Errorf("%d firings while the rows were read; want at least 19400", fired)
		}
	})
}

// The time that a limit of firings leaves, and calls, end as before while the alarm plays.
func TestAnEngineThatWaitsByTimersOfTheSystem(t *testing.T) {
	const firings = 2000
	e := delayed(t, Config{Instances: 200, Workers: 2, Firings: firings, ThreadTimer: true}, plain.Delay{Shape: plain.Exponential, A: 10_000}, nil)
	var injections sync.WaitGroup
	injections.Go(func() {
		for i := range 200 {
			if err := e.Inject(t.Context(), e.cfg.Nets[0].Tables.Net.ID, i, "p0", 1); err != nil {
				t.Error(err)
			}
		}
	})
	if err := e.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	injections.Wait()
	if fired := firingsOf(t, e); fired != firings {
		t.Errorf("%d firings; want %d", fired, firings)
	}
	tokens := uint64(0)
	for _, p := range rowsOf(t, e, 0).Places {
		tokens += p.Tokens
	}
	if tokens != 400 {
		t.Errorf("%d tokens; want 400", tokens)
	}
}
