// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/pnagent/pnagent/stats"
)

// One event on the goroutine of its engine, while a snapshot is made every 100
// ms. The base is an engine without pnagent: the same numbers guarded by a
// mutex.
func BenchmarkRecord(b *testing.B) {
	const places, transitions = 50, 50
	ages := make([]int64, 1<<12) // up to a minute, in random order
	r := rand.New(rand.NewPCG(1, 2))
	for i := range ages {
		ages[i] = r.Int64N(60e6)
	}
	record := func(name string, event func(rec *Recorder, i int, now int64)) {
		b.Run(name, func(b *testing.B) {
			rec := benchSource(b, places, transitions)
			i, now := 0, now0
			for b.Loop() {
				event(rec, i, now)
				i++
				now += int64(i & 1)
			}
		})
	}
	record("base of the loop", func(*Recorder, int, int64) {})
	b.Run("base of a mutex", func(b *testing.B) {
		var mu sync.Mutex
		var counts [places]struct{ n, last uint64 }
		i, now := 0, uint64(now0)
		for b.Loop() {
			mu.Lock()
			c := &counts[i%places]
			c.n++
			c.last = now
			mu.Unlock()
			i++
		}
	})
	record("Inject", func(rec *Recorder, i int, now int64) { rec.Inject(i%places, 1, now) })
	record("Take of the young", func(rec *Recorder, i int, now int64) { rec.Take(i%places, 1, now-100_000, now) })
	record("Take of the old", func(rec *Recorder, i int, now int64) { rec.Take(i%places, 1, now-600e6, now) })
	record("Take of any age", func(rec *Recorder, i int, now int64) { rec.Take(i%places, 1, now-ages[i%len(ages)], now) })
	record("Fire", func(rec *Recorder, i int, now int64) { rec.Fire(i%transitions, now) })
	record("Enabled", func(rec *Recorder, i int, now int64) { rec.Enabled(i%transitions, 1, now) })
	record("a firing's three events, each", func(rec *Recorder, i int, now int64) {
		switch i % 3 {
		case 0:
			rec.Take(i%places, 1, now-50_000, now)
		case 1:
			rec.Inject(i%places, 1, now)
		default:
			rec.Fire(i%transitions, now)
		}
	})
}

// benchSource returns a Recorder of a source that is read regularly.
func benchSource(b *testing.B, places, transitions int) *Recorder {
	b.Helper()
	s := bareSource(places, transitions)
	stop, looked := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(looked)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				if err := s.rows(now0, stats.NewRows(places, transitions)); err != nil {
					b.Error(err)
				}
			}
		}
	}()
	b.Cleanup(func() { close(stop); <-looked })
	return s.Recorder()
}
