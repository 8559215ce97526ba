// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/logtest"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

const enough = time.Minute // for what takes milliseconds on an idle machine

// startServer runs a NATS server of the test's own.
func startServer(tb testing.TB) string {
	tb.Helper()
	return natstest.Run(tb, natstest.Listen, "max_payload: 4MB").ClientURL()
}

func connect(tb testing.TB, url string) *nats.Conn {
	tb.Helper()
	closed := make(chan struct{})
	nc, err := nats.Connect(url, nats.Timeout(enough), nats.ClosedHandler(func(*nats.Conn) { close(closed) }))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { nc.Close(); <-closed })
	return nc
}

// run runs a collector until the test ends, and returns when it listens.
func run(tb testing.TB, cfg Config) (*Collector, *logtest.Buffer) {
	tb.Helper()
	hello, err := cfg.Conn.SubscribeSync(cfg.Subjects.Hello())
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = hello.Unsubscribe() }()
	book := &logtest.Buffer{}
	cfg.Log, cfg.Interval = slog.New(slog.NewTextHandler(book, nil)), cmp.Or(cfg.Interval, 5*time.Millisecond)
	c, err := New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- c.Run(ctx) }()
	tb.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			tb.Error(err)
		}
	})
	if _, err := hello.NextMsg(enough); err != nil { // it says so on the connection on which it listens
		tb.Fatal(err)
	}
	return c, book
}

// until waits for a View in which something is so.
func until(tb testing.TB, c *Collector, what string, so func(*merge.View) bool) *merge.View {
	tb.Helper()
	deadline := time.After(enough)
	for {
		view := c.View()
		if err := json.NewEncoder(io.Discard).Encode(view); err != nil { // reads all of it, for the race detector
			tb.Fatal(err)
		}
		if so(view) {
			return view
		}
		select {
		case <-deadline:
			var out bytes.Buffer
			_ = json.NewEncoder(&out).Encode(view)
			tb.Fatalf("never: %s\n%s", what, out.String())
		case <-time.After(time.Millisecond):
		}
	}
}

func writePNML(tb testing.TB, n *petri.Net) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := pnml.Write(&b, n); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// publish starts a source that says its tokens and firings are those.
func publish(tb testing.TB, nc *nats.Conn, source string, net *petri.Net, tokens uint64) *telemetry.Publisher {
	tb.Helper()
	return publishing(tb, nc, source, net, func() uint64 { return tokens })
}

// publishing does the same with tokens, arrivals and firings that change.
func publishing(tb testing.TB, nc *nats.Conn, source string, net *petri.Net, count func() uint64) *telemetry.Publisher {
	tb.Helper()
	p, err := telemetry.Start(telemetry.Config{
		Conn: nc, Source: source, Interval: 20 * time.Millisecond, Log: slog.New(slog.DiscardHandler),
		Nets: []telemetry.SourceNet{{ID: net.ID, PNML: writePNML(tb, net), Places: len(net.Places), Transitions: len(net.Transitions)}},
		Rows: func(_ int, _ int64, into *stats.Rows) error {
			into.Columns = stats.ColTokens | stats.ColArrivals | stats.ColFirings
			n := count()
			into.Places[0].Tokens, into.Places[0].Arrivals, into.Transitions[0].Firings = n, n, n
			return nil
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func stop(tb testing.TB, p *telemetry.Publisher) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), enough)
	defer cancel()
	if err := p.Close(ctx); err != nil {
		tb.Error(err)
	}
}

func states(v *merge.View) string {
	var b strings.Builder
	for _, s := range v.Sources {
		fmt.Fprintf(&b, "%s=%s ", s.Name, s.State)
	}
	return strings.TrimSpace(b.String())
}

func TestCollectorReceivesPublishers(t *testing.T) {
	url := startServer(t)
	net := lineNet("order", 2, 1)
	a := publish(t, connect(t, url), "a", net, 3)
	b := publish(t, connect(t, url), "b", net, 4)
	c, _ := run(t, Config{Conn: connect(t, url)})
	view := until(t, c, "both up", func(v *merge.View) bool { return states(v) == "a=up b=up" })
	if p := view.Nets[0].Rows.Places[0]; p.Tokens != 7 || p.Arrivals != 7 {
		t.Errorf("got %+v; want 7 tokens and 7 arrivals", p)
	}
	stop(t, a)
	view = until(t, c, "a is gone", func(v *merge.View) bool { return states(v) == "a=gone b=up" })
	if p := view.Nets[0].Rows.Places[0]; p.Tokens != 4 || p.Arrivals != 7 {
		t.Errorf("got %+v; want 4 tokens and 7 arrivals", p)
	}
	a = publish(t, connect(t, url), "a", net, 1)
	view = until(t, c, "a is back", func(v *merge.View) bool { return states(v) == "a=up b=up" })
	if p := view.Nets[0].Rows.Places[0]; p.Tokens != 5 || p.Arrivals != 8 {
		t.Errorf("got %+v; want 5 tokens and 8 arrivals", p)
	}
	stop(t, a)
	stop(t, b)
}

// A collector that starts late receives everything at once, not at the next full
// snapshot, because it requests all snapshots. The definition of a net that was
// given at the start is not requested, so a source of it is counted even if the
// definition is not available.
func TestSourceOfAGivenNetIsCountedWithoutBeingAsked(t *testing.T) {
	nc := connect(t, startServer(t))
	net := &petri.Net{ID: "n", Places: []petri.Place{{ID: "p"}}, Transitions: []petri.Transition{{ID: "t"}}}
	c, book := run(t, Config{Conn: nc, Nets: []*petri.Net{net}})
	say(t, nc, c, &telemetry.Snapshot{Source: "gone", Epoch: 1, Seq: 1, SentAt: time.Now().UnixMicro(), Interval: time.Second, Net: "n",
		Digest: telemetry.Digest(writePNML(t, net)), Full: true,
		Rows: stats.Rows{Columns: stats.ColFirings, Transitions: []stats.Transition{{Firings: 7}}}})
	until(t, c, "7 firings", func(v *merge.View) bool { return v.Net("n").Rows.Transitions[0].Firings == 7 })
	if s := book.String(); s != "" {
		t.Errorf("logged %s", s)
	}
}

func TestCollectorSaysHello(t *testing.T) {
	url := startServer(t)
	nc := connect(t, url)
	received, err := nc.SubscribeSync(telemetry.Subjects{}.Hello())
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	run(t, Config{Conn: connect(t, url)})
	if _, err := received.NextMsg(enough); err != nil {
		t.Error(err)
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := New(Config{Log: slog.New(slog.DiscardHandler)}); err == nil {
		t.Error("a collector without a connection")
	}
	cfg := Config{Conn: connect(t, startServer(t)), Log: slog.New(slog.DiscardHandler)}
	cfg.Nets = []*petri.Net{{ID: "n", Places: []petri.Place{{ID: "p"}, {ID: "p"}}}}
	if _, err := New(cfg); err == nil {
		t.Error("a net that is not valid")
	}
	cfg.Nets, cfg.Rules.Limits.Rows = []*petri.Net{lineNet("n", 3, 3)}, 5
	if _, err := New(cfg); telemetry.ReasonOf(err) != merge.TooManyRows {
		t.Errorf("a net that is too large: %v", err)
	}
}

// A definition that is wrong is counted, and asked for again.
func TestWrongDefinitionsAreCountedAndAskedForAgain(t *testing.T) {
	natstest.Bubble(t, wrongDefinitionsAreCountedAndAskedForAgain)
}

func wrongDefinitionsAreCountedAndAskedForAgain(t *testing.T) {
	s := natstest.Run(t)
	nc := natstest.Connect(t, s)
	good := writePNML(t, lineNet("n", 1, 1))
	digest := telemetry.Digest(good)
	var subjects telemetry.Subjects
	answers := make(chan []byte, 2)
	answers <- []byte("not what was asked for")
	answers <- good
	sub, err := nc.Subscribe(subjects.Definition("n", digest), func(m *nats.Msg) {
		if err := m.Respond(<-answers); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	c, book := run(t, Config{Conn: natstest.Connect(t, s)})
	msg := randomSource(rand.New(rand.NewPCG(1, 1)), "a", 1, 1, time.Now().UnixMicro())
	msg.Digest = digest
	say(t, nc, c, msg)
	until(t, c, "the wrong one is counted", func(v *merge.View) bool { return v.Traffic.Rejected["wrong_digest"] == 1 && states(v) == "a=undefined" })
	until(t, c, "the right one is taken", func(v *merge.View) bool { return states(v) == "a=up" && len(v.Nets) == 1 })
	if n := strings.Count(book.String(), "message not taken"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, book)
	}
}

// say publishes a snapshot and waits until the collector received it.
func say(tb testing.TB, nc *nats.Conn, c *Collector, msg *telemetry.Snapshot) {
	tb.Helper()
	var enc telemetry.Encoder
	payload, err := enc.Append(nil, msg)
	if err != nil {
		tb.Fatal(err)
	}
	deliver(tb, nc, c, telemetry.Subjects{}.Snapshot(msg.Net, msg.Source), payload)
}

// deliver publishes a message until it was counted: the collector may not be
// listening yet.
func deliver(tb testing.TB, nc *nats.Conn, c *Collector, subject string, payload []byte) {
	tb.Helper()
	before := c.View().Traffic.Messages
	for range 3 {
		if err := nc.Publish(subject, payload); err != nil {
			tb.Fatal(err)
		}
		deadline := time.Now().Add(enough / 3)
		for time.Now().Before(deadline) {
			if c.View().Traffic.Messages > before {
				return
			}
			<-time.After(time.Millisecond)
		}
	}
	tb.Fatalf("the message to %s was not received", subject)
}

// Bad input never stops the collector: each is counted by its reason, logged
// once, and the rest keeps working.
func TestBadInputNeverStopsTheCollector(t *testing.T) {
	url := startServer(t)
	nc := connect(t, url)
	net := lineNet("n", 2, 2)
	c, book := run(t, Config{Conn: connect(t, url)})
	good := publish(t, connect(t, url), "good", net, 5)
	until(t, c, "the good one is up", func(v *merge.View) bool { return states(v) == "good=up" })
	var subjects telemetry.Subjects
	r := rand.New(rand.NewPCG(3, 3))
	garbage := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	odd := strings.Repeat("ø.*> /", 42)[:255-13] + "name of odd c"
	digest := telemetry.Digest(writePNML(t, net))
	// A source of the same net, as good as any, then with what is wrong.
	bad := func(change func(*telemetry.Snapshot)) {
		msg := randomSource(r, odd, 2, 2, time.Now().UnixMicro())
		msg.Digest = digest
		change(msg)
		say(t, nc, c, msg)
	}
	bad(func(m *telemetry.Snapshot) { m.Rows.Transitions[0].Firings, m.Rows.Places[0].Arrivals = 1000, 1000 })
	until(t, c, "255 odd characters are a name", func(v *merge.View) bool { return states(v) == "good=up "+odd+"=up" })
	rejected := func(reason telemetry.Reason, n uint64) {
		t.Helper()
		until(t, c, string(reason), func(v *merge.View) bool { return v.Traffic.Rejected[string(reason)] >= n })
	}
	for i := range uint64(3) {
		bad(func(m *telemetry.Snapshot) { m.Seq = 2 })
		rejected(merge.CounterFell, i+1)
		bad(func(m *telemetry.Snapshot) { m.Seq, m.Rows.Places = 2, m.Rows.Places[:1]; m.Rows.Places[0].Stuck = nil })
		rejected(merge.WrongSize, i+1)
		bad(func(*telemetry.Snapshot) {})
		rejected(merge.Duplicate, i+1)
	}
	for _, subject := range []string{subjects.Snapshot("n", "good"), subjects.Bye("n", "good"), subjects.Snapshot("x", "y")} {
		for _, size := range []int{0, 1, 100, 1 << 20, 2 << 20} {
			deliver(t, nc, c, subject, garbage(size))
		}
	}
	for _, subject := range []string{subjects.Hello(), subjects.Definition("n", digest), subjects.Full("n", "good"), subjects.Instances("n", "good")} {
		if err := nc.Publish(subject, garbage(1000)); err != nil {
			t.Fatal(err)
		}
	}
	rejected(telemetry.NotProtobuf, 3)
	rejected(telemetry.TooLarge, 3)
	view := until(t, c, "the good one is still up", func(v *merge.View) bool { return strings.HasPrefix(states(v), "good=up") })
	if view.Nets[0].Rows.Places[0].Arrivals != 1005 {
		t.Errorf("%d arrivals", view.Nets[0].Rows.Places[0].Arrivals)
	}
	for _, reason := range []telemetry.Reason{merge.CounterFell, merge.WrongSize, merge.Duplicate} {
		if n := strings.Count(book.String(), string(reason)+":"); n != 1 {
			t.Errorf("%s is logged %d times:\n%s", reason, n, book)
		}
	}
	stop(t, good)
}

func TestViewsAreMadeAtWholeIntervalsOfTheClock(t *testing.T) {
	whole := time.Unix(1_800_000_000, 0)
	for _, c := range []struct {
		share              merge.Share
		at, interval, want time.Duration
	}{
		{merge.Share{}, 0, time.Second, time.Second},
		{merge.Share{}, time.Millisecond, time.Second, 999 * time.Millisecond},
		{merge.Share{}, 500 * time.Millisecond, time.Second, 500 * time.Millisecond},
		{merge.Share{}, 875 * time.Millisecond, time.Second, 125 * time.Millisecond},
		{merge.Share{}, 900 * time.Millisecond, time.Second, 1100 * time.Millisecond}, // one has just been made, or is made too late
		{merge.Share{}, -time.Microsecond, time.Second, time.Second + time.Microsecond},
		{merge.Share{}, 7 * time.Millisecond, 5 * time.Millisecond, 3 * time.Millisecond},
		{merge.Share{Index: 1, Count: 2}, 0, time.Second, 250 * time.Millisecond},
		{merge.Share{Index: 2, Count: 2}, 0, time.Second, 750 * time.Millisecond},
		{merge.Share{Index: 2, Count: 2}, 800 * time.Millisecond, time.Second, 950 * time.Millisecond},
	} {
		collector := &Collector{cfg: Config{Interval: c.interval, Share: c.share}}
		if got := collector.untilView(whole.Add(c.at)); got != c.want {
			t.Errorf("share %v, %v after a whole second, every %v: in %v; want %v", c.share, c.at, c.interval, got, c.want)
		}
	}
}
