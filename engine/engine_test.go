// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/stats"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newEngine(t testing.TB, cfg Config) *Engine {
	t.Helper()
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func runToEnd(t *testing.T, e *Engine) {
	t.Helper()
	if err := e.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// start runs an engine until the returned function is called.
func start(t *testing.T, e *Engine) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := e.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	return func() { cancel(); <-done }
}

// patience is how long a test waits for what takes milliseconds on an idle machine.
const patience = time.Minute

// eventually waits until a difference is none: a call returns before what it enables has fired.
func eventually(t *testing.T, differs func() string) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		d := differs()
		if d == "" {
			return
		}
		if time.Now().After(end) {
			t.Error(d)
			return
		}
	}
}

func TestFiringsStopTheEngineExactly(t *testing.T) {
	for _, c := range []struct{ workers, instances, firings int }{{1, 1, 1}, {1, 1, 100_003}, {2, 2, 100_003}, {3, 50, 12_345}, {4, 4, 3}} {
		e := newEngine(t, Config{Source: "s", Nets: []NetConfig{{Tables: petritest.Compile(t, petritest.Ring(7))}}, Instances: c.instances, Workers: c.workers, Firings: c.firings})
		runToEnd(t, e)
		r, err := e.Report(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if r.Firings != uint64(c.firings) {
			t.Errorf("%+v: %d firings", c, r.Firings)
		}
		var tokens uint64
		for _, n := range r.Nets["ring-7"].Tokens {
			tokens += n
		}
		if tokens != uint64(c.instances) {
			t.Errorf("%+v: %d tokens", c, tokens)
		}
	}
}

// Same net, same seed, same inputs: same run, whatever the workers' pace.
func TestRunWithASeedCanBeRepeated(t *testing.T) {
	run := func() map[string]uint64 {
		n := petritest.RandomNet(rand.New(rand.NewPCG(8, 8)))
		e := newEngine(t, Config{Source: "s", Nets: []NetConfig{{Tables: petritest.Compile(t, n)}}, Instances: 20, Workers: 4, Firings: 50_003, Seed: 7, Shuffle: true})
		runToEnd(t, e)
		r, err := e.Report(t.Context())
		if err != nil || r.Firings != 50_003 {
			t.Fatalf("%v, %d firings", err, r.Firings)
		}
		return r.Nets["random"].Transitions
	}
	want := run()
	for range 5 {
		if d := cmp.Diff(want, run()); d != "" {
			t.Fatal(d)
		}
	}
}

func TestMarkingOfOneInstanceIsThatOfTheGame(t *testing.T) {
	e := newEngine(t, Config{Source: "s", Nets: []NetConfig{{Tables: petritest.Compile(t, petritest.Ring(7))}}, Instances: 1, Workers: 4, Firings: 100})
	runToEnd(t, e)
	r, err := e.Report(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]uint64{"p2": 1}, r.Marking); d != "" {
		t.Error(d)
	}
}

func line(n int) *petri.Net {
	net := petritest.Ring(n)
	net.ID = "line"
	net.Arcs = net.Arcs[:len(net.Arcs)-1] // the last transition only takes
	return net
}

// fire returns transitions with these modes.
func fire(modes ...plain.Mode) []Transition {
	out := make([]Transition, len(modes))
	for i, m := range modes {
		out[i].Mode = m
	}
	return out
}

// With a limit, an engine in which nothing can fire any more ends by itself.
func TestEngineThatCannotReachItsFiringsEnds(t *testing.T) {
	e := newEngine(t, Config{Source: "s", Nets: []NetConfig{{Tables: petritest.Compile(t, line(5))}}, Instances: 30, Workers: 3, Firings: 1_000_000})
	runToEnd(t, e)
	if r, err := e.Report(t.Context()); err != nil || r.Firings != 150 {
		t.Errorf("%v, report %+v", err, r)
	}
}

func TestDelaysFollowTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		modes := []plain.Mode{{Kind: plain.Delayed, Delay: plain.Delay{A: 2e6}}, {Kind: plain.Delayed, Delay: plain.Delay{A: 3e6}}}
		e := newEngine(t, Config{Source: "s", Nets: []NetConfig{{Tables: petritest.Compile(t, line(2)), Transitions: fire(modes...)}}, Instances: 10, Workers: 2})
		stop := start(t, e)
		defer stop()
		for _, c := range []struct {
			wait time.Duration
			want []uint64 // tokens
		}{{1900 * time.Millisecond, []uint64{10, 0}}, {200 * time.Millisecond, []uint64{0, 10}}, {2800 * time.Millisecond, []uint64{0, 10}}, {200 * time.Millisecond, []uint64{0, 0}}} {
			time.Sleep(c.wait)
			rows := stats.NewRows(2, 2)
			if err := e.Rows(t.Context(), 0, time.Now().UnixMicro(), rows); err != nil {
				t.Fatal(err)
			}
			if got := []uint64{rows.Places[0].Tokens, rows.Places[1].Tokens}; !cmp.Equal(got, c.want) {
				t.Errorf("tokens %v, want %v", got, c.want)
			}
		}
	})
}

func TestCallsNameWhatIsNotThere(t *testing.T) {
	e := newEngine(t, Config{Source: "s", Nets: []NetConfig{{Tables: petritest.Compile(t, line(2)), Transitions: fire(plain.Mode{Kind: plain.Manual}, plain.Mode{})}}, Instances: 3, Workers: 2})
	stop := start(t, e)
	ctx := t.Context()
	for want, err := range map[error]error{
		ErrNoNet:            e.Inject(ctx, "x", 0, "p0", 1),
		ErrNoPlace:          e.Inject(ctx, "line", 0, "x", 1),
		ErrNoTransition:     e.Fire(ctx, "line", 0, "x"),
		plain.ErrNoInstance: e.Inject(ctx, "line", 3, "p0", 1),
		petri.ErrNotEnabled: e.Fire(ctx, "line", 1, "t1"),
	} {
		if !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	if err := e.Fire(ctx, "line", 2, "t0"); err != nil {
		t.Error(err)
	}
	stop()
	if err := e.Inject(ctx, "line", 1, "p1", 4); err != nil { // an engine that has ended still answers
		t.Error(err)
	}
	if m, err := e.Marking(ctx, "line", 1); err != nil || !cmp.Equal(m, []uint32{1, 4}) {
		t.Errorf("marking %v, %v", m, err)
	}
}

// The oldest of a sum over workers are those of one worker: names sort as
// numbers do.
func TestRowsDoNotDependOnTheNumberOfWorkers(t *testing.T) {
	rows := func(workers int) *stats.Rows {
		clock := func() int64 { return 1_790_000_000_000_000 }
		e := newEngine(t, Config{Source: "s", Nets: []NetConfig{{Tables: petritest.Compile(t, line(3)), Transitions: fire(plain.Mode{}, plain.Mode{Kind: plain.Manual}, plain.Mode{})}},
			Instances: 120, Workers: workers, Firings: 1000, Clock: clock})
		runToEnd(t, e)
		out := stats.NewRows(3, 3)
		if err := e.Rows(t.Context(), 0, clock(), out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	want := rows(1)
	if want.Places[1].Tokens != 120 || want.Places[1].Stuck[9].Instance != "s/009" {
		t.Fatalf("rows %+v", want.Places[1])
	}
	for _, workers := range []int{2, 7} {
		if d := cmp.Diff(want, rows(workers)); d != "" {
			t.Errorf("%d workers (-want +got):\n%s", workers, d)
		}
	}
}

func TestEngineRefusesWhatItCannotRun(t *testing.T) {
	ring := NetConfig{Tables: petritest.Compile(t, petritest.Ring(2))}
	big := &petri.Net{ID: "big", Places: make([]petri.Place, 0)}
	for range plain.MaxNodes + 1 {
		big.Transitions = append(big.Transitions, petri.Transition{ID: strings.Repeat("t", 1) + time.Duration(len(big.Transitions)).String()})
	}
	for name, cfg := range map[string]Config{
		"no net":       {Instances: 1, Workers: 1},
		"no instances": {Nets: []NetConfig{ring}, Workers: 1},
		"a net twice":  {Nets: []NetConfig{ring, ring}, Instances: 1, Workers: 1},
		"too large":    {Nets: []NetConfig{{Tables: petritest.Compile(t, big)}}, Instances: 1, Workers: 1},
	} {
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// The publisher receives the slowest instances once, over all workers, whatever
// other readers do meanwhile.
func TestTheSlowestIsForThePublisherAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, Config{Source: "s", Nets: []NetConfig{{Tables: petritest.Compile(t, line(1)), Transitions: fire(plain.Mode{Kind: plain.Manual})}}, Instances: 5, Workers: 2})
		stop := start(t, e)
		defer stop()
		for _, instance := range []int{0, 3, 1} {
			time.Sleep(2 * time.Second)
			if err := e.Fire(t.Context(), "line", instance, "t0"); err != nil {
				t.Fatal(err)
			}
		}
		slowest := func(read func(context.Context, int, int64, *stats.Rows) error) stats.Slowest {
			rows := stats.NewRows(1, 1)
			if err := read(t.Context(), 0, time.Now().UnixMicro(), rows); err != nil {
				t.Fatal(err)
			}
			return rows.Places[0].Slowest
		}
		if got := slowest(e.Rows); got != (stats.Slowest{}) {
			t.Errorf("another reader receives %+v", got)
		}
		if got, want := slowest(e.published), (stats.Slowest{Instance: "s/1", Micros: 6e6, At: time.Now().UnixMicro()}); got != want {
			t.Errorf("the publisher receives %+v, want %+v", got, want)
		}
		if got := slowest(e.published); got != (stats.Slowest{}) {
			t.Errorf("and once more %+v", got)
		}
	})
}
