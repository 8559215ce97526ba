// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/telemetry"
)

// Random bytes on any subject, in either lane, stop nothing.
func FuzzCollector(f *testing.F) {
	subjects := telemetry.Subjects{}
	good, err := throughTheWireBytes()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(subjects.Snapshot("n", "a"), false, good)
	f.Add(subjects.Bye("n", "a"), true, []byte(`{"source":"a","net":"n"}`))
	f.Add("petrinet.v1.snapshot..", true, []byte(nil))
	url := startServer(f)
	nc := connect(f, url)
	c, err := New(Config{Conn: nc, Log: slog.New(slog.DiscardHandler), Nets: []*petri.Net{lineNet("n", 2, 2)}})
	if err != nil {
		f.Fatal(err)
	}
	c.run(true)
	ctx, cancel := context.WithCancel(context.Background())
	f.Cleanup(func() { c.run(false); cancel(); c.tasks.Wait() })
	var dec telemetry.Decoder
	var msg telemetry.Snapshot
	f.Fuzz(func(t *testing.T, subject string, json bool, payload []byte) {
		m := &nats.Msg{Subject: subject, Data: payload}
		if json {
			m.Header = nats.Header{telemetry.ContentTypeHeader: {telemetry.ContentTypeJSON}}
		}
		before := c.View().Traffic.Messages
		c.receive(ctx, &waiting{Msg: m, at: t0}, false, &dec, &msg)
		c.tick(ctx, time.Now().UnixMicro())
		if c.View().Traffic.Messages == before {
			t.Error("the message was not counted")
		}
	})
}

func throughTheWireBytes() ([]byte, error) {
	var enc telemetry.Encoder
	return enc.Append(nil, randomSource(rand.New(rand.NewPCG(2, 2)), "a", 2, 2, t0))
}
