// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri/petritest"
)

// One wake-up fires what is due within 1 % of its delay, at most 5 ms. Nothing fires early.
func TestOneWakeUpFiresMany(t *testing.T) {
	long := plain.Delay{Shape: plain.Uniform, A: 100_000, B: 900_000} // µs
	guarded := Transition{Mode: plain.Mode{Kind: plain.Delayed, Delay: long}, Guard: always}
	for _, c := range []struct {
		name      string
		instances int
		each      Transition
		wakes     int     // at most, in 10 s
		firings   float64 // at least
	}{
		{"delays of half a second", 1000, fire(plain.Mode{Kind: plain.Delayed, Delay: long})[0], 2100, 19_400},
		{"the same with a guard", 1000, guarded, 2100, 19_400},
		{"a delay of 10 ms keeps its pace", 1, fire(plain.Mode{Kind: plain.Delayed, Delay: plain.Delay{A: 10_000}})[0], 1010, 990},
		{"many more than are looked at", 5000, fire(plain.Mode{Kind: plain.Delayed, Delay: long})[0], 5000, 97_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				seen := map[int64]bool{} // times of the clock
				clock := func() int64 {
					now := time.Now().UnixMicro()
					mu.Lock()
					defer mu.Unlock()
					seen[now] = true
					return now
				}
				e := newEngine(t, Config{Source: "s", Clock: clock, Instances: c.instances, Workers: 2,
					Nets: []NetConfig{{Tables: petritest.Compile(t, petritest.Ring(2)), Transitions: []Transition{c.each, c.each}}}})
				stop := start(t, e)
				time.Sleep(10 * time.Second)
				stop()
				fired := rowsOf(t, e, 0).Transitions[0].Firings + rowsOf(t, e, 0).Transitions[1].Firings
				if len(seen) > c.wakes || float64(fired) < c.firings {
					t.Errorf("%d wake-ups for %d firings; expected at most %d, for at least %.0f", len(seen), fired, c.wakes, c.firings)
				}
			})
		})
	}
}

// A worker sleeps until a step that all its nets allow, and never shorter than until
// something is due.
func TestAWorkerSleepsUntilAStep(t *testing.T) {
	fixed := func(µs float64) Transition {
		return fire(plain.Mode{Kind: plain.Delayed, Delay: plain.Delay{A: µs}})[0]
	}
	for _, c := range []struct {
		name string
		nets []Transition
		want int64
	}{
		{"half a second, rounded up to 5 ms", []Transition{fixed(501_234)}, 505_000},
		{"as it is", []Transition{fixed(505_000)}, 505_000},
		{"a tenth of a second, to 1 ms", []Transition{fixed(100_200)}, 101_000},
		{"less: as late as it may be", []Transition{fixed(10_050)}, 10_150},
		{"the other net allows less", []Transition{fixed(600_000), fixed(99_900)}, 100_000},
		{"nothing is due", []Transition{{Mode: plain.Mode{Kind: plain.Manual}}}, 0},
		{"with a guard", []Transition{{Mode: plain.Mode{Kind: plain.Delayed, Delay: plain.Delay{A: 501_234}}, Guard: always}}, 505_000},
		{"a time", []Transition{{Mode: plain.Mode{Kind: plain.Delayed}, Due: func(since int64) int64 { return since + 201_500 }}}, 202_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := Config{Source: "s", Instances: 1, Workers: 1, Clock: func() int64 { return 0 }}
			for i, tr := range c.nets {
				net := desk(string(rune('a'+i)), 1)
				cfg.Nets = append(cfg.Nets, NetConfig{Tables: petritest.Compile(t, net), Transitions: []Transition{tr}})
			}
			w := newEngine(t, cfg).workers[0]
			for _, s := range w.shards {
				s.Step(100, 0)
			}
			if got, ok := w.wakeAt(); got != c.want || ok != (c.want > 0) {
				t.Errorf("until %d µs, %v; expected %d", got, ok, c.want)
			}
		})
	}
}

// Retries, and guards that ask to be called again, may be late by a part of their waits too.
func TestRetriesMayBeLateByAPartOfTheirWaits(t *testing.T) {
	now := int64(1_000_000)
	again := func([]coloured.Placed, int64) coloured.Verdict {
		return coloured.Verdict{Again: now + 150_300}
	}
	e := newEngine(t, Config{Source: "s", Instances: 1, Workers: 1, Clock: func() int64 { return now },
		Nets: []NetConfig{{Tables: petritest.Compile(t, desk("n", 1)), Transitions: []Transition{{Guard: again}}}}})
	w := e.workers[0]
	w.shards[0].Step(100, now)
	if got, ok := w.wakeAt(); got != now+151_000 || !ok {
		t.Errorf("until %d µs, %v; expected %d", got, ok, now+151_000)
	}
}
