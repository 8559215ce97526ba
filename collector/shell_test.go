// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/racetest"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

// Engines, a collector that receives them, and one above that receives the
// collector in another subject space.
func TestTreeOverNATS(t *testing.T) {
	url := startServer(t)
	net := lineNet("order", 2, 1)
	a, b := publish(t, connect(t, url), "a", net, 3), publish(t, connect(t, url), "b", net, 4)
	below, _ := run(t, Config{Conn: connect(t, url)})
	view := until(t, below, "both up", func(v *merge.View) bool { return states(v) == "a=up b=up" })
	published, err := view.Nets[0].Published()
	if err != nil {
		t.Fatal(err)
	}
	subjects, err := telemetry.NewSubjects("upper.v1")
	if err != nil {
		t.Fatal(err)
	}
	sum, err := telemetry.Start(telemetry.Config{Conn: connect(t, url), Subjects: subjects, Source: "below", Nets: []telemetry.SourceNet{published},
		Interval: 20 * time.Millisecond, Log: slog.New(slog.DiscardHandler),
		Rows: func(_ int, _ int64, into *stats.Rows) error { return below.View().FillRows(published.ID, into) }})
	if err != nil {
		t.Fatal(err)
	}
	root, _ := run(t, Config{Conn: connect(t, url), Subjects: subjects})
	top := until(t, root, "the collector below is up", func(v *merge.View) bool { return states(v) == "below=up" })
	if p := top.Nets[0].Rows.Places[0]; p.Tokens != 7 || p.Arrivals != 7 {
		t.Errorf("got %+v; want 7 tokens and 7 arrivals", p)
	}
	stop(t, a)
	until(t, root, "a's tokens have left", func(v *merge.View) bool {
		p := v.Nets[0].Rows.Places[0]
		return p.Tokens == 4 && p.Arrivals == 7
	})
	stop(t, sum)
	stop(t, b)
}

// What comes faster than it can be taken is dropped, and counted.
func TestOverrunIsCounted(t *testing.T) {
	url := startServer(t)
	nc := connect(t, url)
	const room = 500 // messages
	c, book := run(t, Config{Conn: connect(t, url), Rules: merge.Rules{Limits: merge.Limits{WaitingBytes: room * msgBytes}}})
	subject := telemetry.Subjects{}.Snapshot("n", "a")
	deliver(t, nc, c, subject, nil)
	const more = room + 1000
	c.mu.Lock() // nothing is taken meanwhile
	for range more {
		if err := nc.Publish(subject, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	// A round trip of the collector's own connection: all of it has arrived.
	if err := c.cfg.Conn.Flush(); err != nil {
		t.Fatal(err)
	}
	dropped := func() uint64 {
		c.inbox.mu.Lock()
		defer c.inbox.mu.Unlock()
		return c.inbox.rest.dropped
	}
	for deadline := time.Now().Add(enough); dropped() < more-room-batchSize; <-time.After(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d dropped; want %d", dropped(), more-room)
		}
	}
	c.mu.Unlock()
	view := until(t, c, "all are counted", func(v *merge.View) bool { return v.Traffic.Messages >= more })
	if n := view.Traffic.Rejected[string(merge.OverrunUnknown)]; n < more-room-batchSize || n > more-room || view.Traffic.Rejected[string(merge.Overrun)] != 0 {
		t.Errorf("%d dropped", n)
	}
	if n := strings.Count(book.String(), "sources that are not shown"); n != 1 {
		t.Errorf("%d lines about it:\n%s", n, book)
	}
}

// What comes while the process waits for a processor is not dropped before the inbox,
// which drops by what is shown.
func TestTheInboxDecidesWhatIsDropped(t *testing.T) {
	url := startServer(t)
	nc := connect(t, url)
	c, _ := run(t, Config{Conn: connect(t, url)})
	came := uint64(1 << 18)
	if racetest.UnderRace {
		came = 1 << 12
	}
	c.inbox.mu.Lock() // nothing is put into it meanwhile
	for range came {
		if err := nc.Publish(telemetry.Subjects{}.Snapshot("n", "a"), nil); err != nil {
			c.inbox.mu.Unlock()
			t.Fatal(err)
		}
	}
	err := errors.Join(nc.Flush(), c.cfg.Conn.Flush()) // all of it has arrived
	c.inbox.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	view := until(t, c, "all are counted", func(v *merge.View) bool { return v.Traffic.Messages >= came })
	if n := view.Traffic.Rejected[string(merge.Overrun)]; n != 0 || view.Traffic.Messages != came {
		t.Errorf("%d of %d messages were dropped before the inbox; want none", n, view.Traffic.Messages)
	}
}

// A View is shown once it is kept, so that a next process never begins below it.
func TestViewIsKeptBeforeItIsShown(t *testing.T) {
	url := startServer(t)
	var c *Collector
	kept, goOn := make(chan bool), make(chan struct{})
	cfg := Config{Conn: connect(t, url), Log: slog.New(slog.DiscardHandler), Interval: 5 * time.Millisecond, Nets: []*petri.Net{lineNet("n", 1, 1)},
		Keep: func(f merge.Frame) bool { kept <- f.First; <-goOn; return false }}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- c.Run(ctx) }()
	for range 3 {
		whole := <-kept
		before := c.View()
		if !whole {
			t.Error("after one that was not kept, a frame is not the first of a log")
		}
		time.Sleep(20 * time.Millisecond) // four intervals, in which no other one may be shown
		if c.View() != before {
			t.Error("a merge.View is shown that is not kept")
		}
		goOn <- struct{}{}
		until(t, c, "it is shown", func(v *merge.View) bool { return v.Generation == before.Generation+1 })
	}
	// The end keeps all once more.
	cancel()
	for whole := false; ; { // a tick may come before it
		select {
		case whole = <-kept:
			goOn <- struct{}{}
		case err := <-done:
			if err != nil || !whole {
				t.Errorf("%v, whole: %v", err, whole)
			}
			return
		}
	}
}

// A View says how the connections are. The end keeps all once more and shows nothing: the
// Views of the other collector of a pair are of whole intervals.
func TestViewsHaveTheStatesOfTheConnections(t *testing.T) {
	var connected atomic.Pointer[natslink.ConnState]
	connected.Store(&natslink.ConnState{Connected: true, Server: "down"})
	up := &natslink.ConnState{Connected: true, Server: "up"}
	var c *Collector
	var shown uint64 // when a state was last kept
	c, err := New(Config{Conn: connect(t, startServer(t)), NATS: connected.Load, Up: func() *natslink.ConnState { return up },
		Interval: 5 * time.Millisecond, Keep: func(merge.Frame) bool { shown = c.View().Generation; return false }, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	until(t, c, "a merge.View with the states", func(v *merge.View) bool { return v.NATS == connected.Load() && v.Up == up })
	closed := &natslink.ConnState{Reason: "closed"}
	connected.Store(closed)
	until(t, c, "a merge.View with the new state", func(v *merge.View) bool { return v.NATS == closed && v.Up == up })
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	// Run, which calls Keep, has ended.
	if last := c.View().Generation; shown != last {
		t.Errorf("a merge.View was shown after the last state was kept: number %d, and then %d", shown, last)
	}
}

// A sum that can grow no more is logged at WARN, once for each net.
func TestSaturatedSumIsLoggedOnce(t *testing.T) {
	url := startServer(t)
	nc := connect(t, url)
	c, book := run(t, Config{Conn: connect(t, url)})
	net := lineNet("n", 2, 2)
	good := publish(t, connect(t, url), "good", net, 5)
	defer stop(t, good)
	view := until(t, c, "the net", func(v *merge.View) bool { return len(v.Nets) == 1 && v.Nets[0].Up == 1 })
	send := func(source string, seq uint64) {
		msg := &telemetry.Snapshot{Source: source, Net: "n", Digest: view.Nets[0].Digests[0].Digest, Epoch: 1, Seq: seq, SentAt: time.Now().UnixMicro(),
			Interval: time.Second, Full: true, Rows: *stats.NewRows(2, 2)}
		msg.Rows.Columns = stats.ColDwell
		msg.Rows.Places[1].Dwell = stats.Histogram{Zero: 1, Sum: 1 << 62}
		say(t, nc, c, msg)
	}
	const said = "a sum reached its maximum and no longer increases"
	send("one", 1)
	until(t, c, "one source", func(v *merge.View) bool { return v.Nets[0].Rows.Places[1].Dwell.Sum == 1<<62 })
	if strings.Contains(book.String(), said) {
		t.Errorf("logged too early:\n%s", book)
	}
	send("two", 1)
	until(t, c, "the largest sum", func(v *merge.View) bool { return v.Nets[0].Rows.Places[1].Dwell.Sum == stats.MaxSum })
	send("three", 1)
	shown := until(t, c, "three sources and good", func(v *merge.View) bool { return v.Nets[0].Up == 4 })
	until(t, c, "some more Views", func(v *merge.View) bool { return v.Generation > shown.Generation+3 })
	if s := shown.Nets[0].Rows.Places[1].Dwell.Sum; s != stats.MaxSum {
		t.Errorf("the sum is %d", s)
	}
	want := fmt.Sprintf(`level=WARN msg="%s" net=n of="place \"%s\"" at=9223372036854775807`, said, net.Places[1].ID)
	if log := book.String(); strings.Count(log, said) != 1 || !strings.Contains(log, want) {
		t.Errorf("expected once %s\n%s", want, log)
	}
}
