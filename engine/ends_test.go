// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri/petritest"
)

// ringOfWork is a ring whose transitions all perform an action.
func ringOfWork(t *testing.T, rule Transition) NetConfig {
	all := make([]Transition, 5)
	for i := range all {
		all[i] = rule
	}
	return NetConfig{Tables: petritest.Compile(t, petritest.Ring(5)), Transitions: all}
}

// sometimes misbehaves by chance: one in four fails, hangs till its time is
// over, is too early, or returns after its time.
func sometimes(ctx context.Context, r *action.Run) (coloured.Outcome, error) {
	switch (uint64(r.Start.Run)>>16*7 + uint64(r.Start.Instance)) % 16 {
	case 0:
		return coloured.Outcome{}, errors.New("no route")
	case 1:
		<-ctx.Done()
		return coloured.Outcome{}, ctx.Err()
	case 2:
		return coloured.Outcome{Kind: coloured.Delayed, After: 1e6}, nil
	case 3:
		<-ctx.Done()
		time.Sleep(time.Second)
	}
	return coloured.Outcome{}, nil
}

func TestFiringsWithActionsStopTheEngineExactly(t *testing.T) {
	for name, act := range map[string]action.Func{"all succeed": fires, "all take a second": steady, "some do not fire": sometimes} {
		for _, c := range []struct{ workers, instances, firings, actions int }{{1, 1, 1, 1}, {1, 1, 50, 1}, {1, 7, 1000, 3}, {2, 7, 1001, 100}, {3, 50, 1234, 2}, {4, 4, 3, 9}} {
			for _, d := range []*Dispatch{nil, {}} {
				t.Run(fmt.Sprintf("%s, %+v, %v", name, c, d), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						rule := Transition{Action: act, Timeout: 10 * time.Second, Retry: Retry{First: time.Second, Factor: 1}}
						e := newEngine(t, Config{Source: "s", Nets: []NetConfig{ringOfWork(t, rule)}, Instances: c.instances, Workers: c.workers, Firings: c.firings, Actions: c.actions, Dispatch: d})
						runToEnd(t, e)
						r, err := e.Report(t.Context())
						if err != nil || r.Firings != uint64(c.firings) {
							t.Errorf("%v, %d firings", err, r.Firings)
						}
						rows := rowsOf(t, e, 0)
						for i := range rows.Transitions {
							if n := rows.Transitions[i].Running; n > 0 {
								t.Errorf("%d are running", n)
							}
						}
						time.Sleep(time.Minute) // those that return after their time
					})
				})
			}
		}
	}
}

// What cannot fire is not waited for, and more than the limit never fires.
func TestFiringsThatActionsDoNotReachEndTheEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		act := func(_ context.Context, r *action.Run) (coloured.Outcome, error) {
			if r.Start.Instance%2 == 0 {
				return coloured.Outcome{}, errors.New("no route")
			}
			return coloured.Outcome{}, nil
		}
		e := newEngine(t, Config{Source: "s", Nets: []NetConfig{working(t, "n", 4, Transition{Action: act, Retry: Retry{Attempts: 3}})}, Instances: 10, Workers: 3, Firings: 1000})
		runToEnd(t, e)
		if got := tallyOf(&rowsOf(t, e, 0).Transitions[0]); got != (tally{Firings: 20, Failures: 5 * 3 * 4, Retries: 5 * 2 * 4}) {
			t.Errorf("%+v", got)
		}
	})
}

// The last firing hangs: its time ends it, although no firing is left.
func TestTimeOutsTakeEffectWhenAllFiringsAreUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		act := func(ctx context.Context, r *action.Run) (coloured.Outcome, error) {
			if r.Start.Attempt == 1 {
				return outlasts(release)(ctx, r)
			}
			return coloured.Outcome{}, nil
		}
		begun := time.Now()
		e := newEngine(t, Config{Source: "s", Nets: []NetConfig{working(t, "n", 1, Transition{Action: act, Timeout: 5 * time.Second})}, Instances: 1, Workers: 1, Firings: 1})
		runToEnd(t, e)
		if d := time.Since(begun); d != 6*time.Second {
			t.Errorf("it took %s; expected the time of the action and a second", d)
		}
		if got := tallyOf(&rowsOf(t, e, 0).Transitions[0]); got != (tally{Firings: 1, Retries: 1, Timeouts: 1, Cancels: 1}) {
			t.Errorf("%+v", got)
		}
		close(release)
		synctest.Wait()
		if got := rowsOf(t, e, 0).Transitions[0].Late; got != 1 {
			t.Errorf("%d came late; expected 1, also after the end", got)
		}
	})
}

// Firings by hand are not of the limit, so those that fail give nothing back.
func TestFiringsByHandAreNotOfTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := desk("n", 40)
		net.Transitions = append(net.Transitions, net.Transitions[0])
		net.Transitions[1].ID = "by hand"
		net.Arcs = append(net.Arcs, net.Arcs[0])
		net.Arcs[2].ID, net.Arcs[2].Target = "c", "by hand"
		failing := func(context.Context, *action.Run) (coloured.Outcome, error) {
			time.Sleep(time.Second)
			return coloured.Outcome{}, errors.New("no route")
		}
		e := newEngine(t, Config{Source: "s", Nets: []NetConfig{{Tables: petritest.Compile(t, net), Transitions: []Transition{
			{Mode: plain.Mode{Kind: plain.Delayed, Delay: plain.Delay{A: 1e6}}}, {Mode: plain.Mode{Kind: plain.Manual}, Action: failing, Retry: Retry{Attempts: 1}}}}},
			Instances: 1, Workers: 1, Firings: 20})
		done := make(chan struct{})
		go func() { defer close(done); runToEnd(t, e) }()
		for range 10 {
			time.Sleep(1500 * time.Millisecond)
			if err := e.Fire(t.Context(), "n", 0, "by hand"); err != nil {
				t.Error(err)
			}
		}
		<-done
		rows := rowsOf(t, e, 0)
		if rows.Transitions[0].Firings != 20 || rows.Transitions[1].Failures != 10 {
			t.Errorf("%d firings, %d failures; expected 20, 10", rows.Transitions[0].Firings, rows.Transitions[1].Failures)
		}
	})
}

// An engine that stops cancels its actions, waits a second for them, and puts
// back what they do not end: a cancel, not a failure.
func TestActionsMayEndWhileTheEngineStops(t *testing.T) {
	for _, c := range []struct {
		name string
		act  action.Func
		wait time.Duration // of Run, for the action
		want tally
		left []uint32
	}{
		{"it ends with its context", func(ctx context.Context, _ *action.Run) (coloured.Outcome, error) {
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), ErrEngineStopped) {
				t.Errorf("ended with %v", context.Cause(ctx))
			}
			return coloured.Outcome{}, ctx.Err()
		}, 0, tally{Cancels: 3}, []uint32{1, 0, 0}},
		{"it completes in time", func(ctx context.Context, _ *action.Run) (coloured.Outcome, error) {
			<-ctx.Done()
			time.Sleep(900 * time.Millisecond)
			return coloured.Outcome{}, nil
		}, 900 * time.Millisecond, tally{Firings: 3}, []uint32{0, 1, 0}},
		{"it panics on its way out", func(ctx context.Context, _ *action.Run) (coloured.Outcome, error) {
			<-ctx.Done()
			panic("stopped")
		}, 0, tally{Cancels: 3}, []uint32{1, 0, 0}},
		{"it takes longer", func(ctx context.Context, _ *action.Run) (coloured.Outcome, error) {
			<-ctx.Done()
			time.Sleep(5 * time.Second)
			return coloured.Outcome{}, nil
		}, time.Second, tally{Cancels: 3}, []uint32{1, 0, 0}},
		{"it never returns", nil, time.Second, tally{Cancels: 3}, []uint32{1, 0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				act, release := c.act, make(chan struct{})
				if act == nil {
					act = outlasts(release)
				}
				e := newEngine(t, Config{Source: "s", Nets: []NetConfig{working(t, "n", 1, Transition{Action: act})}, Instances: 3, Workers: 1, Actions: 2})
				begun := time.Now().UnixMicro()
				stop := start(t, e)
				time.Sleep(time.Minute)
				stopping := time.Now()
				stop()
				if took := time.Since(stopping); took != c.wait {
					t.Errorf("it took %s, want %s", took, c.wait)
				}
				rows := rowsOf(t, e, 0)
				want := c.want
				if c.name == "it completes in time" { // the third waited for room, and was not begun
					want = tally{Firings: 2, Cancels: 1}
				}
				if d := cmp.Diff(want, tallyOf(&rows.Transitions[0])); d != "" {
					t.Errorf("(-want +got):\n%s", d)
				}
				if want.Cancels == 3 && (rows.Places[0].Tokens != 3 || rows.Places[0].Oldest != begun) {
					t.Errorf("%+v", rows.Places[0])
				}
				close(release)
				time.Sleep(time.Minute)
				synctest.Wait()
				if got := rowsOf(t, e, 0); got.Transitions[0].Firings != want.Firings {
					t.Errorf("%d firings after the end", got.Transitions[0].Firings)
				}
			})
		})
	}
}

// An action that is started by a call at the moment the engine stops goes back
// like the others, and one started after it is not begun.
//
//promise:refused stop
func TestFiringAnActionOfAnEngineThatHasStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tried := 0
		act := func(context.Context, *action.Run) (coloured.Outcome, error) { tried++; return coloured.Outcome{}, nil }
		e := newEngine(t, Config{Source: "s", Nets: []NetConfig{working(t, "n", 1, Transition{Mode: plain.Mode{Kind: plain.Manual}, Action: act})}, Instances: 1, Workers: 1})
		stop := start(t, e)
		synctest.Wait()
		stop()
		if err := e.Fire(t.Context(), "n", 0, "work"); err != nil {
			t.Fatal(err)
		}
		if got := tallyOf(&rowsOf(t, e, 0).Transitions[0]); got != (tally{Cancels: 1}) || tried > 0 {
			t.Errorf("%+v, tried %d times", got, tried)
		}
	})
}

// brokenLog is a journal whose disk is full after a number of commits.
type brokenLog struct {
	journal.Log
	left int
}

var errDisk = errors.New("no space left")

func (l *brokenLog) Append(ctx context.Context, last uint64, payloads ...[]byte) (uint64, error) {
	if l.left--; l.left < 0 {
		return 0, errDisk
	}
	return l.Log.Append(ctx, last, payloads...)
}

// An engine that cannot write its journal any more ends, and with it its
// actions.
func TestActionsEndWithAnEngineThatCannotWriteItsJournal(t *testing.T) {
	log := openJournal(t, t.TempDir())
	defer log.Close()
	synctest.Test(t, func(t *testing.T) {
		ended := 0
		act := func(ctx context.Context, r *action.Run) (coloured.Outcome, error) {
			if r.Start.Instance == 0 {
				<-ctx.Done()
				ended++
				return coloured.Outcome{}, ctx.Err()
			}
			time.Sleep(time.Second)
			return coloured.Outcome{}, nil
		}
		e := newEngine(t, Config{Source: "s", Nets: []NetConfig{working(t, "n", 1, Transition{Action: act})}, Instances: 2, Workers: 1, Journal: &brokenLog{log, 3}}) // the header, the owner, the starts
		if err := e.Run(t.Context()); !errors.Is(err, errDisk) {
			t.Errorf("got %v, want %v", err, errDisk)
		}
		synctest.Wait()
		if ended != 1 {
			t.Error("an action is still running")
		}
	})
}
