// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/stats"
)

// counters are the counters of actions.
type counters struct{ firings, failures, retries, cancels, timeouts, late, running uint64 }

func (w *world) counts(t int) counters {
	r := rowsOf(w.s, w.now).Transitions[t]
	return counters{r.Firings, r.Failures, r.Retries, r.Cancels, r.Timeouts, r.Late, r.Running}
}

func (w *world) counted(t int, want counters) {
	w.t.Helper()
	if got := w.counts(t); got != want {
		w.t.Fatalf("counted %+v, want %+v", got, want)
	}
}

// task is a net with one action, and its binding.
func task(t *testing.T, b Binding) *world {
	b.Action = true
	return newWorld(t, build("p q r", "t", "p>t t>q"), b)
}

func TestTokensOfARunAreInFlightAtTheirOrigin(t *testing.T) {
	w := task(t, Binding{Timeout: 500})
	w.inject("p", "a")
	st := w.started()
	want := Start{Run: st.Run, Instance: 0, Transition: 0, Attempt: 1, Started: now0, Deadline: now0 + 500,
		Taken: []Placed{{Place: 0, Token: Token{ID: 1, Injected: now0, Data: []byte("a")}}}}
	if d := gocmp.Diff(want, st); d != "" {
		t.Fatal(d)
	}
	w.now += 20
	w.want("p: a")
	w.waitsFor("p", "t running")
	rows := rowsOf(w.s, w.now)
	if p := rows.Places[0]; p.Tokens != 1 || p.Oldest != now0 || p.Arrivals != 1 || p.Departures != 0 || p.Instances != 1 {
		t.Errorf("place %+v", p)
	}
	if r := rows.Transitions[0]; r.Running != 1 || r.RunningSince != now0 || r.Enabled != 0 {
		t.Errorf("transition %+v", r)
	}
	if n := w.s.Marking(0)[0]; n != 1 {
		t.Errorf("%d tokens", n)
	}
	w.done(st.Run, Outcome{Data: []byte("b")})
	w.s.TakeSlowest(name, rows)
	slowest := stats.Slowest{Instance: name(0), Micros: 20, At: w.now}
	if got := [2]stats.Slowest{rows.Places[0].Slowest, rows.Transitions[0].Slowest}; got != [2]stats.Slowest{slowest, slowest} {
		t.Errorf("slowest of place and transition %+v, want %+v", got, slowest)
	}
	w.want("q: b")
	if at := w.injected("q"); at != 20 {
		t.Errorf("injected at +%d", at)
	}
	w.counted(0, counters{firings: 1})
	rows = rowsOf(w.s, w.now)
	if h := rows.Transitions[0].Duration; h.Sum != 20 {
		t.Errorf("duration %+v", h)
	}
	if rows.Net.Finished != 1 || rows.Columns != Columns {
		t.Errorf("net %+v, columns %b", rows.Net, rows.Columns)
	}
}

func TestWhatAnActionPuts(t *testing.T) {
	a, b := uint64(1), uint64(2) // the tokens that it takes
	for _, c := range []struct {
		rule string
		o    Outcome
		want string
	}{
		{"by its arcs, the data passed on", Outcome{}, "r: a; q: a"},
		{"by its arcs, with new data, but the identity of what goes back", Outcome{Data: []byte("n")}, "r: n; q: n"},
		{"nothing: what was taken is destroyed", Outcome{Puts: []Put{}}, ""},
		{"new ones, any number", Outcome{Puts: []Put{{Place: 1, Data: []byte("x")}, {Place: 1}}}, "q: x #4"},
		{"one moved as it is, one destroyed", Outcome{Puts: []Put{{Place: 1, Moved: b}}}, "q: b"},
		{"back to where it came from", Outcome{Puts: []Put{{Place: 2, Moved: b}, {Place: 1, Moved: a}}}, "r: b; q: a"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			w := newWorld(t, build("p q r", "t", "r>t*2 t>r t>q"), Binding{Action: true})
			w.inject("r", "a", "b")
			w.now += 7
			run := w.started().Run
			if err := w.s.Done(run, c.o, w.now); err != nil {
				t.Fatal(err)
			}
			if got := sortedTokens(w); got != c.want {
				t.Errorf("tokens %q, want %q", got, c.want)
			}
			for _, p := range w.s.Tokens(0, 10) {
				if p.Token.Injected != w.now {
					t.Errorf("%+v is not new in its place", p)
				}
			}
		})
	}
}

// sortedTokens gives the places from the last to the first.
func sortedTokens(w *world) string {
	out := ""
	for p := w.s.Tables.Places() - 1; p >= 0; p-- {
		text := ""
		for _, x := range w.s.Tokens(0, 100) {
			if int(x.Place) == p {
				text += " " + string(x.Token.Data)
				if x.Token.Data == nil {
					text += fmt.Sprintf("#%d", x.Token.ID)
				}
			}
		}
		if text != "" {
			if out != "" {
				out += "; "
			}
			out += w.s.Tables.Net.Places[p].ID + ":" + text
		}
	}
	return out
}

// An outcome with a Put that is not allowed is a failure, and has no other
// effect.
func TestAnActionThatPutsWhatItMustNotHasFailed(t *testing.T) {
	big := make([]byte, MaxData+1)
	for _, c := range []struct {
		rule string
		o    Outcome
		want error
	}{
		{"a place that is not an output", Outcome{Puts: []Put{{Place: 0}}}, ErrOutcome},
		{"no place", Outcome{Puts: []Put{{Place: 9}}}, ErrOutcome},
		{"a negative place", Outcome{Puts: []Put{{Place: -1}}}, ErrOutcome},
		{"a token that it did not take", Outcome{Puts: []Put{{Place: 1, Moved: 2}}}, ErrOutcome},
		{"a token twice", Outcome{Puts: []Put{{Place: 1, Moved: 1}, {Place: 1, Moved: 1}}}, ErrOutcome},
		{"too many tokens", Outcome{Puts: make([]Put, MaxTaken+1)}, ErrOutcome},
		{"data that are too large", Outcome{Data: big}, ErrTooLarge},
		{"data that are too large, in a put", Outcome{Puts: []Put{{Place: 1, Data: big}}}, ErrTooLarge},
		{"no such kind", Outcome{Kind: 9}, ErrOutcome},
	} {
		t.Run(c.rule, func(t *testing.T) {
			w := task(t, Binding{})
			w.inject("p", "a")
			first := w.started().Run
			w.now += 5
			w.inject("p", "b")
			w.doneErr(first, c.o, c.want)
			w.want("p: a b")
			w.counted(0, counters{failures: 1, running: 1})
			w.waitsFor("p", fmt.Sprintf("t delayed +%d", 5+1_000_000))
			w.done(w.started().Run, Outcome{})
			w.want("p: a; q: b")
		})
	}
}

func TestFailuresAreTriedAgainWithBackoff(t *testing.T) {
	w := task(t, Binding{Retry: Retry{First: 100, Factor: 3, Max: 500, Attempts: 5}})
	w.inject("p", "a")
	at := int64(0)
	for k, wait := range []int64{100, 300, 500, 500} {
		st := w.started()
		if st.Attempt != k+1 || w.now-now0 != at {
			t.Fatalf("attempt %d at +%d, want %d at +%d", st.Attempt, w.now-now0, k+1, at)
		}
		w.done(st.Run, Outcome{Kind: Failed})
		w.counted(0, counters{failures: uint64(k) + 1, retries: uint64(k)})
		w.waitsFor("p", fmt.Sprintf("t delayed +%d", at+wait))
		w.step(wait - 1)
		if len(w.s.Ready().Starts) > 0 {
			t.Fatal("tried too early")
		}
		w.step(1)
		at += wait
	}
	if in := w.injected("p"); in != 0 {
		t.Errorf("the token was injected at +%d", in)
	}
	w.done(w.started().Run, Outcome{Kind: Failed})
	w.waitsFor("p", "t incident")
	w.step(1e9)
	if len(w.s.Ready().Starts) > 0 {
		t.Fatal("an incident is tried again")
	}
	if err := w.fire(0, "with"); err != nil {
		t.Fatal(err)
	}
	st := w.started()
	if st.Attempt != 1 || string(st.Data) != "with" {
		t.Errorf("after it was fired by hand: %+v", st)
	}
	w.done(st.Run, Outcome{})
	w.want("q: with")
	w.counted(0, counters{firings: 1, failures: 5, retries: 4})
}

func TestInstanceWithAnIncidentHasFailedAndIsNotDeadlocked(t *testing.T) {
	w := task(t, Binding{Retry: Retry{Attempts: 1}})
	w.inject("p", "a") // the instance had not begun
	w.done(w.started().Run, Outcome{Kind: Failed})
	w.step(0)
	if d := gocmp.Diff(stats.NetRow{Created: 1, Failed: 1}, rowsOf(w.s, w.now).Net); d != "" {
		t.Fatal(d)
	}
	if err := w.fire(0, ""); err != nil {
		t.Fatal(err)
	}
	if d := gocmp.Diff(stats.NetRow{Created: 2, Failed: 1, Active: 1}, rowsOf(w.s, w.now).Net); d != "" {
		t.Fatalf("fired by hand: %s", d)
	}
	w.done(w.started().Run, Outcome{})
	if d := gocmp.Diff(stats.NetRow{Created: 2, Failed: 1, Finished: 1}, rowsOf(w.s, w.now).Net); d != "" {
		t.Fatalf("at its end: %s", d)
	}
}

func TestFailuresOfSeveralTokensAreCountedApart(t *testing.T) {
	w := task(t, Binding{Retry: Retry{First: 10, Factor: 1, Attempts: 2}})
	w.inject("p", "a", "b")
	runs := w.s.Ready().Starts
	w.done(runs[0].Run, Outcome{Kind: Failed})
	w.done(runs[1].Run, Outcome{Kind: Failed})
	w.step(10)
	var attempts []int
	for _, st := range w.s.Ready().Starts {
		attempts = append(attempts, st.Attempt)
		w.done(st.Run, Outcome{Kind: Failed})
	}
	if !slices.Equal(attempts, []int{2, 2}) {
		t.Errorf("attempts %v", attempts)
	}
	w.waitsFor("p", "t incident")
}

// Other transitions may take the tokens; then the failures are forgotten.
func TestWhileATransitionWaitsForItsRetryOnlyItWaits(t *testing.T) {
	n := build("p q r", "t u", "p>t t>q p>u u>r")
	w := newWorld(t, n, Binding{Action: true, Retry: Retry{First: 100, Attempts: 2}}, manual)
	w.inject("p", "a")
	w.done(w.started().Run, Outcome{Kind: Failed})
	w.waitsFor("p", "t delayed +100, u manual")
	if err := w.fire(1, ""); err != nil {
		t.Fatal(err)
	}
	w.want("r: a")
	w.inject("p", "b")
	if st := w.started(); st.Attempt != 1 || string(st.Taken[0].Token.Data) != "b" {
		t.Errorf("%+v", st)
	}
}

func TestOutcomesThatPutOff(t *testing.T) {
	w := task(t, Binding{})
	w.inject("p", "a")
	w.done(w.started().Run, Outcome{Kind: Delayed, After: 70})
	w.waitsFor("p", "t delayed +70")
	w.step(70)
	st := w.started()
	if st.Attempt != 1 {
		t.Errorf("attempt %d", st.Attempt)
	}
	w.done(st.Run, Outcome{Kind: Awaits})
	w.waitsFor("p", "t manual")
	if net := rowsOf(w.s, w.now).Net; net.Deadlocked != 0 || net.Active != 1 {
		t.Errorf("net %+v", net)
	}
	w.step(1e9)
	if len(w.s.Ready().Starts) > 0 {
		t.Fatal("started without the event that it awaits")
	}
	if err := w.fire(0, "event"); err != nil {
		t.Fatal(err)
	}
	w.done(w.started().Run, Outcome{})
	w.want("q: event")
	w.counted(0, counters{firings: 1})
}

// An action that does not return is ended at its deadline. If it returns later,
// its result is too late.
func TestRunEndsWithItsTime(t *testing.T) {
	w := task(t, Binding{Timeout: 50, Retry: Retry{First: 100, Attempts: 2}})
	w.inject("p", "a")
	st := w.started()
	w.step(49)
	w.counted(0, counters{running: 1})
	w.step(1)
	w.counted(0, counters{cancels: 1, timeouts: 1})
	if stops := w.s.Ready().Stops; !slices.Equal(stops, []RunID{st.Run}) {
		t.Errorf("stops %v", stops)
	}
	w.want("p: a")
	w.waitsFor("p", "t delayed +150")
	w.doneErr(st.Run, Outcome{}, ErrLate)
	w.want("p: a")
	w.counted(0, counters{cancels: 1, timeouts: 1, late: 1})
	w.step(100)
	if st = w.started(); st.Attempt != 2 {
		t.Errorf("attempt %d", st.Attempt)
	}
	w.step(50)
	w.waitsFor("p", "t incident")
	w.counted(0, counters{cancels: 2, timeouts: 2, late: 1, retries: 1})
}

// If a cancelled action returns nevertheless, nothing changes.
func TestCancelPutsBackWithTheOldAge(t *testing.T) {
	w := task(t, Binding{Timeout: 1000})
	w.inject("p", "a")
	w.now += 30
	st := w.started()
	if err := w.s.Cancel(st.Run, w.now); err != nil {
		t.Fatal(err)
	}
	w.want("p: a")
	if at := w.injected("p"); at != 0 {
		t.Errorf("the token was injected at +%d", at)
	}
	if due, ok := w.s.NextDue(); ok {
		t.Errorf("its deadline is still due: %d", due)
	}
	if stops := w.s.Ready().Stops; !slices.Equal(stops, []RunID{st.Run}) {
		t.Errorf("stops %v", stops)
	}
	w.step(0)
	again := w.started()
	if again.Run == st.Run || again.Attempt != 1 {
		t.Errorf("tried again: %+v", again)
	}
	w.doneErr(st.Run, Outcome{Data: []byte("late")}, ErrLate)
	if err := w.s.Cancel(st.Run, w.now); !errors.Is(err, ErrLate) {
		t.Errorf("cancelled twice: %v", err)
	}
	w.done(again.Run, Outcome{})
	w.doneErr(again.Run, Outcome{}, ErrLate)
	w.want("q: a")
	w.counted(0, counters{firings: 1, cancels: 1, late: 2})
}

func TestDoneOfARunThatNeverWas(t *testing.T) {
	w := task(t, Binding{})
	for _, run := range []RunID{0, 1, 1 << 16, 1<<64 - 1, 5<<16 | 3} {
		if err := w.s.Done(run, Outcome{}, w.now); !errors.Is(err, ErrLate) {
			t.Errorf("run %d: %v", run, err)
		}
	}
}

func TestTokensInFlight(t *testing.T) {
	for _, c := range []struct {
		rule, arcs string
		enabled    bool
	}{
		{"no normal arc takes them", "p>u u>q", false},
		{"no read arc sees them", "p~u u>q", false},
		{"an inhibitor counts them", "p|u s>u u>q", false},
		{"a reset arc tests nothing", "p#u s>u u>q", true},
	} {
		t.Run(c.rule, func(t *testing.T) {
			w := newWorld(t, build("p q s:1", "t u", "p>t "+c.arcs), Binding{Action: true}, manual)
			w.inject("p", "a")
			err := w.fire(1, "")
			if c.enabled != (err == nil) || err != nil && !errors.Is(err, petri.ErrNotEnabled) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestResetCancelsRunsThatHoldTokensOfThePlace(t *testing.T) {
	n := build("p other q out", "t u", "p>t other>t t>q p#u u>out")
	w := newWorld(t, n, Binding{Action: true}, manual)
	w.inject("other", "o")
	w.inject("p", "a", "b")
	st := w.started()
	w.now += 10
	if err := w.fire(1, ""); err != nil {
		t.Fatal(err)
	}
	w.want("other: o; out: #4")
	if at := w.injected("other"); at != 0 {
		t.Errorf("the token that came back was injected at +%d", at)
	}
	w.counted(0, counters{cancels: 1})
	if stops := w.s.Ready().Stops; !slices.Equal(stops, []RunID{st.Run}) {
		t.Errorf("stops %v", stops)
	}
	w.doneErr(st.Run, Outcome{}, ErrLate)
	rows := rowsOf(w.s, w.now)
	if p := rows.Places[0]; p.Departures != 2 || p.Tokens != 0 {
		t.Errorf("place %+v", p)
	}
}

func TestPreemption(t *testing.T) {
	n := build("p other q out", "t u!", "p>t other>t t>q p>u u>out")
	w := newWorld(t, n, Binding{Action: true}, manual)
	w.inject("other", "o")
	w.inject("p", "a")
	st := w.started()
	w.waitsFor("p", "t running, u manual")
	w.now += 10
	if err := w.fire(1, ""); err != nil {
		t.Fatal(err)
	}
	w.want("other: o; out: a")
	w.counted(0, counters{cancels: 1})
	w.doneErr(st.Run, Outcome{}, ErrLate)
	if at := w.injected("other"); at != 0 {
		t.Errorf("the token that came back was injected at +%d", at)
	}

	w.inject("p", "b", "c") // b is taken, c stays
	w.s.Ready()
	if err := w.fire(1, ""); err != nil {
		t.Fatal(err)
	}
	w.want("p: b; other: o; out: a c")
}

func TestPreemptionByAGuardThatNamesATokenInFlight(t *testing.T) {
	n := build("p q out", "t u!", "p>t t>q p>u u>out")
	w := newWorld(t, n, Binding{Action: true}, Binding{Mode: plain.Mode{Kind: plain.Manual}, Guard: has("b")})
	w.inject("p", "a", "b", "c")
	if err := w.fire(1, ""); err != nil {
		t.Fatal(err)
	}
	w.want("p: a c; out: b")
	w.counted(0, counters{cancels: 1, running: 2})
}

// Transitions that preempt do not cancel each other's runs, nor their own.
func TestWhatPreemptsIsNotPreempted(t *testing.T) {
	n := build("p q", "t! u!", "p>t t>q p>u u>q")
	w := newWorld(t, n, Binding{Action: true}, Binding{Action: true})
	w.inject("p", "a")
	w.started()
	w.step(100)
	if starts := w.s.Ready().Starts; len(starts) != 0 {
		t.Errorf("started again: %+v", starts)
	}
}

func TestRunsOfAnInstanceAreBounded(t *testing.T) {
	n := build("p:10 q", "t", "p>t t>q")
	s := newShard(t, Config{Tables: petritest.Compile(t, n), Bindings: []Binding{{Action: true}}})
	s.running = 3
	s.Step(100, now0)
	starts := slices.Clone(s.Ready().Starts)
	if len(starts) != 3 {
		t.Fatalf("%d runs, want 3", len(starts))
	}
	if err := s.Fire(0, 0, nil, now0); !errors.Is(err, ready.ErrFull) {
		t.Errorf("fired by hand: %v", err)
	}
	if err := s.Done(starts[1].Run, Outcome{}, now0); err != nil {
		t.Fatal(err)
	}
	s.Step(100, now0)
	if n := len(s.Ready().Starts); n != 1 {
		t.Errorf("%d more, want 1", n)
	}
}

func TestReadTokensOfAnActionAreHandedOut(t *testing.T) {
	w := newWorld(t, build("p q", "t", "p>t q~t p~t*2 t>q"), Binding{Action: true})
	w.inject("q", "c")
	w.inject("p", "a", "b")
	st := w.started()
	got := fmt.Sprintf("%s %s %s", st.Taken[0].Token.Data, st.Read[0].Token.Data, st.Read[1].Token.Data)
	if len(st.Taken) != 1 || len(st.Read) != 2 || got != "a b c" {
		t.Errorf("%+v", st)
	}
}
