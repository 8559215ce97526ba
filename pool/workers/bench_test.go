// SPDX-License-Identifier: Apache-2.0

package workers

import (
	"context"
	"sync"
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

const (
	channels = 256
	each     = 64              // pieces of work of a burst, for each channel
	burst    = channels * each // pieces of work
)

// benchPool is a pool with channels of all priorities, whose work does nothing.
type benchPool struct {
	*Pool[int]
	b        *testing.B
	channels []pool.Channel
	told     chan struct{} // receives for every 64 pieces that a channel has played
	gates    []pool.Channel
	inGate   chan struct{} // receives when a worker is kept by a gate
	open     chan struct{} // lets a worker go
}

func newBenchPool(b *testing.B, workers, batch int) *benchPool {
	p := &benchPool{b: b, told: make(chan struct{}, 1<<16), inGate: make(chan struct{}), open: make(chan struct{})}
	var played [channels]struct {
		n int
		_ [56]byte
	}
	var err error
	p.Pool, err = NewPool(Config[int]{
		Discipline: quoted(b, 64), Workers: workers, Batch: batch, Clock: now, Panicked: func(pool.Channel, int, any, []byte) {},
		Play: func(c pool.Channel, _ int) {
			if c.Index >= channels {
				p.inGate <- struct{}{}
				<-p.open
			} else if s := &played[c.Index]; s.n%each == each-1 {
				s.n++
				p.told <- struct{}{}
			} else {
				s.n++
			}
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	for i := range channels + workers {
		c, err := p.Register(int32(i), pool.Priority(i&7), 0)
		if err != nil {
			b.Fatal(err)
		}
		p.channels = append(p.channels, c)
	}
	p.channels, p.gates = p.channels[:channels], p.channels[channels:]
	return p
}

// add adds a burst, piece by piece.
func (p *benchPool) add() {
	for i := range burst {
		if err := p.TryAdd(p.channels[i%channels], i, 1); err != nil {
			p.b.Error(err)
		}
	}
}

// wait waits until bursts are played.
func (p *benchPool) wait(bursts int) {
	for range bursts * channels {
		<-p.told
	}
}

// measure calls round while the workers run, and reports the pieces of work
// that it says it has had played: a second of its rounds, and a second of what
// it calls draining.
func (p *benchPool) measure(round func() (bursts int, draining time.Duration)) {
	ctx, cancel := context.WithCancel(p.b.Context())
	var running sync.WaitGroup
	running.Go(func() { p.Run(ctx) })
	p.b.ReportAllocs()
	bursts, drained := 0, time.Duration(0)
	for p.b.Loop() {
		n, d := round()
		bursts += n
		drained += d
	}
	p.b.ReportMetric(float64(bursts*burst)/p.b.Elapsed().Seconds(), "items/s")
	if drained > 0 {
		p.b.ReportMetric(float64(bursts*burst)/drained.Seconds(), "drained/s")
	}
	cancel()
	running.Wait()
}

// benchmarkPoolDrained keeps the workers in gates while bursts are added and
// then lets them go: items are added and played, drained is the playing alone.
func benchmarkPoolDrained(b *testing.B, batch int) {
	const workers, bursts = 2, 4
	p := newBenchPool(b, workers, batch)
	p.measure(func() (int, time.Duration) {
		for _, g := range p.gates {
			if err := p.TryAdd(g, 0, 1); err != nil {
				b.Error(err)
			}
			<-p.inGate
		}
		for range bursts {
			p.add()
		}
		from := time.Now()
		for range workers {
			p.open <- struct{}{}
		}
		p.wait(bursts)
		return bursts, time.Since(from)
	})
}

func BenchmarkPoolDrainedBatch1(b *testing.B)  { benchmarkPoolDrained(b, 1) }
func BenchmarkPoolDrainedBatch16(b *testing.B) { benchmarkPoolDrained(b, 16) }

// benchmarkPoolWithProducers adds while workers play.
func benchmarkPoolWithProducers(b *testing.B, workers, producers, batch int) {
	p := newBenchPool(b, workers, batch)
	p.measure(func() (int, time.Duration) {
		for range producers {
			go p.add()
		}
		p.wait(producers)
		return producers, 0
	})
}

func BenchmarkPoolWithProducerBatch1(b *testing.B)       { benchmarkPoolWithProducers(b, 1, 1, 1) }
func BenchmarkPoolWithProducerBatch16(b *testing.B)      { benchmarkPoolWithProducers(b, 1, 1, 16) }
func BenchmarkPoolWithManyProducersBatch16(b *testing.B) { benchmarkPoolWithProducers(b, 2, 4, 16) }
