// SPDX-License-Identifier: Apache-2.0

package workers

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pnagent/pnagent/pool"
)

func quoted(t testing.TB, n uint32) pool.Discipline {
	t.Helper()
	d, err := pool.Quoted(pool.Quotes{n, n, n, n, n, n, n, n})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// perSecond reports b.N events.
func perSecond(b *testing.B) {
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkChannelWithProducer is the base: one goroutine sends events through
// a Go channel, another receives them.
func BenchmarkChannelWithProducer(b *testing.B) {
	c := make(chan int32, 8192)
	go func() {
		for i := range b.N {
			c <- int32(i)
		}
		close(c)
	}()
	for range c {
	}
	perSecond(b)
}

// withProducer posts one event after the other while the owner serves them.
func withProducer(b *testing.B, d pool.Discipline) {
	q := NewDispatcher(d)
	b.ReportAllocs()
	b.ResetTimer()
	go func() {
		for i := range b.N {
			q.Post(int32(i), pool.Priority(i&7), 1)
		}
	}()
	for served := 0; served < b.N; {
		if _, ok := q.Next(2); ok {
			served++
		} else {
			<-q.Posted()
		}
	}
	perSecond(b)
}

func BenchmarkDispatcherFIFOWithProducer(b *testing.B)   { withProducer(b, pool.FIFO()) }
func BenchmarkDispatcherStrictWithProducer(b *testing.B) { withProducer(b, pool.Strict()) }
func BenchmarkDispatcherQuotedWithProducer(b *testing.B) { withProducer(b, quoted(b, 16)) }

// drained posts a burst and then serves it.
func drained(b *testing.B, d pool.Discipline) {
	q := NewDispatcher(d)
	b.ReportAllocs()
	b.ResetTimer()
	const burst = 8192
	for left := b.N; left > 0; left -= burst {
		for i := range min(left, burst) {
			q.Post(int32(i), pool.Priority(i&7), 1)
		}
		for {
			if _, ok := q.Next(2); !ok {
				break
			}
		}
	}
	perSecond(b)
}

func BenchmarkDispatcherStrictDrained(b *testing.B) { drained(b, pool.Strict()) }
func BenchmarkDispatcherQuotedDrained(b *testing.B) { drained(b, quoted(b, 16)) }

// BenchmarkDedicatedDrained posts all and then lets the eight goroutines serve
// it.
func BenchmarkDedicatedDrained(b *testing.B) {
	benchmarkDedicated(b, func(post func(), run func()) {
		post()
		b.ResetTimer()
		run()
	})
}

func BenchmarkDedicatedWithProducer(b *testing.B) {
	benchmarkDedicated(b, func(post func(), run func()) {
		go post()
		run()
	})
}

func benchmarkDedicated(b *testing.B, how func(post, run func())) {
	ctx, cancel := context.WithCancel(b.Context())
	var left atomic.Int32 // priorities that are not done
	left.Store(pool.Priorities)
	want := [pool.Priorities]int{}
	for i := range b.N {
		want[i&7]++
	}
	for _, n := range want {
		if n == 0 {
			left.Add(-1)
		}
	}
	var served [pool.Priorities]struct {
		n int
		_ [56]byte
	}
	d := NewDedicated(now, func(_ int32, p pool.Priority) {
		s := &served[p]
		if s.n++; s.n == want[p] && left.Add(-1) == 0 {
			cancel()
		}
	})
	b.ReportAllocs()
	b.ResetTimer()
	how(func() {
		for i := range b.N {
			d.Post(int32(i), pool.Priority(i&7), 1)
		}
	}, func() { d.Run(ctx) })
	perSecond(b)
}

func now() int64 { return time.Now().UnixMicro() }

// benchmarkPool adds b.N pieces of work to 256 channels of 8 priorities, which
// workers play that do nothing.
func benchmarkPool(b *testing.B, workers, producers, batch int, before bool) {
	ctx, cancel := context.WithCancel(b.Context())
	var left atomic.Int64
	left.Store(int64(b.N))
	var played [256]struct {
		n int64
		_ [56]byte
	}
	p, err := NewPool(Config[int]{
		Discipline: quoted(b, 64), Workers: workers, Batch: batch, Clock: now,
		Play: func(c pool.Channel, _ int) {
			s := &played[c.Index]
			if s.n++; s.n&1023 == 0 && left.Add(-1024) <= 0 {
				cancel()
			}
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	var channels []pool.Channel
	for i := range int32(256) {
		c, err := p.Register(i, pool.Priority(i&7), 0)
		if err != nil {
			b.Fatal(err)
		}
		channels = append(channels, c)
	}
	// Each channel gets a multiple of 1024, so that the last piece of work ends
	// the run.
	rounds := (b.N + 256*1024 - 1) / (256 * 1024) * 1024
	left.Store(int64(rounds) * 256)
	add := func(part int) {
		for range rounds {
			for i := part; i < 256; i += producers {
				if err := p.TryAdd(channels[i], i, 1); err != nil {
					b.Error(err)
				}
			}
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for part := range producers {
		if before {
			add(part)
		} else {
			go add(part)
		}
	}
	p.Run(ctx)
	b.ReportMetric(float64(rounds*256)/b.Elapsed().Seconds(), "items/s")
}

func BenchmarkPoolDrainedBatch1(b *testing.B)            { benchmarkPool(b, 2, 1, 1, true) }
func BenchmarkPoolDrainedBatch16(b *testing.B)           { benchmarkPool(b, 2, 1, 16, true) }
func BenchmarkPoolWithProducerBatch1(b *testing.B)       { benchmarkPool(b, 1, 1, 1, false) }
func BenchmarkPoolWithProducerBatch16(b *testing.B)      { benchmarkPool(b, 1, 1, 16, false) }
func BenchmarkPoolWithManyProducersBatch16(b *testing.B) { benchmarkPool(b, 2, 4, 16, false) }
func BenchmarkPoolWithManyProducersBatch1(b *testing.B)  { benchmarkPool(b, 2, 4, 1, false) }
