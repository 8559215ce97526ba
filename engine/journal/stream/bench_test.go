// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/internal/natstest"
)

const benchCommit = 128 // bytes

// BenchmarkAppend appends commits of 128 bytes with several windows and
// confirms the last one. One server syncs from time to time, the other before
// each answer. The base publishes the same with PublishAsync, which neither
// expects a sequence nor fences other writers.
func BenchmarkAppend(b *testing.B) {
	for _, always := range []bool{false, true} {
		for _, window := range []int{1, 16, 128, 1024, 4096} {
			name := fmt.Sprintf("always=%v/window=%d", always, window)
			b.Run("stream/"+name, func(b *testing.B) { benchAppend(b, always, window) })
			b.Run("base=PublishAsync/"+name, func(b *testing.B) { benchPublish(b, always, window) })
		}
	}
}

func benchServer(b *testing.B, always bool) *nats.Conn {
	o := options(b.TempDir())
	o.SyncAlways = always
	return connect(b, natstest.Start(b, o).ClientURL())
}

func benchAppend(b *testing.B, always bool, window int) {
	l := openLog(b, Config{Conn: benchServer(b, always), Name: "bench", Window: Window{Commits: window}})
	b.ResetTimer()
	fill(b, l, b.N) // b.Loop would leave out the last answers
	report(b)
}

func benchPublish(b *testing.B, always bool, window int) {
	l := openLog(b, Config{Conn: benchServer(b, always), Name: "bench"})
	js, err := jetstream.New(l.config.Conn, jetstream.WithPublishAsyncMaxPending(window))
	if err != nil {
		b.Fatal(err)
	}
	payload := make([]byte, benchCommit)
	b.ResetTimer()
	for range b.N {
		if _, err := js.PublishAsync(l.subject, payload, jetstream.WithStallWait(patience)); err != nil {
			b.Fatal(err)
		}
	}
	<-js.PublishAsyncComplete()
	report(b)
}

func report(b *testing.B) {
	b.SetBytes(benchCommit)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
}

// BenchmarkFollow reads a stream of 200,000 commits. The base is the ordered
// consumer of the client library, which requests messages in batches.
func BenchmarkFollow(b *testing.B) {
	const commits = 200_000
	l := openLog(b, Config{Conn: benchServer(b, false), Name: "a log"})
	fill(b, l, commits)
	report := func(b *testing.B) {
		b.ReportMetric(float64(b.N)*commits/b.Elapsed().Seconds(), "commits/s")
	}
	b.Run("stream", func(b *testing.B) {
		for b.Loop() {
			n := 0
			err := l.Follow(context.Background(), 1, func(journal.Commit) error {
				if n++; n == commits {
					return errEnough
				}
				return nil
			})
			if !errors.Is(err, errEnough) {
				b.Fatal(err)
			}
		}
		report(b)
	})
	b.Run("base=OrderedConsumer", func(b *testing.B) {
		for b.Loop() {
			n, done := 0, make(chan struct{})
			stop := pull(b, l, func(uint64) {
				if n++; n == commits {
					close(done)
				}
			})
			<-done
			stop()
		}
		report(b)
	})
}

func fill(b *testing.B, l *Log, commits int) {
	payload := make([]byte, benchCommit)
	last := l.Last()
	for range commits {
		var err error
		if last, err = l.Append(context.Background(), last, payload); err != nil {
			b.Fatal(err)
		}
	}
	if err := l.Confirm(context.Background(), last); err != nil {
		b.Fatal(err)
	}
}

// pull reads with the ordered consumer of the client library.
func pull(b *testing.B, l *Log, each func(uint64)) (stop func()) {
	consumer, err := l.stream.OrderedConsumer(context.Background(), jetstream.OrderedConsumerConfig{})
	if err != nil {
		b.Fatal(err)
	}
	c, err := consumer.Consume(func(m jetstream.Msg) {
		meta, err := m.Metadata()
		if err != nil {
			b.Error(err)
			return
		}
		each(meta.Sequence.Stream)
	})
	if err != nil {
		b.Fatal(err)
	}
	return c.Stop
}

// BenchmarkPingPong moves a token from one log to another and back: each side
// appends a commit when it receives one of the other side, over its own
// connection. The base receives through the ordered consumer of the client
// library.
func BenchmarkPingPong(b *testing.B) {
	b.Run("stream", func(b *testing.B) {
		pingPong(b, func(b *testing.B, l *Log, each func(uint64)) func() {
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan struct{})
			go func() {
				defer close(done)
				err := l.Follow(ctx, 1, func(c journal.Commit) error { each(c.Sequence); return nil })
				if !errors.Is(err, context.Canceled) {
					b.Error(err)
				}
			}()
			return func() { cancel(); <-done }
		})
	})
	b.Run("base=OrderedConsumer", func(b *testing.B) { pingPong(b, pull) })
}

func pingPong(b *testing.B, follow func(*testing.B, *Log, func(uint64)) func()) {
	s := natstest.Start(b, options(b.TempDir()))
	var write, read [2]*Log
	for i := range 2 {
		name := fmt.Sprint("side ", i)
		write[i] = openLog(b, Config{Conn: connect(b, s.ClientURL()), Name: name})
		read[i] = openLog(b, Config{Conn: write[i].config.Conn, Name: fmt.Sprint("side ", 1-i)})
	}
	back := make(chan struct{}, 1)
	answer := func(l *Log) func(uint64) {
		return func(n uint64) {
			if _, err := l.Append(context.Background(), n-1, nil); err != nil {
				b.Error(err)
			}
		}
	}
	defer follow(b, read[1], answer(write[1]))()
	defer follow(b, read[0], func(uint64) { back <- struct{}{} })()
	last := uint64(0)
	for b.Loop() {
		var err error
		if last, err = write[0].Append(context.Background(), last, nil); err != nil {
			b.Fatal(err)
		}
		<-back
	}
	b.ReportMetric(2*float64(b.N)/b.Elapsed().Seconds(), "crossings/s")
}
