// SPDX-License-Identifier: Apache-2.0

package fleetsim

import (
	"context"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/buildtest"
	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/telemetry"
)

// BenchmarkMessage measures what a message of 10,000 sources takes of a processor, a message a second
// of each: sent and received by the NATS client alone, decoded alone, also merged, added up to a View a second,
// and sent, received and shown by a collector without outputs, with one View a second. Each second is measured in
// these ways in turn. What the collector takes beside all of the others is the rest. The server is another process.
// Messages are sent when they say that they are: otherwise the collector takes the clocks of all sources for wrong, and moves the
// times of all of their rows with each message.
func BenchmarkMessage(b *testing.B) {
	const sources = 10_000
	url := serverProcess(b)
	from := client(b, url)
	all := turnsFrom(b, sources, time.Now().UnixMicro())
	all.writer.interval = time.Minute // beside other load a second of the fleet lasts longer, and no source is silent
	if err := serveDefinition(from, all.writer.net); err != nil {
		b.Fatal(err)
	}
	came, n := make(chan struct{}), 0
	alone, err := client(b, url).Subscribe("alone", func(*nats.Msg) {
		if n++; n%sources == 0 {
			came <- struct{}{}
		}
	})
	if err == nil {
		err = alone.SetPendingLimits(-1, -1)
	}
	if err != nil {
		b.Fatal(err)
	}
	c := collects(b, url)
	publish := func(at int64, subject func(i int) string, messages [][]byte) {
		for i, text := range messages {
			if i%1000 == 0 {
				if err := from.Flush(); err != nil {
					b.Fatal(err)
				}
				time.Sleep(time.Until(time.UnixMicro(at + 9*second/10*int64(i)/sources)))
			}
			if err := from.Publish(subject(i), text); err != nil {
				b.Fatal(err)
			}
		}
		if err := from.Flush(); err != nil {
			b.Fatal(err)
		}
	}
	names := make([]string, sources)
	for i, s := range all.sources {
		names[i] = telemetry.Subjects{}.Snapshot(all.writer.net.id, s.name)
	}
	shown, taken, views := uint64(0), uint64(0), uint64(0)
	show := func(messages [][]byte) {
		time.Sleep(time.Until(time.UnixMicro(all.now - second)))
		before := c.View().Generation
		publish(all.now-second, func(i int) string { return names[i] }, messages)
		for shown += sources; taken < shown; time.Sleep(20 * time.Millisecond) {
			v := c.View()
			taken = v.Traffic.Messages
			views += v.Generation - before
			before = v.Generation
			if v.Traffic.Bad+v.Traffic.Lost > 0 {
				b.Fatalf("%+v", v.Traffic)
			}
		}
	}
	m := merge.NewMerger(merge.Rules{}, all.now)
	if _, err := m.Define(all.writer.net.digest, line(), all.now); err != nil {
		b.Fatal(err)
	}
	var d telemetry.Decoder
	var msg telemetry.Snapshot
	decode := func(messages [][]byte, then func(size int) error) {
		for _, text := range messages {
			err := d.Decode(text, &msg)
			if err == nil {
				err = then(len(text))
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	take := func(size int) error { _, err := m.Take(&msg, size, msg.SentAt); return err }
	ahead := 4 * second // until a second is shown: it is encoded and measured in the other ways before
	next := func() [][]byte {
		all.now = (time.Now().UnixMicro()+ahead)/second*second + second/50 // all are sent between two Views
		messages, _ := all.next(b)
		return messages
	}
	first := next()
	show(first)
	decode(first, take)
	ways := [...]func(messages [][]byte){
		func(messages [][]byte) {
			publish(time.Now().UnixMicro(), func(int) string { return "alone" }, messages)
			<-came
		},
		func(messages [][]byte) { decode(messages, func(int) error { return nil }) },
		func(messages [][]byte) { decode(messages, take) },
		func([][]byte) { m.Tick(msg.SentAt) },
		show,
	}
	var took [len(ways)]time.Duration
	views = 0
	for b.Loop() {
		messages := next()
		for i, way := range ways {
			if i == len(ways)-1 {
				ahead += 2 * max(0, time.Now().UnixMicro()-(all.now-second))
			}
			begin := cpuUsed(b)
			way(messages)
			took[i] += cpuUsed(b) - begin
		}
	}
	report := func(d time.Duration, part string) {
		b.ReportMetric(float64(d.Nanoseconds())/float64(b.N)/sources, part+"-ns")
	}
	received, decoded, added, whole := took[0], took[1], took[3], took[4]
	merged := took[2] - decoded
	report(received, "received")
	report(decoded, "decoded")
	report(merged, "merged")
	report(added, "added-up")
	report(whole-received-decoded-merged-added, "rest")
	report(whole, "shown")
	b.ReportMetric(float64(views)/float64(b.N), "views")
	b.ReportMetric(float64(whole)/float64(received+decoded), "ratio")
}

// serverProcess starts a NATS server, whose processor time is not that of the benchmark.
func serverProcess(b *testing.B) (url string) {
	b.Helper()
	program := filepath.Join(b.TempDir(), "nats-server")
	if err := buildtest.Build(b.Context(), ".", program, "github.com/nats-io/nats-server/v2"); err != nil {
		b.Fatal(err)
	}
	address := porttest.Addr(b)
	host, port, _ := strings.Cut(address, ":")
	cmd := exec.CommandContext(b.Context(), program, "--addr", host, "--port", port)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return "nats://" + address
}

// client returns a connection that ends with the benchmark.
func client(b *testing.B, url string) *nats.Conn {
	b.Helper()
	nc, err := nats.Connect(url, nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond))
	if err == nil {
		err = nc.FlushTimeout(enough)
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(nc.Close)
	return nc
}

// collects runs a collector until the benchmark ends.
func collects(b *testing.B, url string) *collector.Collector {
	b.Helper()
	c, err := collector.New(collector.Config{Conn: client(b, url), Log: slog.New(slog.DiscardHandler), PNML: pnml.DefaultLimits()})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := c.Run(ctx); err != nil {
			b.Error(err)
		}
	})
	b.Cleanup(func() { cancel(); running.Wait() })
	return c
}
