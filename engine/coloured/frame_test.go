// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/petri/split"
)

// Each firing into a scope opens a run of it, for all tokens that the firing puts there.
func TestAFiringOpensOneRunOfAScope(t *testing.T) {
	w := newWorld(t, build("p x@s y@s z@s.u done", "enter join leave^1", "p>enter enter>x enter>y enter>z x>join y>join z>leave leave>done"), Binding{}, manual)
	w.inject("p", "a", "b")
	w.want("done: a b; x/1: a; y/1: a; x/3: b; y/3: b")
	if err := w.fire(1, ""); err != nil {
		t.Fatal(err)
	}
	w.want("done: a b; x/3: b; y/3: b")
}

// A run does not take the tokens of another one, and its inhibitor arcs do not see them.
func TestRunsOfAScopeAreApart(t *testing.T) {
	w := newWorld(t, build("p a@s b@s done", "enter step end", "p>enter enter>a*2 a>step step>b b>end*2 b|end*3 end>done"), Binding{}, manual)
	w.inject("p", "1", "2")
	w.want("a/1: 1 1; a/2: 2 2")
	for _, run := range []uint32{1, 2, 2} {
		if err := w.s.FireIn(0, 1, run, nil, w.now); err != nil {
			t.Fatal(err)
		}
		w.step(0)
	}
	w.want("done: 2; a/1: 1; b/1: 1")
	if err := w.s.FireIn(0, 1, 2, nil, w.now); !errors.Is(err, petri.ErrNotEnabled) {
		t.Errorf("in a run that is over: %v", err)
	}
	if err := w.fire(1, ""); err != nil {
		t.Fatal(err)
	}
	w.want("done: 2 1")
}

// What happens in one run has the shard look again at that run, and not at those beside it: thousands may wait.
func TestAChangeInARunLeavesTheRunsBesideItAlone(t *testing.T) {
	w := newWorld(t, build("p a@s b@s done", "enter step end", "p>enter enter>a a>step step>b b>end end>done"), Binding{}, manual, manual)
	w.inject("p", slices.Repeat([]string{"x"}, 50)...)
	for run := range uint32(50) {
		if err := w.s.FireIn(0, 1, run+1, nil, w.now); err != nil {
			t.Fatal(err)
		}
		if again := w.s.frames[0].changed; len(again) != 1 || again[0].number != run+1 {
			t.Fatalf("after a firing in run %d the shard looks again at %d of 50 runs; expected that run", run+1, len(again))
		}
		w.step(0)
	}
}

// A reset arc empties a place in its own run and inside of it, not in other runs.
func TestAResetCoversItsRunAndWhatIsInside(t *testing.T) {
	w := newWorld(t, build("p s@s t@s u@s.u v@s.u.v out", "enter stop deep", "p>enter enter>s enter>t enter>u enter>v t>stop u#stop v#stop stop>out u>deep s|deep"), Binding{}, manual)
	w.inject("p", "1", "2")
	w.want("s/1: 1; t/1: 1; u/2: 1; v/3: 1; s/4: 2; t/4: 2; u/5: 2; v/6: 2")
	if err := w.s.FireIn(0, 1, 4, nil, w.now); err != nil {
		t.Fatal(err)
	}
	w.step(0)
	w.want("out: 2; s/1: 1; t/1: 1; u/2: 1; v/3: 1; s/4: 2")
}

// A transition takes tokens of the scopes around the run in which it acts, and puts them there.
func TestARunSeesTheTokensAround(t *testing.T) {
	w := newWorld(t, build("p count sum@s item@s.i", "enter add", "p>enter enter>sum enter>item*2 item>add sum>add add>sum add>count"), Binding{})
	w.inject("p", "a")
	w.want("count: a a; sum/1: a")
}

// An inhibitor arc from an inner scope looks at all runs inside its own.
func TestCompletionWaitsForAllRunsInside(t *testing.T) {
	w := newWorld(t, build("p wait@s item@s.i done", "enter more step end", "p>enter enter>wait wait>more more>wait more>item item>step wait>end item|end end>done"),
		Binding{}, manual, manual, manual)
	w.inject("p", "a", "b")
	for range 2 {
		if err := w.s.FireIn(0, 1, 1, nil, w.now); err != nil {
			t.Fatal(err)
		}
	}
	w.step(0)
	w.want("wait/1: a; wait/2: b; item/3: a; item/4: a")
	if err := w.s.FireIn(0, 3, 1, nil, w.now); !errors.Is(err, petri.ErrNotEnabled) {
		t.Errorf("it ends before what is inside: %v", err)
	}
	if err := w.fire(3, ""); err != nil {
		t.Fatal(err)
	}
	w.want("done: b; wait/1: a; item/3: a; item/4: a")
}

// Each run has its own clock, and its own incidents.
func TestClocksAndIncidentsAreOfARun(t *testing.T) {
	timer := Binding{Mode: plain.Mode{Kind: plain.Delayed, Delay: plain.Delay{A: 100}}}
	w := newWorld(t, build("p a@s late done", "enter timer work", "p>enter enter>a a>timer timer>late a>work work>done"), Binding{}, timer,
		Binding{Mode: manual.Mode, Action: true, Retry: Retry{Attempts: 1}})
	w.inject("p", "1")
	w.step(60)
	w.inject("p", "2")
	if err := w.s.FireIn(0, 2, 2, nil, w.now); err != nil {
		t.Fatal(err)
	}
	w.done(w.started().Run, Outcome{Kind: Failed})
	w.waitsFor("a", "timer delayed +100, work manual")
	w.step(40)
	w.want("late: 1; a/2: 2")
	w.waitsFor("a", "timer delayed +160, work incident")
	w.step(60)
	w.want("late: 1 2")
}

// A token waits for what is missing in its own run.
func TestWaitsNameWhatTheRunLacks(t *testing.T) {
	w := newWorld(t, build("p q a@s b@s c", "enter both out other", "p>enter enter>a a>both b>both both>c q>out b>out"), Binding{}, Binding{}, Binding{})
	w.inject("b", "1")
	w.inject("p", "2")
	w.waitsFor("a", "both missing b 1")
	w.inject("q", "3")
	w.want("a/2: 2")
	w.inject("q", "4")
	w.waitsFor("q", "out missing b 1")
}

// An instance ends if all its tokens are in final places, also those in scopes.
func TestAnInstanceEndsWithItsScopes(t *testing.T) {
	w := newWorld(t, build("p a@s b@s", "enter out", "p>enter enter>a a>out out>b"), Binding{}, manual)
	w.inject("p", "1", "2")
	if err := w.fire(1, ""); err != nil {
		t.Fatal(err)
	}
	if n := rowsOf(w.s, w.now).Net; n.Finished != 0 {
		t.Errorf("%+v", n)
	}
	if err := w.fire(1, ""); err != nil {
		t.Fatal(err)
	}
	if n := rowsOf(w.s, w.now).Net; n.Finished != 1 {
		t.Errorf("%+v", n)
	}
	if m := w.s.Marking(0); !slices.Equal(m, []uint32{0, 0, 2}) {
		t.Errorf("marking %v", m)
	}
}

func TestNewRefusesScopesThatItCannotPlay(t *testing.T) {
	n := build("p a@s b", "enter read", "p>enter enter>a a~read b>read")
	tables := petritest.Compile(t, n)
	_, err := New(Config{Tables: tables, Bindings: []Binding{{}, {Action: true}}, Stride: 1, Count: 1}, now0)
	if !errors.Is(err, ErrBinding) || !strings.Contains(err.Error(), `an action, but it takes no token of its scope`) {
		t.Errorf("an action that only reads in its scope: %v", err)
	}
	part := &split.Part{Name: "x", Transitions: []bool{true, false}, Places: []bool{true, false, false}}
	if _, err := New(Config{Tables: tables, Part: part, Stride: 1, Count: 1}, now0); err == nil || !strings.Contains(err.Error(), "has scopes") {
		t.Errorf("a part: %v", err)
	}
}

// A change in one run does not ask a guard again that rejected the tokens of another.
func TestAGuardIsAskedForItsRun(t *testing.T) {
	asked := map[string]int{}
	no := func(tokens []Placed, _ int64) Verdict {
		asked[string(tokens[0].Token.Data)]++
		return Verdict{}
	}
	w := newWorld(t, build("p a@s", "enter guarded", "p>enter enter>a a>guarded"), Binding{}, Binding{Guard: no})
	w.inject("p", "1")
	w.inject("p", "2")
	w.inject("p", "3")
	if asked["1"] != 1 || asked["2"] != 1 || asked["3"] != 1 {
		t.Errorf("asked %v", asked)
	}
}

// A log puts tokens only where the firing could put them.
func TestReplayRefusesTheRunOfAnotherFiring(t *testing.T) {
	n := build("p a@s b@s", "enter step", "p>enter enter>a a>step step>b")
	w := newWorld(t, n, Binding{}, manual)
	w.inject("p", "1", "2")
	again := newWorld(t, n, Binding{}, manual)
	if err := again.s.Replay(w.s.Ready().Log, now0); err != nil {
		t.Fatal(err)
	}
	if err := w.s.FireIn(0, 1, 1, nil, w.now); err != nil {
		t.Fatal(err)
	}
	log := slices.Clone(w.s.Ready().Log)
	at := len(log) - 4 // before the identity, the number and the data of the last lot
	if log[at] != 1 {
		t.Fatalf("the log is %v", log)
	}
	log[at] = 2
	if err := again.s.Replay(log, now0); !errors.Is(err, ErrLog) {
		t.Errorf("got %v", err)
	}
}

// An event for all fires its catcher in each run of its scope, also if that takes a token around
// and puts it back.
func TestAnEventIsCaughtInEachRun(t *testing.T) {
	w := newWorld(t, build("p count a@s b@s", "enter catch", "p>enter enter>a a>catch count>catch catch>count catch>b"), Binding{}, manual)
	w.inject("p", "1", "2")
	w.inject("count", "n")
	fired, err := w.s.Catch(0, 1, Catch{Last: w.s.LastToken(0), All: true}, w.now)
	if err != nil || fired != 2 {
		t.Errorf("it fired %d times, %v", fired, err)
	}
	w.step(0)
	w.want("count: n; b/1: n; b/2: n")
}

// An instance may open a bounded number of runs; what would open another one is refused.
func TestWithoutARunLeftAFiringIsRefused(t *testing.T) {
	for rule, b := range map[string]Binding{"a call": manual, "an action": {Action: true}} {
		w := newWorld(t, build("p a@s", "enter", "p>enter enter>a"), b)
		w.inject("p", "1")
		w.s.frames[0].last = maxFrames
		var err error
		if b.Action {
			err = w.s.Done(w.started().Run, Outcome{}, w.now)
		} else {
			err = w.s.Fire(0, 0, nil, w.now)
		}
		if !errors.Is(err, petri.ErrOverflow) {
			t.Errorf("%s: %v", rule, err)
		}
	}
}
