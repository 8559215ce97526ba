// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/stats"
)

func after(d float64) Binding {
	return Binding{Mode: plain.Mode{Kind: plain.Delayed, Delay: plain.Delay{A: d}}}
}

// A delay counts from when the transition became enabled, without interruption.
func TestDelayStartsAgainAfterAnInterruption(t *testing.T) {
	w := newWorld(t, build("p:1 stop q", "late clear", "p>late late>q stop|late stop>clear"), after(10e6), manual)
	w.waitsFor("p", "late delayed +10000000")
	w.step(9e6)
	w.inject("stop", "x") // inhibits
	if _, ok := w.s.NextDue(); ok {
		t.Error("an inhibited transition has a due time")
	}
	w.waitsFor("p", "late inhibited stop 1")
	w.step(3e6)
	if err := w.fire(1, ""); err != nil {
		t.Fatal(err)
	}
	if n := w.step(0); n != 0 {
		t.Errorf("%d firings at 12 s", n)
	}
	if due, ok := w.s.NextDue(); !ok || due != now0+22e6 {
		t.Errorf("due %d %v, want 22 s", due-now0, ok)
	}
	w.step(1e6)
	if tr := rowsOf(w.s, w.now).Transitions[0]; tr.Enabled != 1 || tr.EnabledSince != now0+12e6 {
		t.Errorf("enabled %d since %d", tr.Enabled, tr.EnabledSince-now0)
	}
	w.step(9e6 - 1)
	w.want("p: #1")
	w.step(1)
	w.want("q: #3")
}

// The clock starts with the injection of the last token that the transition
// needs, so a restart finds the same start. It starts again after a firing.
func TestDelayCountsFromTheLastTokenItNeeds(t *testing.T) {
	w := newWorld(t, build("p q r", "late", "p>late q>late late>r"), after(1000))
	w.inject("p", "a")
	w.now += 400
	if err := w.s.Inject(0, 1, nil, 2, w.now); err != nil {
		t.Fatal(err)
	}
	w.now += 300 // nothing was played meanwhile
	if err := w.s.Inject(0, 0, nil, 1, w.now); err != nil {
		t.Fatal(err)
	}
	w.step(0)
	w.waitsFor("p", "late delayed +1400")
	w.step(700)
	w.waitsFor("p", "late delayed +2400")
	w.step(999)
	if n := w.s.Rec.Firings(); n != 1 {
		t.Fatalf("%d firings", n)
	}
	w.step(1)
	if w.s.Rec.Firings() != 2 {
		t.Fatal("the second is not over")
	}
}

func TestDueReturnsWhen(t *testing.T) {
	b := after(5)
	b.Due = func(since int64) int64 { return (since/1e6 + 1) * 1e6 } // at the next full second
	w := newWorld(t, build("p q", "t", "p>t t>q"), b)
	w.step(300_000)
	w.inject("p", "a")
	w.waitsFor("p", "t delayed +1000000")
	w.step(700_000)
	w.want("q: a")
}

// A delayed transition with a guard has a clock only while the guard is true.
func TestDelayedGuard(t *testing.T) {
	b := after(1000)
	b.Guard = has("b")
	w := newWorld(t, build("p q", "t u", "p>t t>q p>u"), b, manual)
	w.inject("p", "a")
	w.waitsFor("p", "t guarded, u manual")
	w.step(10)
	w.inject("p", "b")
	w.waitsFor("p", "t delayed +1010, u manual")
	w.step(1000)
	w.want("p: a; q: b")
}

func TestDelayedActionThatFailsWaitsForItsRetryNotItsDelay(t *testing.T) {
	b := after(1000)
	b.Action, b.Retry = true, Retry{First: 10}
	w := newWorld(t, build("p q", "t", "p>t t>q"), b)
	w.inject("p", "a")
	w.step(1000)
	w.done(w.started().Run, Outcome{Kind: Failed})
	w.waitsFor("p", "t delayed +1010")
	w.step(10)
	st := w.started()
	if st.Attempt != 2 {
		t.Errorf("attempt %d", st.Attempt)
	}
	w.done(st.Run, Outcome{})
	w.want("q: a")
}

func TestSourceTransitionsFireByTimerOrFromOutside(t *testing.T) {
	w := newWorld(t, build("p", "arrive ask", "arrive>p ask>p"), after(100))
	w.step(100)
	w.step(100)
	if n := w.s.Rec.Firings(); n != 2 {
		t.Errorf("%d firings, want 2", n)
	}
	if err := w.fire(1, "x"); err != nil {
		t.Fatal(err)
	}
	w.want("p: #1 #2 x")
	if net := rowsOf(w.s, w.now).Net; net != (stats.NetRow{Created: 1, Active: 1}) {
		t.Errorf("net %+v", net)
	}
}

func TestRestingInstanceIsFinishedOrDeadlocked(t *testing.T) {
	for _, c := range []struct {
		rule, places, arcs string
		want               stats.NetRow
	}{
		{"tokens only where nothing needs them: finished", "p:1 q", "p>t t>q", stats.NetRow{Created: 2, Finished: 2}},
		{"a token that a transition needs: deadlocked", "p:1 q", "p>t*2 t>q", stats.NetRow{Created: 2, Active: 2, Deadlocked: 2}},
		{"a token that a join needs: deadlocked", "p:1 q:1 r", "p?t q>t*2 t>r", stats.NetRow{Created: 2, Active: 2, Deadlocked: 2}},
		{"no tokens and nothing done: not begun", "p q", "p>t t>q", stats.NetRow{Created: 2, Active: 2}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			s := newShard(t, Config{Tables: petritest.Compile(t, build(c.places, "t", c.arcs)), Count: 2})
			s.Step(100, now0)
			s.wake(0, now0)
			s.Step(100, now0) // playing again changes nothing
			if d := gocmp.Diff(c.want, rowsOf(s, now0).Net); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestInjectionWakesWhatIsAtRest(t *testing.T) {
	w := newWorld(t, build("p:1 q", "t", "p>t*2 t>q"))
	w.waitsFor("p", "t dead, t missing p 1")
	w.inject("p", "a")
	if d := gocmp.Diff(stats.NetRow{Created: 1, Finished: 1}, rowsOf(w.s, w.now).Net); d != "" {
		t.Error(d)
	}
	w.inject("p", "a", "b")
	if d := gocmp.Diff(stats.NetRow{Created: 2, Finished: 2}, rowsOf(w.s, w.now).Net); d != "" {
		t.Errorf("started again: %s", d)
	}
}

func TestLookListsWhatHoldsOldTokensBack(t *testing.T) {
	n := build("p:1 full:5 q", "t g", "p>t*2 full|t*3 t>q p>g")
	s := newShard(t, Config{Tables: petritest.Compile(t, n), Bindings: []Binding{{}, {Guard: has("x")}}, Count: 7})
	s.Step(100, now0)
	if b := rowsOf(s, now0+stats.BlockedAfter-1).Blocks; b != nil {
		t.Errorf("young tokens are blocked: %v", b)
	}
	want := []stats.Block{{Transition: 0, Place: 0, Reason: stats.ReasonMissing, Instances: 7}, {Transition: 0, Place: 1, Reason: stats.ReasonInhibited, Instances: 7},
		{Transition: 1, Place: -1, Reason: stats.ReasonGuarded, Instances: 7}}
	if d := gocmp.Diff(want, rowsOf(s, now0+stats.BlockedAfter).Blocks); d != "" {
		t.Error(d)
	}
}
