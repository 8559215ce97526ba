// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/attach/dipen"
	"github.com/pnagent/pnagent/attach/dipen/replica"
	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/telemetry"
)

const (
	patience  = 60 * time.Second
	pollEvery = 25 * time.Millisecond
	netName   = "line"
)

// until waits until check returns nil.
func until(t *testing.T, what string, check func() error) {
	t.Helper()
	end := time.After(patience)
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-end:
			t.Fatalf("waiting until %s: %v", what, err)
		case <-time.After(pollEvery):
		}
	}
}

// bench holds NATS, a collector, and one adapter after another; everything
// except etcd.
type bench struct {
	t         *testing.T
	url       string
	conn      *nats.Conn
	subjects  telemetry.Subjects
	collector *collector.Collector
	state     string

	adapter *adapter
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, url: startNATS(t), state: filepath.Join(t.TempDir(), "state")}
	b.conn = connect(t, b.url)
	var err error
	if b.subjects, err = telemetry.NewSubjects("petrinet.v1"); err != nil {
		t.Fatal(err)
	}
	b.collector, err = collector.New(collector.Config{Conn: b.conn, Subjects: b.subjects, Interval: 50 * time.Millisecond, Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.collector.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	})
	return b
}

func startNATS(t *testing.T) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(patience) {
		t.Fatal("nats-server does not begin")
	}
	return s.ClientURL()
}

func connect(t *testing.T, url string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

func quiet() *slog.Logger {
	if os.Getenv("ETCDTEST_LOG") != "" {
		return slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	return slog.New(slog.DiscardHandler)
}

// adapter is a running dipen.Run.
type adapter struct {
	cancel func()
	done   chan error
	status func() dipen.Status
}

// attach starts an adapter.
func (b *bench) attach(e *etcd, more ...func(*dipen.Config)) *adapter {
	b.t.Helper()
	status := make(chan func() dipen.Status, 1)
	cfg := dipen.Config{Etcd: dipen.Etcd{Endpoints: []string{"http://127.0.0.1:1", e.url()}}, Prefix: prefix, Net: &petri.Net{ID: netName},
		State: b.state, Limits: replica.DefaultLimits(), Conn: b.conn, Subjects: b.subjects, Source: "adapter", Interval: 100 * time.Millisecond,
		Status: func(s func() dipen.Status) { status <- s }, Log: quiet()}
	for _, m := range more {
		m(&cfg)
	}
	ctx, cancel := context.WithCancel(context.Background())
	a := &adapter{cancel: cancel, done: make(chan error, 1)}
	go func() { a.done <- dipen.Run(ctx, cfg) }()
	select {
	case a.status = <-status:
	case err := <-a.done:
		b.t.Fatal(err)
	}
	b.adapter = a
	b.t.Cleanup(func() { b.detach(a) })
	until(b.t, "etcd is watched", func() error {
		if !a.status().Connected {
			return errText("not yet")
		}
		return nil
	})
	return a
}

// detach stops an adapter as an operator does.
func (b *bench) detach(a *adapter) {
	b.t.Helper()
	if a.done == nil {
		return
	}
	a.cancel()
	if err := <-a.done; err != nil {
		b.t.Error(err)
	}
	a.done = nil
}

// net returns the net as the collector shows it.
func (b *bench) net() *merge.NetView {
	for _, n := range b.collector.View().Nets {
		if n.Name == netName && n.Def != nil && n.Rows != nil {
			return n
		}
	}
	return nil
}

// seen returns the published data.
func (b *bench) seen() seen {
	s := newSeen()
	n := b.net()
	if n == nil {
		return s
	}
	set := func(into map[string]uint64, id string, v uint64) {
		if v > 0 {
			into[id] = v
		}
	}
	for i := range n.Rows.Places {
		set(s.Tokens, n.Def.Places[i].ID, n.Rows.Places[i].Tokens)
		set(s.Arrivals, n.Def.Places[i].ID, n.Rows.Places[i].Arrivals)
	}
	for i := range n.Rows.Transitions {
		set(s.Firings, n.Def.Transitions[i].ID, n.Rows.Transitions[i].Firings)
		set(s.Cancels, n.Def.Transitions[i].ID, n.Rows.Transitions[i].Cancels)
		set(s.Running, n.Def.Transitions[i].ID, n.Rows.Transitions[i].Running)
	}
	return s
}

// agrees waits until the published data equal the true state.
func (b *bench) agrees(m *emulation) {
	b.t.Helper()
	until(b.t, "the published rows are the truth", func() error {
		if d := cmp.Diff(m.truth(), b.seen()); d != "" {
			return fmt.Errorf("truth (-) and rows (+), %+v:\n%s", b.adapter.status(), d)
		}
		return nil
	})
}

// agesAgree compares the oldest ages with the true state, after the rows have
// agreed. A published time lies between the moment when the token was put and
// the moment when the adapter had received it. The adapter is certain of it
// only after one more request to etcd.
func (b *bench) agesAgree(m *emulation) {
	b.t.Helper()
	until(b.t, "the adapter has received everything", func() error {
		if r := b.adapter.status().Revision; r < m.revision {
			return fmt.Errorf("revision %d, want %d", r, m.revision)
		}
		return nil
	})
	m.received()
	b.looks()
	published := b.published()
	until(b.t, "two more snapshots are taken", func() error { // the second one was made after that
		if b.published() < published+2 {
			return errText("not yet")
		}
		return nil
	})
	truth, n := m.oldest(), b.net()
	for i := range n.Rows.Places {
		want, there := truth[n.Def.Places[i].ID]
		if !there {
			continue
		}
		if is := time.UnixMicro(n.Rows.Places[i].Oldest); is.Before(want.earliest.Truncate(time.Microsecond)) || is.After(want.latest) {
			b.t.Errorf("place %s: the oldest token was put at %v, want %v to %v", n.Def.Places[i].ID, is, want.earliest, want.latest)
		}
	}
}

// looks waits until the adapter has requested the newest revision once more.
func (b *bench) looks() {
	b.t.Helper()
	looks := b.adapter.status().Looks
	until(b.t, "the adapter has looked", func() error {
		if b.adapter.status().Looks == looks {
			return errText("not yet")
		}
		return nil
	})
}

// published returns the sequence number of the last snapshot that the collector
// received.
func (b *bench) published() uint64 {
	for _, s := range b.collector.View().Sources {
		if s.Net == netName {
			return s.Seq
		}
	}
	return 0
}

// errText is an error of a test.
type errText string

func (e errText) Error() string { return string(e) }

func tokensDiff(m *emulation, b *bench) string { return cmp.Diff(m.truth().Tokens, b.seen().Tokens) }
