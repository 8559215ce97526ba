// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/guard"
	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// tokensByInstance returns all tokens of the first net with their data, age and
// identity; those that an action has taken, too.
func tokensByInstance(t *testing.T, e *Engine) map[int][]coloured.Placed {
	t.Helper()
	out := map[int][]coloured.Placed{}
	for _, w := range e.workers {
		if err := e.call(t.Context(), w, func(int64) { addTokens(w, out) }); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// tokensOfStill is tokensByInstance of an engine that does not run yet.
func tokensOfStill(e *Engine) map[int][]coloured.Placed {
	out := map[int][]coloured.Placed{}
	for _, w := range e.workers {
		addTokens(w, out)
	}
	return out
}

func addTokens(w *worker, to map[int][]coloured.Placed) {
	s := w.shards[0].(colouredPlayer).Shard
	for i := range s.Count {
		to[s.Number(i)] = s.Tokens(i, 1000)
	}
}

// counter is a net that counts the data of its tokens up to a limit, by an
// action, and sorts them by a guard.
func counter(t *testing.T, act action.Func) NetConfig {
	t.Helper()
	net := &petri.Net{ID: "counter", Places: []petri.Place{{ID: "n"}, {ID: "done"}}, Transitions: []petri.Transition{{ID: "up"}, {ID: "end"}},
		Arcs: []petri.Arc{{ID: "1", Source: "n", Target: "up", Weight: 1}, {ID: "2", Source: "up", Target: "n", Weight: 1},
			{ID: "3", Source: "n", Target: "end", Weight: 1}, {ID: "4", Source: "end", Target: "done", Weight: 1}}}
	compile := func(text string) coloured.Guard {
		g, err := guard.NewCompiler([]string{"n", "done"}).Guard(text)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	n := NetConfig{Tables: petritest.Compile(t, net), Transitions: []Transition{
		{Guard: compile("n < 9"), Action: act, Timeout: 2 * time.Second, Retry: Retry{First: 100 * time.Millisecond}}, {Guard: compile("n >= 9")}}}
	n.Priority = func(i int) ready.Priority { return ready.Priority(i % 3) }
	return n
}

// countUp adds one to the n of the token that it takes, or fails.
func countUp(_ context.Context, r *action.Run) (coloured.Outcome, error) {
	time.Sleep(time.Duration(uint64(r.Start.Run)>>16%7) * 100 * time.Millisecond)
	if r.Start.Instance%4 == 0 && r.Start.Attempt == 1 {
		return coloured.Outcome{}, errors.New("not today")
	}
	var n, k int
	if _, err := fmt.Fscanf(bytes.NewReader(r.Start.Taken[0].Token.Data), `{"n":%d,"token":%d}`, &n, &k); err != nil {
		return coloured.Outcome{}, err
	}
	return coloured.Outcome{Data: fmt.Appendf(nil, `{"n":%d,"token":%d}`, n+1, k)}, nil
}

// errGone is how the journal of an engine fails whose process is gone.
var errGone = errors.New("the process is gone")

// oneLife plays for up to two seconds while tokens come in, if it is long for five
// minutes more, and returns all tokens as the journal has them. A life that does
// not end cleanly writes nothing from some moment on.
func oneLife(t *testing.T, e *Engine, r *rand.Rand, injected *int, long bool) (left map[int][]coloured.Placed) {
	t.Helper()
	clean, ended := r.IntN(2) == 0, make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { ended <- e.Run(ctx) }()
	for range r.IntN(40) {
		if err := e.InjectData(t.Context(), "counter", r.IntN(7), "n", 1, fmt.Appendf(nil, `{"n":0,"token":%d}`, *injected)); err != nil {
			t.Fatal(err)
		}
		*injected++
		time.Sleep(50 * time.Millisecond)
	}
	if long {
		time.Sleep(5 * time.Minute)
	}
	synctest.Wait() // until what ends at this moment, too, is written
	if !clean {
		left = tokensByInstance(t, e)
		e.recorder.mu.Lock()
		e.recorder.failed = errGone
		e.recorder.mu.Unlock()
	}
	cancel()
	if err := <-ended; clean && err != nil || !clean && !errors.Is(err, errGone) {
		t.Errorf("the engine ended with %v", err)
	}
	if clean {
		left = tokensByInstance(t, e)
	}
	time.Sleep(time.Second) // actions that did not end with the engine
	return left
}

// An engine of a coloured net continues where its journal ends: every token has
// its data, age and identity, whatever the number of workers, the dispatcher
// and the running actions; and no number is counted twice or left out.
func TestColouredEngineContinuesWhereItsJournalEnds(t *testing.T) {
	for seed := range seeds.Of(1, 6, 1, 3) {
		r := rand.New(rand.NewPCG(6, seed))
		dir := t.TempDir()
		var left map[int][]coloured.Placed
		injected := 0
		for life := range 6 {
			log := openJournal(t, dir)
			cfg := Config{Source: "s", Nets: []NetConfig{counter(t, countUp)}, Instances: 7, Workers: 1 + r.IntN(3), Actions: 8 + r.IntN(30), Journal: log,
				Dispatch: []*Dispatch{nil, {}, {Policy: ready.PolicyStrict}, quotes(2), {Policy: ready.PolicyDedicated}}[r.IntN(5)]}
			synctest.Test(t, func(t *testing.T) {
				cfg.Clock = func() int64 { return time.Now().UnixMicro() + int64(life)*2*3600e6 }
				e := newEngine(t, cfg)
				if d := cmp.Diff(left, tokensOfStill(e)); life > 0 && d != "" {
					t.Fatalf("seed %d, life %d (-before +after):\n%s", seed, life, d)
				}
				left = oneLife(t, e, r, &injected, life == 5)
			})
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
		}
		counted := map[string]int{}
		for _, tokens := range left {
			for _, p := range tokens {
				counted[fmt.Sprintf("%d %s", p.Place, p.Token.Data)]++
			}
		}
		for k := range injected {
			if n := counted[fmt.Sprintf(`1 {"n":9,"token":%d}`, k)]; n != 1 {
				t.Errorf("token %d came to 9 and the end %d times", k, n)
			}
		}
		if len(counted) != injected {
			t.Errorf("%d tokens, want %d", len(counted), injected)
		}
	}
}
