// SPDX-License-Identifier: Apache-2.0

package camunda8

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/telemetry"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// watch is a collector of what the adapter publishes.
type watch struct {
	t        *testing.T
	url      string // of the NATS server
	nc       *nats.Conn
	subjects telemetry.Subjects
	*collector.Collector
}

func newWatch(t *testing.T) *watch {
	t.Helper()
	server := natstest.Run(t, natstest.Listen)
	subjects, err := telemetry.NewSubjects("petrinet.v1")
	if err != nil {
		t.Fatal(err)
	}
	w := &watch{t: t, url: server.ClientURL(), nc: natstest.Connect(t, server), subjects: subjects}
	w.Collector, err = collector.New(collector.Config{Conn: w.nc, Subjects: subjects, Interval: 100 * time.Millisecond,
		PNML: pnml.DefaultLimits(), Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	w.background(w.Run)
	return w
}

// background runs something until the test ends, or end is called.
func (w *watch) background(run func(context.Context) error) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	end = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	})
	w.t.Cleanup(end)
	return end
}

// adapter runs the adapter, and returns what ends it.
func (w *watch) adapter(e *emulation, state string) (a *Adapter, end func()) {
	w.t.Helper()
	a, err := New(Config{Address: e.URL, Client: e.Client(), Detail: true, Tokens: 1000, Overlap: time.Minute, Polling: ledger.Polling{State: state, Interval: 200 * time.Millisecond, Timeout: 10 * time.Second,
		Conn: w.nc, Subjects: w.subjects, Source: "adapter", Log: slog.New(slog.NewTextHandler(w.t.Output(), nil))}})
	if err != nil {
		w.t.Fatal(err)
	}
	a.client.page = 3
	return a, w.background(a.Run)
}

// until waits until check returns "", which otherwise says what is missing.
func (w *watch) until(check func(*merge.View) string) {
	w.t.Helper()
	views := w.Subscribe()
	ctx, cancel := context.WithTimeout(w.t.Context(), 3*time.Minute)
	defer cancel()
	for missing := check(w.View()); missing != ""; {
		select {
		case v := <-views:
			missing = check(v)
		case <-ctx.Done():
			w.t.Fatal(missing)
		}
	}
}
