// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/petri/petritest"
)

// firings runs an engine for b.N firings on rings of ten places.
func firings(b *testing.B, cfg Config, transitions []Transition) {
	cfg.Source, cfg.Firings, cfg.Workers = "s", b.N, 1
	cfg.Nets = []NetConfig{{Tables: petritest.Compile(b, petritest.Ring(10)), Transitions: transitions}}
	if cfg.Dispatch != nil && cfg.Dispatch.Policy != ready.PolicyStrict {
		cfg.Nets[0].Priority = func(i int) ready.Priority { return ready.Priority(i & 1) }
	}
	e, err := New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	if err := e.Run(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "firings/s")
}

// BenchmarkFirings is the base: an engine that keeps no journal and performs
// nothing.
func BenchmarkFirings(b *testing.B) { firings(b, Config{Instances: 1000}, nil) }

func BenchmarkFiringsStrict(b *testing.B) {
	firings(b, Config{Instances: 1000, Dispatch: &Dispatch{Policy: ready.PolicyStrict}}, nil)
}

func BenchmarkFiringsQuoted(b *testing.B) {
	firings(b, Config{Instances: 1000, Dispatch: quotes(16)}, nil)
}

// BenchmarkFiringsDedicated has two workers, for instances of two priorities.
func BenchmarkFiringsDedicated(b *testing.B) {
	firings(b, Config{Instances: 1000, Dispatch: &Dispatch{Policy: ready.PolicyDedicated}}, nil)
}

// BenchmarkInjections has four callers bring tokens, one by one, while a worker
// plays.
func BenchmarkInjections(b *testing.B) {
	e, err := New(Config{Source: "s", Instances: 1000, Workers: 1, Nets: []NetConfig{{Tables: petritest.Compile(b, desk("n", 0))}}, Dispatch: &Dispatch{Policy: ready.PolicyStrict}})
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = e.Run(ctx) })
	b.SetParallelism(4)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			if err := e.Inject(ctx, "n", i%1000, "in", 1); err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "injections/s")
	stop()
	running.Wait()
}

// BenchmarkJournalledFirings writes every firing to a file, synced every 100 ms.
func BenchmarkJournalledFirings(b *testing.B) {
	f, _, err := journal.Open(b.TempDir(), journal.Options{Mode: journal.SyncInterval})
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	firings(b, Config{Instances: 1000, Journal: f}, nil)
}

// BenchmarkColouredFirings is a guard that holds, on every firing.
func BenchmarkColouredFirings(b *testing.B) {
	firings(b, Config{Instances: 1000}, each(10, Transition{Guard: always}))
}

// BenchmarkActions performs an action that completes at once, on every firing.
func BenchmarkActions(b *testing.B) {
	firings(b, Config{Instances: 1000}, each(10, Transition{Action: func(context.Context, *action.Run) (coloured.Outcome, error) { return coloured.Outcome{}, nil }}))
}

// always is a guard that holds.
func always([]coloured.Placed, int64) coloured.Verdict { return coloured.Verdict{OK: true} }

func each(n int, t Transition) []Transition {
	out := make([]Transition, n)
	for i := range out {
		out[i] = t
	}
	return out
}

// BenchmarkStartFromJournal is a start with a million instances of a 30-place
// net, each of which has gone from the first place to the last: from a snapshot,
// and from the log of the 29 million firings alone.
func BenchmarkStartFromJournal(b *testing.B) {
	const count = 1_000_000
	for _, from := range []string{"log", "snapshot"} {
		b.Run(from, func(b *testing.B) {
			dir := b.TempDir()
			way := petritest.Ring(30)
			way.Transitions, way.Arcs = way.Transitions[:29], way.Arcs[:58]
			cfg := Config{Source: "s", Instances: count, Workers: 2, Firings: 29 * count, Nets: []NetConfig{{Tables: petritest.Compile(b, way)}}}
			open := func() *journal.File {
				f, _, err := journal.Open(dir, journal.Options{Mode: journal.SyncInterval})
				if err != nil {
					b.Fatal(err)
				}
				cfg.Journal = f
				return f
			}
			f := open()
			e, err := New(cfg)
			if err != nil {
				b.Fatal(err)
			}
			if from == "snapshot" {
				err = e.Run(b.Context()) // which ends with one
			} else {
				for _, w := range e.workers {
					for w.shards[0].Step(batch, 1) > 0 && err == nil {
						err = w.flush(w.now())
					}
				}
			}
			if err := errors.Join(err, f.Close()); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				f := open()
				if e, err = New(cfg); err != nil {
					b.Fatal(err)
				}
				if err := f.Close(); err != nil {
					b.Fatal(err)
				}
			}
			if m := e.workers[1].shards[0].Marking(count/2 - 1); m[29] != 1 {
				b.Fatalf("marking %v", m)
			}
		})
	}
}
