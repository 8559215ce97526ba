// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/stats"
)

// tries is an action that notes when it is tried, and how often.
type tries struct {
	mu    sync.Mutex
	begun time.Time
	at    []time.Duration
	keys  map[string]int
	runs  []action.Run
}

func newTries() *tries { return &tries{begun: time.Now(), keys: map[string]int{}} }

// of returns an action that does what outcome says of each try.
func (s *tries) of(outcome func(attempt int) (coloured.Outcome, error)) action.Func {
	return func(_ context.Context, r *action.Run) (coloured.Outcome, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.at = append(s.at, time.Since(s.begun))
		s.keys[r.Key]++
		s.runs = append(s.runs, *r)
		return outcome(r.Start.Attempt)
	}
}

func (s *tries) times() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at
}

func failing(int) (coloured.Outcome, error) { return coloured.Outcome{}, errors.New("not today") }

func TestRetriesComeWithBackoff(t *testing.T) {
	for _, c := range []struct {
		name  string
		retry Retry
		want  []time.Duration
	}{
		{"by itself a second, twice as long each time, a minute at most", Retry{Attempts: 9},
			[]time.Duration{0, 1 * time.Second, 3 * time.Second, 7 * time.Second, 15 * time.Second, 31 * time.Second, 63 * time.Second, 123 * time.Second, 183 * time.Second}},
		{"as the retry says", Retry{First: 100 * time.Millisecond, Max: time.Second, Factor: 3, Attempts: 5},
			[]time.Duration{0, 100 * time.Millisecond, 400 * time.Millisecond, 1300 * time.Millisecond, 2300 * time.Millisecond}},
		{"with a factor of 1", Retry{First: time.Second, Factor: 1, Attempts: 3}, []time.Duration{0, time.Second, 2 * time.Second}},
		{"one attempt", Retry{Attempts: 1}, []time.Duration{0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newTries()
				e := newEngine(t, Config{Source: "s", Nets: []NetConfig{working(t, "n", 1, Transition{Action: s.of(failing), Retry: c.retry})}, Instances: 1, Workers: 1})
				stop := start(t, e)
				time.Sleep(time.Hour)
				stop()
				if d := cmp.Diff(c.want, s.times()); d != "" {
					t.Error(d)
				}
				if rows := rowsOf(t, e, 0); rows.Net.Failed != 1 {
					t.Errorf("%+v; expected an incident", rows.Net)
				}
			})
		})
	}
}

func TestTimeOutsAreTriedAgainWithBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTries()
		slow := func(ctx context.Context, r *action.Run) (coloured.Outcome, error) {
			o, err := s.of(func(int) (coloured.Outcome, error) { return coloured.Outcome{}, nil })(ctx, r)
			if r.Start.Attempt < 3 {
				<-ctx.Done()
			}
			return o, err
		}
		e := newEngine(t, Config{Source: "s", Nets: []NetConfig{working(t, "n", 1, Transition{Action: slow, Timeout: 10 * time.Second})}, Instances: 1, Workers: 1})
		defer start(t, e)()
		time.Sleep(time.Minute)
		if d := cmp.Diff([]time.Duration{0, 11 * time.Second, 23 * time.Second}, s.times()); d != "" {
			t.Error(d)
		}
		if got := tallyOf(&rowsOf(t, e, 0).Transitions[0]); got != (tally{Firings: 1, Retries: 2, Timeouts: 2, Cancels: 2, Late: 2}) {
			t.Errorf("%+v", got)
		}
	})
}

// An action may say that it is too early. That is no failure.
func TestADelayedOutcomeIsTriedAgainAfterItsDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, delays := newTries(), 0
		act := s.of(func(int) (coloured.Outcome, error) {
			if delays++; delays > 3 {
				return coloured.Outcome{}, nil
			}
			return coloured.Outcome{Kind: coloured.Delayed, After: int64(delays) * 1e6}, nil
		})
		e := newEngine(t, Config{Source: "s", Nets: []NetConfig{working(t, "n", 1, Transition{Action: act, Retry: Retry{Attempts: 1}})}, Instances: 1, Workers: 1})
		defer start(t, e)()
		time.Sleep(time.Minute)
		if d := cmp.Diff([]time.Duration{0, time.Second, 3 * time.Second, 6 * time.Second}, s.times()); d != "" {
			t.Error(d)
		}
		if got := tallyOf(&rowsOf(t, e, 0).Transitions[0]); got != (tally{Firings: 1}) {
			t.Errorf("%+v", got)
		}
	})
}

// An action may return that it awaits an event: then it is performed again,
// with the event's data, when the transition is fired from outside.
func TestAnOutcomeThatAwaitsIsTriedWhenFiredFromOutside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		act := func(_ context.Context, r *action.Run) (coloured.Outcome, error) {
			if r.Start.Data == nil {
				return coloured.Outcome{Kind: coloured.Awaits}, nil
			}
			return coloured.Outcome{}, nil
		}
		e := newEngine(t, Config{Source: "s", Nets: []NetConfig{working(t, "n", 1, Transition{Action: act})}, Instances: 1, Workers: 1})
		defer start(t, e)()
		time.Sleep(time.Hour)
		rows := rowsOf(t, e, 0)
		if got := tallyOf(&rows.Transitions[0]); got != (tally{}) || rows.Net.Deadlocked > 0 {
			t.Errorf("%+v, %+v", got, rows.Net)
		}
		if w := rows.Places[0].Stuck[0].Waits; len(w) != 1 || w[0].Reason != stats.ReasonManual {
			t.Errorf("the token waits for %+v; expected an event", w)
		}
		if err := e.FireData(t.Context(), "n", 0, "work", []byte(`"signed"`)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if d := cmp.Diff([]uint32{0, 1, 0}, markingOf(t, e, "n", 0)); d != "" {
			t.Error(d)
		}
		shard := e.workers[0].shards[0].(colouredPlayer).Shard
		if got := shard.Tokens(0, 9); len(got) != 1 || string(got[0].Token.Data) != `"signed"` {
			t.Errorf("tokens %+v; expected one with what the event brought", got)
		}
	})
}

// An incident stays until its transition is fired by hand.
func TestAnIncidentIsFiredByHandAndItsAttemptsStartAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, works := newTries(), false
		act := s.of(func(int) (coloured.Outcome, error) {
			if works {
				return coloured.Outcome{}, nil
			}
			return failing(0)
		})
		e := newEngine(t, Config{Source: "s", Nets: []NetConfig{working(t, "n", 1, Transition{Action: act, Retry: Retry{Attempts: 2}})}, Instances: 1, Workers: 1})
		defer start(t, e)()
		time.Sleep(time.Hour)
		for _, want := range []uint64{4, 4} { // fired in vain, twice tried again; then it works
			if err := e.Fire(t.Context(), "n", 0, "work"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
			if got := rowsOf(t, e, 0).Transitions[0].Failures; got != want {
				t.Errorf("%d failures, want %d", got, want)
			}
			works = true
		}
		rows := rowsOf(t, e, 0)
		if rows.Transitions[0].Firings != 1 || rows.Net.Failed != 2 || rows.Net.Finished != 1 || rows.Net.Active != 0 {
			t.Errorf("%+v, %+v", rows.Transitions[0], rows.Net)
		}
	})
}

// The key of a try never comes again: not for a retry, not for another
// instance, worker or net, and not after a restart.
func TestKeysOfTriesNeverComeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTries()
		var want int
		for range 3 {
			twice := Transition{Action: s.of(func(attempt int) (coloured.Outcome, error) {
				if attempt == 1 {
					return failing(1)
				}
				return coloured.Outcome{}, nil
			})}
			e := newEngine(t, Config{Source: "s", Nets: []NetConfig{working(t, "a", 2, twice), working(t, "b", 2, twice)}, Instances: 6, Workers: 3})
			stop := start(t, e)
			time.Sleep(time.Minute)
			stop()
			want += 2 * 6 * 2 * 2
		}
		if len(s.runs) != want {
			t.Errorf("%d tries, want %d", len(s.runs), want)
		}
		for key, n := range s.keys {
			if n > 1 || !strings.HasPrefix(key, "s/") {
				t.Errorf("key %q came %d times", key, n)
			}
		}
		if r := s.runs[0]; r.Source != "s" || r.Transition != "work" || len(r.In("in")) != 1 || r.In("out") != nil {
			t.Errorf("%+v", r)
		}
	})
}

// More actions than there is room for wait, in the order in which they came,
// and the time of those runs, too.
func TestActionsWithoutRoomWaitAndTheirTimeRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		most, going, tried := 0, 0, 0
		var mu sync.Mutex
		act := func(_ context.Context, _ *action.Run) (coloured.Outcome, error) {
			mu.Lock()
			going++
			tried++
			most = max(most, going)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			going--
			mu.Unlock()
			return coloured.Outcome{}, nil
		}
		e := newEngine(t, Config{Source: "s", Nets: []NetConfig{working(t, "n", 2, Transition{Action: act, Timeout: 2500 * time.Millisecond, Retry: Retry{First: time.Hour}})},
			Instances: 10, Workers: 1, Actions: 5})
		defer start(t, e)()
		time.Sleep(1500 * time.Millisecond)
		if got := tallyOf(&rowsOf(t, e, 0).Transitions[0]); got != (tally{Firings: 5, Running: 15}) {
			t.Errorf("after a second: %+v", got)
		}
		time.Sleep(time.Minute)
		// Five in each of two seconds; five more had begun when their time was
		// over, and five never did.
		if got := tallyOf(&rowsOf(t, e, 0).Transitions[0]); got != (tally{Firings: 10, Timeouts: 10, Cancels: 10, Late: 5}) {
			t.Errorf("after a minute: %+v", got)
		}
		if most != 5 || tried != 15 {
			t.Errorf("%d at once, %d tried; expected 5, 15", most, tried)
		}
	})
}

// What an action works at is where it came from, in the rows, and says so.
func TestTokensOfARunningActionAreAtTheirOrigin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, Config{Source: "s", Nets: []NetConfig{working(t, "n", 1, Transition{Action: steady})}, Instances: 3, Workers: 2})
		begun := time.Now().UnixMicro()
		defer start(t, e)()
		time.Sleep(400 * time.Millisecond)
		rows := rowsOf(t, e, 0)
		tr, in := &rows.Transitions[0], &rows.Places[0]
		if tr.Running != 3 || tr.RunningSince != begun || tr.Firings != 0 || tr.Enabled != 0 {
			t.Errorf("%+v", tr)
		}
		if in.Tokens != 3 || in.Instances != 3 || in.Oldest != begun || rows.Net.Active != 3 {
			t.Errorf("%+v, %+v", in, rows.Net)
		}
		for _, s := range in.Stuck {
			if len(s.Waits) != 1 || s.Waits[0].Reason != stats.ReasonRunning {
				t.Errorf("%s waits for %+v", s.Instance, s.Waits)
			}
		}
		time.Sleep(time.Second)
		rows = rowsOf(t, e, 0)
		if tr := &rows.Transitions[0]; tr.Running != 0 || tr.RunningSince != 0 || tr.Firings != 3 || tr.Duration.Count() != 3 || tr.Duration.Sum != 3e6 {
			t.Errorf("after a second: %+v", tr)
		}
	})
}

// review is a task with a timer at its edge that interrupts it, as BPMN has it.
func review() *petri.Net {
	return &petri.Net{ID: "n", Places: []petri.Place{{ID: "in", Initial: 1}, {ID: "done"}, {ID: "escalated"}},
		Transitions: []petri.Transition{{ID: "task"}, {ID: "timer", Preempts: true, Trigger: petri.Trigger{Kind: petri.TriggerDelay, Micros: 60e6}}},
		Arcs: []petri.Arc{{ID: "1", Source: "in", Target: "task", Weight: 1}, {ID: "2", Source: "task", Target: "done", Weight: 1},
			{ID: "3", Source: "in", Target: "timer", Weight: 1}, {ID: "4", Source: "timer", Target: "escalated", Weight: 1}}}
}

// A timer that preempts takes the token of a task that hangs: the action's
// context ends, and what it returns is late.
func TestATimerInterruptsAnActionThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		causes := make(chan string, 2)
		act := func(ctx context.Context, r *action.Run) (coloured.Outcome, error) {
			<-ctx.Done()
			causes <- fmt.Sprint(time.Now().UnixMicro()-r.Start.Started, context.Cause(ctx))
			return coloured.Outcome{}, nil
		}
		e := newEngine(t, Config{Source: "s", Nets: []NetConfig{{Tables: petritest.Compile(t, review()), Transitions: []Transition{{Action: act}, {Mode: plain.Mode{Kind: plain.Delayed, Delay: plain.Delay{A: 60e6}}}}}}, Instances: 2, Workers: 1})
		defer start(t, e)()
		time.Sleep(61 * time.Second)
		for range 2 {
			if got, want := <-causes, fmt.Sprint(int64(60e6), ErrRunOver); got != want {
				t.Errorf("%s; expected %s", got, want)
			}
		}
		rows := rowsOf(t, e, 0)
		if got := tallyOf(&rows.Transitions[0]); got != (tally{Cancels: 2, Late: 2}) {
			t.Errorf("task: %+v", got)
		}
		if got := tallyOf(&rows.Transitions[1]); got != (tally{Firings: 2}) {
			t.Errorf("timer: %+v", got)
		}
		if d := cmp.Diff([]uint32{0, 0, 1}, markingOf(t, e, "n", 0)); d != "" || rows.Net.Finished != 2 {
			t.Errorf("%s, %+v", d, rows.Net)
		}
	})
}
