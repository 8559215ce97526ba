// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"runtime"
	"testing"
)

// burst is the number of events that are queued before they are taken.
const burst = 8192

// perSecond reports the rate of b.N events.
func perSecond(b *testing.B) {
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkBareRing is the base: a first-in-first-out ring of instances without
// counters. As in the others, an event is a push and a pop.
func BenchmarkBareRing(b *testing.B) {
	buf := make([]int32, burst)
	var head, size int
	var sum int32
	for left := b.N; left > 0; left -= burst {
		for i := range min(left, burst) {
			buf[(head+size)&(burst-1)] = int32(i)
			size++
		}
		for size > 0 {
			sum += buf[head]
			head = (head + 1) & (burst - 1)
			size--
		}
	}
	perSecond(b)
	runtime.KeepAlive(sum)
}

func drain(b *testing.B, d Discipline) {
	q := NewQueue(d)
	var now int64
	b.ReportAllocs()
	for left := b.N; left > 0; left -= burst {
		now++
		for i := range min(left, burst) {
			q.Push(int32(i), Priority(i&7), now)
		}
		for {
			if _, ok := q.Pop(now); !ok {
				break
			}
		}
	}
	perSecond(b)
}

func BenchmarkQueueFIFO(b *testing.B)   { drain(b, FIFO()) }
func BenchmarkQueueStrict(b *testing.B) { drain(b, Strict()) }
func BenchmarkQueueQuoted(b *testing.B) { drain(b, quoted(b, alike(16))) }

// work delivers a burst of work to 64 instances of 8 priorities and plays it in
// batches. One piece of work is a delivery and its share of a start and an end.
func work(b *testing.B, d Discipline, batch int) {
	p := NewPool(d, 64, 0)
	for i := range 64 {
		p.Rank(i, Priority(i&7))
	}
	var now int64
	b.ReportAllocs()
	for left := b.N; left > 0; left -= burst {
		now++
		for i := range min(left, burst) {
			p.Deliver(i&63, now)
		}
		for i, ok := p.Start(batch, now); ok; i, ok = p.Start(batch, now) {
			p.End(i, now)
		}
	}
	perSecond(b)
}

func BenchmarkPoolBatch1(b *testing.B)        { work(b, FIFO(), 1) }
func BenchmarkPoolBatch16(b *testing.B)       { work(b, FIFO(), 16) }
func BenchmarkPoolStrictBatch1(b *testing.B)  { work(b, Strict(), 1) }
func BenchmarkPoolQuotedBatch16(b *testing.B) { work(b, quoted(b, alike(16)), 16) }
