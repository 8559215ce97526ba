// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"testing"

	"github.com/pnagent/pnagent/action"
	"github.com/pnagent/pnagent/colour"
	"github.com/pnagent/pnagent/journal"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/pool"
)

// firings runs an engine for b.N firings on rings of ten places.
func firings(b *testing.B, cfg Config, transitions []Transition) {
	cfg.Source, cfg.Firings, cfg.Workers = "s", b.N, 1
	cfg.Nets = []Net{{Tables: tablesOf(b, petritest.Ring(10)), Transitions: transitions}}
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
	firings(b, Config{Instances: 1000, Dispatch: &Dispatch{Policy: pool.PolicyStrict}}, nil)
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
	firings(b, Config{Instances: 1000}, each(10, Transition{Action: func(context.Context, *action.Run) (colour.Outcome, error) { return colour.Outcome{}, nil }}))
}

// always is a guard that holds.
func always([]colour.Placed, int64) colour.Verdict { return colour.Verdict{OK: true} }

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
			cfg := Config{Source: "s", Instances: count, Workers: 2, Firings: 29 * count, Nets: []Net{{Tables: tablesOf(b, way)}}}
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
