// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/petri/petritest"
)

// BenchmarkBareGame is the base: the token game alone, without recording.
func BenchmarkBareGame(b *testing.B) {
	s := petritest.Compile(b, petritest.Ring(100)).NewState()
	turn := 0
	for b.Loop() {
		t := s.Next(turn, nil)
		if err := s.Fire(t); err != nil {
			b.Fatal(err)
		}
		if turn = t + 1; turn == 100 {
			turn = 0
		}
	}
}

func rings(b *testing.B, places, instances int) *Shard {
	return newShard(b, Config{Tables: petritest.Compile(b, petritest.Ring(places)), Stride: 1, Count: instances})
}

// hot fires one instance of a ring b.N times. The clock advances once per
// batch.
func hot(b *testing.B, places int) {
	s := rings(b, places, 1)
	b.ReportAllocs()
	b.ResetTimer()
	play(s, b.N)
}

func BenchmarkRecordedRing100(b *testing.B)  { hot(b, 100) }
func BenchmarkRecordedRing1000(b *testing.B) { hot(b, 1000) }

// BenchmarkLoggedRing100 is BenchmarkRecordedRing100 with a log, as for a
// journal.
func BenchmarkLoggedRing100(b *testing.B) {
	s := newShard(b, Config{Tables: petritest.Compile(b, petritest.Ring(100)), Stride: 1, Count: 1, Log: true})
	b.ReportAllocs()
	b.ResetTimer()
	now := now0
	for left := b.N; left > 0; left -= 1000 {
		now += 37
		s.Step(min(left, 1000), now)
		s.Ready()
	}
}

// shuffled returns a shard that plays its instances in random order, one firing
// each, round after round: no two consecutive firings share a cache line.
func shuffled(b *testing.B, instances int) *Shard {
	s := rings(b, 100, instances)
	rand.New(rand.NewPCG(1, 1)).Shuffle(instances, func(i, j int) { s.ready.buf[i], s.ready.buf[j] = s.ready.buf[j], s.ready.buf[i] })
	s.quota = 1
	return s
}

func play(s *Shard, firings int) {
	now := now0
	for left := firings; left > 0; left -= 4096 {
		now += 37
		s.Step(min(left, 4096), now)
	}
}

func scattered(b *testing.B, instances int) {
	s := shuffled(b, instances)
	b.ReportAllocs()
	b.ResetTimer()
	play(s, b.N)
}

func BenchmarkRecordedRandom100k(b *testing.B) { scattered(b, 100_000) }
func BenchmarkRecordedRandom1M(b *testing.B)   { scattered(b, 1_000_000) }

// BenchmarkRecordedRandom100kTwoShards does the work of
// BenchmarkRecordedRandom100k, half of it on each of two shards.
func BenchmarkRecordedRandom100kTwoShards(b *testing.B) {
	shards := []*Shard{shuffled(b, 50_000), shuffled(b, 50_000)}
	b.ResetTimer()
	var wg sync.WaitGroup
	for _, s := range shards {
		wg.Go(func() { play(s, b.N/2) })
	}
	wg.Wait()
}

// BenchmarkRecordedWide plays a net whose instances hold more tokens than a
// cell.
func BenchmarkRecordedWide(b *testing.B) {
	n := petritest.Ring(100)
	for i := range n.Places {
		n.Places[i].Initial = 1
	}
	s := newShard(b, Config{Tables: petritest.Compile(b, n), Stride: 1, Count: 1})
	b.ReportAllocs()
	b.ResetTimer()
	play(s, b.N)
}

// BenchmarkLook100k measures a Look at 100,000 instances.
func BenchmarkLook100k(b *testing.B) {
	s := rings(b, 100, 100_000)
	s.Step(1_000_000, now0)
	for b.Loop() {
		rowsOf(s, now0+5e6)
	}
}

// dispatched is shuffled under a discipline. Every other instance is of p7.
func dispatched(b *testing.B, d *ready.Discipline) {
	const instances = 100_000
	order := rand.New(rand.NewPCG(1, 1)).Perm(instances)
	s := newShard(b, Config{Tables: petritest.Compile(b, petritest.Ring(100)), Stride: 1, Count: instances,
		Dispatch: d, Priority: func(number int) ready.Priority { return ready.Priority(number % 2 * 7) }})
	s.quota = 1
	s.dispatch.queue = ready.NewQueue(*d)
	for _, i := range order {
		s.dispatch.queue.Push(int32(i), s.dispatch.priorities[i], now0)
	}
	b.ReportAllocs()
	b.ResetTimer()
	play(s, b.N)
}

// The work of BenchmarkRecordedRandom100k by priorities: it measures the cost
// of a discipline per visit.
func BenchmarkDispatchedFIFO100k(b *testing.B)   { dispatched(b, fifo()) }
func BenchmarkDispatchedQuoted100k(b *testing.B) { dispatched(b, quoted(b, 64)) }

// BenchmarkMemory measures how many bytes an instance of a net of 30 places
// costs in total after it has moved its token.
func BenchmarkMemory(b *testing.B) {
	const count = 1_000_000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var s *Shard
	for b.Loop() {
		s = rings(b, 30, count)
		s.Step(count, now0)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/count, "bytes/instance")
	runtime.KeepAlive(s)
}
