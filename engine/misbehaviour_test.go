// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/stats"
)

// desk is a net with one piece of work, from in to out; aside is none of its
// places.
func desk(id string, tokens uint32) *petri.Net {
	return &petri.Net{ID: id, Places: []petri.Place{{ID: "in", Initial: tokens}, {ID: "out"}, {ID: "aside"}},
		Transitions: []petri.Transition{{ID: "work"}},
		Arcs:        []petri.Arc{{ID: "a", Source: "in", Target: "work", Weight: 1}, {ID: "b", Source: "work", Target: "out", Weight: 1}}}
}

// working is a desk's net whose work is an action.
func working(t testing.TB, id string, tokens uint32, tr Transition) NetConfig {
	return NetConfig{Tables: petritest.Compile(t, desk(id, tokens)), Transitions: []Transition{tr}}
}

// rowsOf returns the rows of a net as of now.
func rowsOf(t *testing.T, e *Engine, net int) *stats.Rows {
	t.Helper()
	tables := e.cfg.Nets[net].Tables
	rows := stats.NewRows(tables.Places(), tables.Transitions())
	if err := e.Rows(t.Context(), net, time.Now().UnixMicro(), rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// tally is what is counted of a transition's actions.
type tally struct{ Firings, Failures, Retries, Timeouts, Cancels, Late, Running uint64 }

func tallyOf(row *stats.Transition) tally {
	return tally{row.Firings, row.Failures, row.Retries, row.Timeouts, row.Cancels, row.Late, row.Running}
}

func markingOf(t *testing.T, e *Engine, net string, instance int) []uint32 {
	t.Helper()
	m, err := e.Marking(t.Context(), net, instance)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// steady fires after a second.
func steady(_ context.Context, _ *action.Run) (coloured.Outcome, error) {
	time.Sleep(time.Second)
	return coloured.Outcome{}, nil
}

func puts(p ...coloured.Put) action.Func {
	return func(context.Context, *action.Run) (coloured.Outcome, error) { return coloured.Outcome{Puts: p}, nil }
}

// misbehaviours are what an action must not do, with what is counted of it.
var misbehaviours = []struct {
	name   string
	do     func(release chan struct{}) action.Func
	counts tally // of one try
	log    string
}{
	{"it panics", func(chan struct{}) action.Func {
		return func(context.Context, *action.Run) (coloured.Outcome, error) { panic("no such order") }
	}, tally{Failures: 1}, "panic: no such order"},
	{"it ends its goroutine", func(chan struct{}) action.Func {
		return func(context.Context, *action.Run) (coloured.Outcome, error) {
			runtime.Goexit()
			return coloured.Outcome{}, nil
		}
	}, tally{Failures: 1}, "ended its goroutine"},
	{"it returns an error", func(chan struct{}) action.Func {
		return func(context.Context, *action.Run) (coloured.Outcome, error) {
			return coloured.Outcome{}, errors.New("no route")
		}
	}, tally{Failures: 1}, "no route"},
	{"it never returns", outlasts, tally{Timeouts: 1, Cancels: 1}, ""},
	{"it returns after its time", func(chan struct{}) action.Func {
		return func(ctx context.Context, _ *action.Run) (coloured.Outcome, error) {
			<-ctx.Done()
			time.Sleep(5 * time.Second)
			return coloured.Outcome{Puts: []coloured.Put{{Place: 1}, {Place: 1}}}, nil
		}
	}, tally{Timeouts: 1, Cancels: 1, Late: 1}, "the run is over"},
	{"it fails after its time", func(chan struct{}) action.Func {
		return func(ctx context.Context, _ *action.Run) (coloured.Outcome, error) {
			<-ctx.Done()
			return coloured.Outcome{}, ctx.Err()
		}
	}, tally{Timeouts: 1, Cancels: 1, Late: 1}, "the run is over"},
	{"it puts into a place that does not exist", func(chan struct{}) action.Func { return puts(coloured.Put{Place: 99}) }, tally{Failures: 1}, "which does not exist"},
	{"it puts into a place before the first", func(chan struct{}) action.Func { return puts(coloured.Put{Place: -1}) }, tally{Failures: 1}, "which does not exist"},
	{"it puts into a place that is no output", func(chan struct{}) action.Func { return puts(coloured.Put{Place: 1}, coloured.Put{Place: 2}) }, tally{Failures: 1}, "to which it has no arc"},
	{"it moves a token that it did not take", func(chan struct{}) action.Func { return puts(coloured.Put{Place: 1, Moved: 4711}) }, tally{Failures: 1}, "which it did not take"},
	{"it moves a token twice", func(chan struct{}) action.Func {
		return func(_ context.Context, r *action.Run) (coloured.Outcome, error) {
			id := r.Start.Taken[0].Token.ID
			return coloured.Outcome{Puts: []coloured.Put{{Place: 1, Moved: id}, {Place: 1, Moved: id}}}, nil
		}
	}, tally{Failures: 1}, "twice"},
	{"it puts too many tokens", func(chan struct{}) action.Func {
		return puts(make([]coloured.Put, coloured.MaxTaken+1)...)
	}, tally{Failures: 1}, "expected at most 1024"},
	{"it puts too much data", func(chan struct{}) action.Func {
		return func(context.Context, *action.Run) (coloured.Outcome, error) {
			return coloured.Outcome{Data: make([]byte, coloured.MaxData+1)}, nil
		}
	}, tally{Failures: 1}, "a token carries at most"},
	{"its outcome is of no kind", func(chan struct{}) action.Func {
		return func(context.Context, *action.Run) (coloured.Outcome, error) { return coloured.Outcome{Kind: 9}, nil }
	}, tally{Failures: 1}, "kind 9"},
}

// scene is how a run of two nets with five instances each came out, of which one
// instance may have misbehaved.
type scene struct {
	others [][]uint32 // markings of the other instances, of both nets
	beside *stats.Rows
	bad    *stats.Rows
	left   []uint32 // marking of the instance
	log    string
}

// theInstance is the one whose action misbehaves.
const theInstance = 2

// play plays with an action that misbehaves in the first tries; nil for none.
func play(t *testing.T, do func(release chan struct{}) action.Func, tries int) scene {
	var s scene
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		act := steady
		if do != nil {
			wrong := do(release)
			act = func(ctx context.Context, r *action.Run) (coloured.Outcome, error) {
				if r.Start.Instance == theInstance && r.Start.Attempt <= tries {
					return wrong(ctx, r)
				}
				return steady(ctx, r)
			}
		}
		var logged bytes.Buffer
		rule := Transition{Action: act, Timeout: 2 * time.Second, Retry: Retry{Attempts: 3}}
		besides := Transition{Action: steady, Timeout: 2 * time.Second}
		e := newEngine(t, Config{Source: "s", Nets: []NetConfig{working(t, "bad", 1, rule), working(t, "beside", 3, besides)}, Instances: 5, Workers: 2,
			Log: slog.New(slog.NewTextHandler(&logged, nil))})
		stop := start(t, e)
		time.Sleep(time.Minute)
		for _, net := range []string{"bad", "beside"} {
			for i := range 5 {
				if m := markingOf(t, e, net, i); i != theInstance || net != "bad" {
					s.others = append(s.others, m)
				} else {
					s.left = m
				}
			}
		}
		s.bad, s.beside = rowsOf(t, e, 0), rowsOf(t, e, 1)
		stop()
		close(release)
		synctest.Wait()
		s.log = logged.String()
	})
	return s
}

// Whatever an action does wrong is counted, its instance continues by its rule,
// and nothing else is affected.
func TestAnActionThatMisbehavesIsAnErrorRowAndTouchesNothingElse(t *testing.T) {
	want := play(t, nil, 0)
	for _, c := range misbehaviours {
		for _, tries := range []int{1, 3} {
			t.Run(fmt.Sprintf("%s %d times", c.name, tries), func(t *testing.T) {
				got := play(t, c.do, tries)
				if d := cmp.Diff(want.others, got.others); d != "" {
					t.Errorf("markings of the others (-without +with):\n%s", d)
				}
				if d := cmp.Diff(want.beside, got.beside); d != "" {
					t.Errorf("rows of the net beside (-without +with):\n%s", d)
				}
				n := uint64(tries)
				counts := tally{Firings: 5, Failures: n * c.counts.Failures, Timeouts: n * c.counts.Timeouts, Cancels: n * c.counts.Cancels, Late: n * c.counts.Late, Retries: n}
				left, failed := []uint32{0, 1, 0}, uint64(0)
				if tries == 3 { // as many as it may
					counts.Retries, counts.Firings, left, failed = 2, 4, []uint32{1, 0, 0}, 1
				}
				if d := cmp.Diff(counts, tallyOf(&got.bad.Transitions[0])); d != "" {
					t.Errorf("(-want +got):\n%s", d)
				}
				if d := cmp.Diff(left, got.left); d != "" {
					t.Errorf("marking of the instance (-want +got):\n%s", d)
				}
				if got.bad.Net.Failed != failed || got.bad.Net.Finished != 5-failed || got.bad.Net.Deadlocked != 0 {
					t.Errorf("%+v", got.bad.Net)
				}
				if (c.log == "") != (got.log == "") || !strings.Contains(got.log, c.log) {
					t.Errorf("logged %q; expected %q", got.log, c.log)
				}
			})
		}
	}
}

// Tokens that come back are as old as they were.
func TestTokensThatComeBackAreAsOldAsTheyWere(t *testing.T) {
	for _, c := range misbehaviours {
		got := play(t, c.do, 3)
		in := &got.bad.Places[0]
		if in.Tokens != 1 || in.Arrivals != 5 || in.Departures != 4 || in.Oldest != in.LastInjection {
			t.Errorf("%s: %d tokens since %d, %d came until %d, %d went", c.name, in.Tokens, in.Oldest, in.Arrivals, in.LastInjection, in.Departures)
		}
		if w := in.Stuck[0].Waits; len(w) != 1 || w[0].Reason != stats.ReasonIncident {
			t.Errorf("%s: it waits for %+v; expected an incident", c.name, w)
		}
	}
}

// An engine that ends because nothing is left to do ends after the actions that it has cancelled, so that it
// leaves no program of theirs behind. It leaves one that does not end within a second.
func TestAnEngineEndsAfterWhatItHasCancelled(t *testing.T) {
	for _, c := range []struct {
		rule  string
		takes time.Duration // after it was cancelled
		want  bool          // it has ended before the engine
		after time.Duration // the engine ends, from its start
	}{
		{"an action that ends when it is cancelled", 100 * time.Millisecond, true, time.Minute + 100*time.Millisecond},
		{"an action that hangs", time.Hour, false, time.Minute + stopGrace},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ended atomic.Bool
				nets := eventNets(t, processes(t, `<process id="p"><startEvent id="start"/>flow(start,w)<serviceTask id="w"/><boundaryEvent id="late" attachedToRef="w"><timerEventDefinition><timeDuration>PT1M</timeDuration></timerEventDefinition></boundaryEvent></process>`)...)
				declaredAt(t, nets, "w").Action = func(ctx context.Context, _ *action.Run) (coloured.Outcome, error) {
					<-ctx.Done()
					time.Sleep(c.takes)
					ended.Store(true)
					return coloured.Outcome{}, ctx.Err()
				}
				began := time.Now()
				runToEnd(t, newEngine(t, Config{Source: "s", Nets: nets, Instances: 1, Workers: 1, Firings: 1000}))
				if took := time.Since(began); ended.Load() != c.want || took.Round(time.Millisecond) != c.after {
					t.Errorf("the engine ended after %v, the action before it: %v; want %v, %v", took, ended.Load(), c.after, c.want)
				}
				time.Sleep(time.Hour) // its goroutine ends before the bubble
			})
		})
	}
}
