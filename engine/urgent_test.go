// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/petri"
)

// interrupted is a net in which u, which is urgent, interrupts what done ends: see eventNet.
// The transitions act and done fire by calls.
func interrupted(t *testing.T, coloured bool, lines ...string) NetConfig {
	t.Helper()
	n := eventNet("n", append([]string{"open=1", "busy=1", "act: open > thrown", "u: thrown busy > caught", "done: busy > end"}, lines...)...)
	for k := range n.Transitions {
		if tr := &n.Transitions[k]; strings.HasPrefix(tr.ID, "u") {
			tr.Priority = petri.Urgent
		}
	}
	cfg := eventNets(t, n)[0]
	cfg.Transitions = make([]Transition, len(n.Transitions))
	for k, tr := range n.Transitions {
		if tr.ID == "act" || tr.ID == "done" || tr.Trigger.Kind == petri.TriggerEvent {
			cfg.Transitions[k].Mode.Kind = plain.Manual
		}
		if coloured && tr.ID == "act" {
			cfg.Transitions[k].Guard = always
		}
	}
	if cfg.plain() == coloured {
		t.Fatalf("plain: %t", cfg.plain())
	}
	return cfg
}

// endless is a net that keeps a worker busy.
func endless(t *testing.T) NetConfig {
	return eventNets(t, eventNet("busy", "p=1", "go: p > q", "back: q > p"))[0]
}

// inARow executes calls one directly after the other, while the worker has more to do.
func inARow(e *Engine, calls ...func() error) []error {
	held, release := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() { _ = e.call(context.Background(), e.workers[0], func(int64) { close(held); <-release }) })
	<-held
	errs := make([]error, len(calls))
	for k, call := range calls {
		all.Go(func() { errs[k] = call() })
		synctest.Wait() // it is the next one
	}
	close(release)
	all.Wait()
	return errs
}

// Nothing happens in an instance between a throw and an urgent transition that catches it: not
// even a request that is answered with the throw in one go.
func TestUrgentTransitionsComeBeforeTheNextRequest(t *testing.T) {
	for name, d := range everyDispatch() {
		for _, coloured := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, coloured %t", name, coloured), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					e := newEngine(t, Config{Source: "s", Nets: []NetConfig{interrupted(t, coloured), endless(t)}, Instances: 2, Workers: 1, Dispatch: d})
					ctx, cancel := context.WithCancel(t.Context())
					var run sync.WaitGroup
					run.Go(func() { _ = e.Run(ctx) })
					fire := func(i int, id string) func() error { return func() error { return e.Fire(ctx, "n", i, id) } }
					put := func() error { return e.Inject(ctx, "n", 1, "thrown", 1) }
					errs := inARow(e, fire(0, "act"), fire(0, "done"), put, fire(1, "done"))
					got := []string{marked(t, e, "n", 0), marked(t, e, "n", 1)}
					cancel()
					run.Wait()
					if errs[0] != nil || errs[2] != nil || !errors.Is(errs[1], petri.ErrNotEnabled) || !errors.Is(errs[3], petri.ErrNotEnabled) {
						t.Errorf("the calls return %v; expected that done is not enabled", errs)
					}
					if want := []string{"caught", "open caught"}; !slices.Equal(got, want) {
						t.Errorf("marked are %q, expected %q", got, want)
					}
				})
			})
		}
	}
}

// The same for the end of an action whose outcome arrives together with that of another one.
func TestUrgentTransitionsComeBeforeTheNextOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := interrupted(t, true)
		n.Tables.Net.Transitions[n.at("u")].Preempts = true
		finish := map[string]chan struct{}{"act": make(chan struct{}), "done": make(chan struct{})}
		for id, gate := range finish {
			n.Transitions[n.at(id)] = Transition{Action: func(context.Context, *action.Run) (coloured.Outcome, error) { <-gate; return coloured.Outcome{}, nil }}
		}
		e := newEngine(t, Config{Source: "s", Nets: []NetConfig{n}, Instances: 1, Workers: 1})
		defer start(t, e)()
		synctest.Wait()
		held, release := make(chan struct{}), make(chan struct{})
		go func() { _ = e.call(t.Context(), e.workers[0], func(int64) { close(held); <-release }) }()
		<-held
		for _, id := range []string{"act", "done"} {
			close(finish[id])
			synctest.Wait()
		}
		close(release)
		synctest.Wait()
		if got := marked(t, e, "n", 0); got != "caught" {
			t.Errorf("marked are %q, expected caught", got)
		}
	})
}

// at returns the index of a transition.
func (n *NetConfig) at(id string) int {
	k, _ := n.Tables.TransitionIndex(id)
	return k
}

// Neither a batch nor a quota ends between a throw and its catch.
func TestUrgentTransitionsFollowTheLastFiring(t *testing.T) {
	for name, d := range everyDispatch() {
		for _, coloured := range []bool{false, true} {
			n := interrupted(t, coloured)
			n.Transitions[n.at("act")].Mode = plain.Mode{}
			e := newEngine(t, Config{Source: "s", Nets: []NetConfig{n}, Instances: 1, Workers: 1, Firings: 1, Dispatch: d})
			runToEnd(t, e)
			if got := marked(t, e, "n", 0); got != "caught" {
				t.Errorf("%s, coloured %t: marked are %q, expected caught", name, coloured, got)
			}
		}
	}
}

// An urgent transition that throws: others catch it before anything else happens, and what is
// urgent behind it fires then.
func TestWhatUrgentTransitionsThrowIsCaughtAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := interrupted(t, true, "wait=1", "u2: caught > after throws signal s", "on: wait > heard catches signal s", "u3: heard ?after > last")
		e := newEngine(t, Config{Source: "s", Nets: []NetConfig{n, endless(t)}, Instances: 1, Workers: 1})
		ctx, cancel := context.WithCancel(t.Context())
		var run sync.WaitGroup
		run.Go(func() { _ = e.Run(ctx) })
		var got string
		errs := inARow(e, func() error { return e.Fire(ctx, "n", 0, "act") }, func() (err error) { got = marked(t, e, "n", 0); return nil })
		cancel()
		run.Wait()
		if err := errors.Join(errs...); err != nil || got != "after last" {
			t.Errorf("marked are %q, %v; expected after last", got, err)
		}
	})
}

// A task in a sub-process cannot be completed any more once another one has given the data
// with which a conditional event interrupts the sub-process, however busy the engine is.
func TestAConditionInterruptsBeforeTheNextRequestOfABusyEngine(t *testing.T) {
	const instances, users = 600, 24
	nets := eventNets(t, processes(t, `<process id="p"><startEvent id="start"/>flow(start,sub)
  <subProcess id="sub"><startEvent id="in"/>flow(in,fork)<parallelGateway id="fork"/>flow(fork,give)flow(fork,do)
    <userTask id="give"/>flow(give,given)<endEvent id="given"/><userTask id="do"/>flow(do,done)<endEvent id="done"/></subProcess>
  <boundaryEvent id="caught" attachedToRef="sub"><conditionalEventDefinition><condition>=x > 1</condition></conditionalEventDefinition></boundaryEvent>
  flow(caught,handle)<userTask id="handle"/>flow(sub,after)<userTask id="after"/></process>`)...)
	e := newEngine(t, Config{Source: "s", Nets: append(nets, endless(t)), Instances: instances, Workers: 1})
	defer start(t, e)()
	var all sync.WaitGroup
	for u := range users {
		all.Go(func() {
			for i := u; i < instances; i += users {
				err := petri.ErrNotEnabled
				for errors.Is(err, petri.ErrNotEnabled) { // the instance has not come so far
					err = e.FireData(t.Context(), "p", i, "give", []byte(`{"x":2}`))
				}
				if next := e.Fire(t.Context(), "p", i, "do"); err != nil || !errors.Is(next, petri.ErrNotEnabled) {
					t.Errorf("instance %d: %v, and the task that was interrupted: %v", i, err, next)
				}
			}
		})
	}
	all.Wait()
}

// Urgent transitions without an end take their turns as others do: calls are answered, and the
// firings are counted.
func TestAnEndlessLoopOfUrgentTransitions(t *testing.T) {
	for _, lines := range [][]string{
		{"p=1", "u1: p > q", "u2: q > p"},
		{"p=1", "u1: p > r throws signal s", "on: r > p catches signal s"}, // two instances in turn
	} {
		for _, d := range []*Dispatch{nil, {Policy: ready.PolicyStrict}} {
			n := interrupted(t, len(lines) > 2 && strings.Contains(lines[1], "throws"), lines...)
			e := newEngine(t, Config{Source: "s", Nets: []NetConfig{n}, Instances: 2, Workers: 1, Dispatch: d})
			stop := start(t, e)
			for _, id := range []string{"act", "done"} {
				_ = e.Fire(t.Context(), "n", 0, id)
			}
			if rows := rowsOf(t, e, 0); rows.Transitions[n.at("u1")].Firings < 100 {
				t.Errorf("%q: %d firings of u1", lines, rows.Transitions[n.at("u1")].Firings)
			}
			stop()
		}
	}
}

// A log or a state that ends between a throw and its catch, as those of older versions, is
// continued with the catch. What is recorded of urgent transitions is replayed.
func TestUrgentTransitionsOfAJournal(t *testing.T) {
	for _, coloured := range []bool{false, true} {
		for _, whole := range []bool{false, true} {
			log := openJournal(t, t.TempDir())
			defer log.Close()
			config := func() Config {
				return Config{Source: "s", Nets: []NetConfig{interrupted(t, coloured)}, Instances: 1, Workers: 1, Journal: log}
			}
			first := ended(t, newEngine(t, config()))
			w := first.workers[0]
			if err := errors.Join(w.shards[0].fire(0, first.cfg.Nets[0].at("act"), nil, w.now()), w.flush(w.now())); err != nil {
				t.Fatal(err)
			}
			if whole {
				w.follow(w.now())
				if err := w.flush(w.now()); err != nil {
					t.Fatal(err)
				}
			}
			second := newEngine(t, config())
			defer start(t, second)()
			if got := marked(t, second, "n", 0); got != "caught" {
				t.Errorf("coloured %t, whole %t: marked are %q, expected caught", coloured, whole, got)
			}
			if n := rowsOf(t, second, 0).Transitions[second.cfg.Nets[0].at("u")].Firings; n != 1 {
				t.Errorf("coloured %t, whole %t: u has fired %d times", coloured, whole, n)
			}
		}
	}
}
