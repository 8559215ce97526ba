// SPDX-License-Identifier: Apache-2.0

package fleetsim

import (
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/telemetry"
)

// turns encodes the messages of a fleet, turn after turn, without sending them.
type turns struct {
	sources []*source
	writer  writer
	totals  totals
	now     int64
}

func newTurns(tb testing.TB, sources int) *turns {
	tb.Helper()
	return turnsFrom(tb, sources, 1_700_000_000*second)
}

// turnsFrom returns turns that begin at a time.
func turnsFrom(tb testing.TB, sources int, now int64) *turns {
	tb.Helper()
	net, err := define(line())
	if err != nil {
		tb.Fatal(err)
	}
	t := &turns{writer: writer{interval: time.Second, net: net}, now: now}
	past := newHistory(rand.New(rand.NewPCG(1, 0)))
	for i := range sources {
		s := &source{name: order(uint32(i)), rng: rand.New(rand.NewPCG(1, uint64(i+1)))}
		s.begin(t.now - int64(i)) // so that full messages are spread over the turns
		s.since = i % fullEvery
		s.preload(t.now, past, &t.totals)
		t.sources = append(t.sources, s)
	}
	return t
}

// next returns the messages of all sources in the next second.
func (t *turns) next(tb testing.TB) (messages [][]byte, bytes int) {
	tb.Helper()
	for i, s := range t.sources {
		now := t.now + second*int64(i)/int64(len(t.sources))
		s.step(now, &t.totals)
		msg, err := t.writer.message(s, now, false)
		if err != nil {
			tb.Fatal(err)
		}
		messages, bytes = append(messages, append([]byte(nil), msg...)), bytes+len(msg)
	}
	t.now += second
	return messages, bytes
}

func cpuUsed(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkFleet measures one second of 10,000 sources for a collector without
// outputs and network: every message is decoded (the base), also merged, and also
// added up to a View.
func BenchmarkFleet(b *testing.B) {
	const sources, seconds = 10_000, 5
	t := newTurns(b, sources)
	first, _ := t.next(b)
	var rest [seconds][][]byte
	var bytes int
	for i := range rest {
		rest[i], bytes = t.next(b)
	}
	for _, what := range []string{"decode", "take", "take_and_add_up"} {
		b.Run(what, func(b *testing.B) {
			var d telemetry.Decoder
			var msg telemetry.Snapshot
			m := new(merge.Merger)
			receive := func(messages [][]byte) {
				for _, text := range messages {
					if err := d.Decode(text, &msg); err != nil {
						b.Fatal(err)
					}
					if what == "decode" {
						continue
					}
					if _, err := m.Take(&msg, len(text), msg.SentAt); err != nil {
						b.Fatal(err)
					}
				}
				if what == "take_and_add_up" {
					m.Tick(msg.SentAt)
				}
			}
			b.ReportAllocs()
			b.SetBytes(int64(bytes))
			cpu := time.Duration(0)
			for i := 0; b.Loop(); i++ {
				if i%seconds == 0 {
					b.StopTimer()
					m = merge.NewMerger(merge.Rules{}, t.now)
					if _, err := m.Define(t.writer.net.digest, line(), t.now); err != nil {
						b.Fatal(err)
					}
					receive(first)
					b.StartTimer()
				}
				begin := cpuUsed(b)
				receive(rest[i%seconds])
				cpu += cpuUsed(b) - begin
			}
			b.ReportMetric(float64(cpu.Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
}

// BenchmarkMemory measures what a collector keeps of one of 10,000 sources that have published for
// half a minute, with the log of their counters.
func BenchmarkMemory(b *testing.B) {
	const sources, seconds = 10_000, 30
	for b.Loop() {
		t := newTurns(b, sources)
		m, saver := merge.NewMerger(merge.Rules{}, t.now), merge.Saver{}
		if _, err := m.Define(t.writer.net.digest, line(), t.now); err != nil {
			b.Fatal(err)
		}
		before := heap()
		var d telemetry.Decoder
		var msg telemetry.Snapshot
		for range seconds {
			messages, _ := t.next(b)
			for _, text := range messages {
				err := d.Decode(text, &msg)
				if err == nil {
					_, err = m.Take(&msg, len(text), msg.SentAt)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			m.Tick(t.now)
			frame := saver.Begin(m, false)
			for more := true; more; {
				more = frame.Piece()
			}
			if _, err := frame.Frame(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(heap()-before)/sources, "bytes/source")
		runtime.KeepAlive(t)
		runtime.KeepAlive(m)
		runtime.KeepAlive(&saver)
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}
