// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/stats"
)

func openJournal(t *testing.T, dir string) *journal.File {
	t.Helper()
	f, warnings, err := journal.Open(dir, journal.Options{})
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%v, %v", err, warnings)
	}
	return f
}

// tokensOf returns the rows' tokens with their ages, which a restart keeps.
func tokensOf(t *testing.T, e *Engine, now int64) []stats.Place {
	t.Helper()
	tables := e.cfg.Nets[0].Tables
	rows := stats.NewRows(tables.Places(), tables.Transitions())
	if err := e.Rows(t.Context(), 0, now, rows); err != nil {
		t.Fatal(err)
	}
	var out []stats.Place
	for _, p := range rows.Places {
		for k := range p.Stuck {
			p.Stuck[k].Waits = nil
		}
		out = append(out, stats.Place{Tokens: p.Tokens, Instances: p.Instances, Oldest: p.Oldest, Injected: p.Injected, Ages: p.Ages, Stuck: p.Stuck})
	}
	return out
}

// An engine continues where the one before it ended, ages included, whatever
// the number of workers, and whether it ended cleanly or was killed.
func TestEngineContinuesWhereItsJournalEnds(t *testing.T) {
	for seed := range seeds.Of(1, 12, 5, 6, 4, 8, 3) {
		r := rand.New(rand.NewPCG(4, seed))
		n := petritest.RandomNet(r)
		net := NetConfig{Tables: petritest.Compile(t, n)}
		dir, clean := t.TempDir(), r.IntN(2) == 0
		var want []stats.Place
		now := int64(1_790_000_000_000_000)
		for life := range 4 {
			log := openJournal(t, dir)
			e := newEngine(t, Config{Source: "s", Nets: []NetConfig{net}, Instances: 9, Workers: 1 + r.IntN(4), Firings: 1 + r.IntN(300), Seed: r.Uint64(), Shuffle: true,
				Journal: log, Clock: func() int64 { return now + int64(life)*1e6 }})
			if life == 0 {
				runToEnd(t, e)
			} else {
				ended := ended(t, e)
				if d := cmp.Diff(want, tokensOf(t, ended, now+1e9)); d != "" {
					t.Fatalf("seed %d, life %d (-before +after):\n%s", seed, life, d)
				}
				e = ended
			}
			for range 5 {
				if err := e.Inject(t.Context(), n.ID, r.IntN(9), n.Places[r.IntN(len(n.Places))].ID, r.Uint32N(4)); err != nil {
					t.Fatal(err)
				}
			}
			want = tokensOf(t, e, now+1e9)
			if !clean {
				e.recorder.failed = errors.New("the process is gone") // nothing is saved at the end
			}
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// ended returns the engine as if it had run without firing anything.
func ended(_ *testing.T, e *Engine) *Engine {
	for _, w := range e.workers {
		close(w.ended)
	}
	return e
}

// Shapes that were moved, or a comment, are no other net.
func TestAJournalIsThatOfAnotherVersionOfTheSameModel(t *testing.T) {
	with := petritest.Ring(3)
	with.Model = petri.NewModel(petri.ModelBPMN, []byte("<definitions/>"))
	got, err := digest(with)
	want, errWant := digest(petritest.Ring(3))
	if err != nil || errWant != nil || got != want {
		t.Errorf("digest %s (%v) with a model; want %s (%v)", got, err, want, errWant)
	}
}

// What a place or a transition is for changes how it is shown, and not what a replay does.
func TestAJournalIsThatOfANetWithOtherRoles(t *testing.T) {
	with := petritest.Ring(3)
	with.Places[0].Role, with.Places[1].Element, with.Transitions[0].Role = petri.RoleData, "t0", petri.RoleState
	got, err := digest(with)
	want, errWant := digest(petritest.Ring(3))
	if err != nil || errWant != nil || got != want || with.Places[0].Role != petri.RoleData {
		t.Errorf("digest %s (%v) with roles; want %s (%v), and the net as it was", got, err, want, errWant)
	}
}

// A replay does not look at the paths of inclusive joins.
func TestAJournalIsThatOfANetWithOtherPaths(t *testing.T) {
	with := petritest.Ring(3)
	with.Arcs[0].Aside = petri.AsideAll
	got, err := digest(with)
	want, errWant := digest(petritest.Ring(3))
	if err != nil || errWant != nil || got != want || with.Arcs[0].Aside != petri.AsideAll {
		t.Errorf("digest %s (%v) with an arc aside; want %s (%v), and the net as it was", got, err, want, errWant)
	}
}

//promise:versions version
func TestJournalOfAnotherEngineIsRefused(t *testing.T) {
	dir := t.TempDir()
	config := func(n *petri.Net, instances int) Config {
		return Config{Source: "s", Nets: []NetConfig{{Tables: petritest.Compile(t, n)}}, Instances: instances, Workers: 1, Firings: 10}
	}
	log := openJournal(t, dir)
	defer log.Close()
	first := config(petritest.Ring(5), 3)
	first.Journal = log
	runToEnd(t, newEngine(t, first))
	acting := config(petritest.Ring(5), 3)
	acting.Nets[0].Transitions = make([]Transition, 5)
	acting.Nets[0].Transitions[2].Action = func(context.Context, *action.Run) (coloured.Outcome, error) { return coloured.Outcome{}, nil }
	for want, cfg := range map[string]Config{
		"it has 3 instances of each net; this one runs 4":              config(petritest.Ring(5), 4),
		`net 1 is "ring-5" with digest`:                                config(petritest.Ring(6), 3),
		`net "ring-5" is plain in it, and coloured by the bindings of`: acting,
	} {
		cfg.Journal = log
		if _, err := New(cfg); !errors.Is(err, ErrJournal) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A journal belongs to a net with its variables.
//
//promise:versions version
func TestAJournalOfOtherVariablesIsRefused(t *testing.T) {
	shared := func(change func(*petri.Net)) Config {
		n := petritest.Ring(5)
		n.Shared, n.Scopes = true, []petri.Scope{{ID: "s", Local: []string{"a"}}}
		change(n)
		return Config{Source: "s", Nets: []NetConfig{{Tables: petritest.Compile(t, n)}}, Instances: 3, Workers: 1, Firings: 10}
	}
	same := func(*petri.Net) {}
	for _, c := range []struct {
		rule          string
		before, after func(*petri.Net)
		refused       bool
	}{
		{"the same", same, same, false},
		{"not shared any more", same, func(n *petri.Net) { n.Shared, n.Scopes[0].Local = false, nil }, true},
		{"another local variable", same, func(n *petri.Net) { n.Scopes[0].Local = []string{"b"} }, true},
		{"a scope apart", same, func(n *petri.Net) { n.Scopes[0].Apart = true }, true},
		{"a place with data around", same, func(n *petri.Net) { n.Places[1].Data = petri.DataAround }, true},
		{"what a run gets", same, func(n *petri.Net) { n.Scopes[0].Apart, n.Scopes[0].In = true, []petri.Assignment{{}} }, true},
	} {
		t.Run(c.rule, func(t *testing.T) {
			log := openJournal(t, t.TempDir())
			defer log.Close()
			first, second := shared(c.before), shared(c.after)
			first.Journal, second.Journal = log, log
			runToEnd(t, newEngine(t, first))
			e, err := New(second)
			if !c.refused {
				if err != nil {
					t.Fatal(err)
				}
				runToEnd(t, e)
				if e, err = New(second); err != nil { // and its own snapshot
					t.Fatal(err)
				}
				ended(t, e)
				return
			}
			if !errors.Is(err, ErrJournal) || !strings.Contains(err.Error(), `net 1 is "ring-5" with digest`) {
				t.Errorf("got %v, want another digest", err)
			}
		})
	}
}

// A clock that was set back does not bring tokens from the future.
func TestTimeDoesNotGoBackAcrossARestart(t *testing.T) {
	const before = int64(1_790_000_000_000_000)
	log := openJournal(t, t.TempDir())
	defer log.Close()
	for _, now := range []int64{before, before - 3600e6} {
		e := newEngine(t, Config{Source: "s", Nets: []NetConfig{{Tables: petritest.Compile(t, petritest.Ring(3))}}, Instances: 2, Workers: 2, Firings: 10,
			Journal: log, Clock: func() int64 { return now }})
		runToEnd(t, e)
		for _, p := range tokensOf(t, e, before+1) {
			if p.Tokens > 0 && p.Oldest != before {
				t.Errorf("at %d: a token of %d", now, p.Oldest)
			}
		}
	}
}

// Running delays continue after a restart.
func TestDelaysContinueAfterARestart(t *testing.T) {
	dir := t.TempDir()
	var now atomic.Int64
	now.Store(1_790_000_000_000_000)
	run := func(firings int) *Report {
		log := openJournal(t, dir)
		defer log.Close()
		e := newEngine(t, Config{Source: "s", Nets: []NetConfig{{Tables: petritest.Compile(t, line(3)), Transitions: fire(plain.Mode{}, plain.Mode{Kind: plain.Delayed, Delay: plain.Delay{A: 1000}}, plain.Mode{Kind: plain.Manual})}},
			Instances: 4, Workers: 2, Firings: firings, Journal: log, Clock: func() int64 { return now.Add(100) }})
		runToEnd(t, e)
		r, err := e.Report(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := run(4); r.Nets["line"].Tokens["p1"] != 4 {
		t.Fatalf("before: %+v", r.Nets["line"])
	}
	if r := run(4); r.Nets["line"].Tokens["p2"] != 4 || r.Firings != 8 {
		t.Errorf("after: %+v", r.Nets["line"])
	}
}
