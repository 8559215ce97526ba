// SPDX-License-Identifier: Apache-2.0

package game

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/pnagent/pnagent/petri/petritest"
)

// BenchmarkBareGame is the base: the token game alone, without recording.
func BenchmarkBareGame(b *testing.B) {
	s := compile(b, petritest.Ring(100)).NewState()
	turn := 0
	for b.Loop() {
		t := s.Next(turn)
		if err := s.Fire(t); err != nil {
			b.Fatal(err)
		}
		if turn = t + 1; turn == 100 {
			turn = 0
		}
	}
}

func rings(b *testing.B, places, instances int) *Shard {
	return newShard(b, Config{Tables: compile(b, petritest.Ring(places)), Stride: 1, Count: instances})
}

// hot fires one instance of a ring b.N times, the clock moving once a batch.
func hot(b *testing.B, places int) {
	s := rings(b, places, 1)
	b.ReportAllocs()
	b.ResetTimer()
	now := now0
	for left := b.N; left > 0; left -= 1000 {
		now += 37
		s.Step(min(left, 1000), now)
	}
}

func BenchmarkRecordedRing100(b *testing.B)  { hot(b, 100) }
func BenchmarkRecordedRing1000(b *testing.B) { hot(b, 1000) }

// scattered fires instances in random order, one firing each.
func scattered(b *testing.B, instances int) {
	s := rings(b, 100, instances)
	order := rand.New(rand.NewPCG(1, 1)).Perm(instances)
	b.ReportAllocs()
	b.ResetTimer()
	now := now0
	for k, n := 0, 0; n < b.N; n++ {
		if i := order[k]; s.run(i, &s.cells[i], 1, now) != 1 {
			b.Fatal("nothing fired")
		}
		if k++; k == instances {
			k = 0
			now += 1000
		}
	}
}

func BenchmarkRecordedRandom100k(b *testing.B) { scattered(b, 100_000) }
func BenchmarkRecordedRandom1M(b *testing.B)   { scattered(b, 1_000_000) }

// BenchmarkRecordedRandom100kTwoShards is the same work as
// BenchmarkRecordedRandom100k, half of it on each of two shards.
func BenchmarkRecordedRandom100kTwoShards(b *testing.B) {
	shards := []*Shard{rings(b, 100, 50_000), rings(b, 100, 50_000)}
	order := rand.New(rand.NewPCG(1, 1)).Perm(50_000)
	b.ResetTimer()
	var wg sync.WaitGroup
	for _, s := range shards {
		wg.Go(func() {
			now := now0
			for k, n := 0, 0; n < b.N/2; n++ {
				s.run(order[k], &s.cells[order[k]], 1, now)
				if k++; k == len(order) {
					k = 0
					now += 1000
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkRecordedWide is a net whose instances hold more tokens than a cell.
func BenchmarkRecordedWide(b *testing.B) {
	n := petritest.Ring(100)
	for i := range n.Places {
		n.Places[i].Initial = 1
	}
	s := newShard(b, Config{Tables: compile(b, n), Stride: 1, Count: 1})
	b.ReportAllocs()
	b.ResetTimer()
	now := now0
	for left := b.N; left > 0; left -= 1000 {
		now += 37
		s.Step(min(left, 1000), now)
	}
}

// BenchmarkLook100k is what a tick costs with 100,000 instances.
func BenchmarkLook100k(b *testing.B) {
	s := rings(b, 100, 100_000)
	s.Step(1_000_000, now0)
	for b.Loop() {
		rowsOf(s, now0+5e6)
	}
}
