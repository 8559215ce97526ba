// SPDX-License-Identifier: Apache-2.0

package uplink

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/collector/counts"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

const (
	enough = time.Minute // for what takes milliseconds on an idle machine
	beat   = 20 * time.Millisecond
)

func startServer(t *testing.T) *nats.Conn {
	t.Helper()
	closed := make(chan struct{})
	nc, err := nats.Connect(natstest.Run(t, natstest.Listen).ClientURL(), nats.Timeout(enough), nats.ClosedHandler(func(*nats.Conn) { close(closed) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close(); <-closed })
	return nc
}

func space(t *testing.T, prefix string) telemetry.Subjects {
	t.Helper()
	s, err := telemetry.NewSubjects(prefix)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// order is a net of places and one transition.
func order(places ...string) *petri.Net {
	n := &petri.Net{ID: "order", Transitions: []petri.Transition{{ID: "ship"}}}
	for _, id := range places {
		n.Places = append(n.Places, petri.Place{ID: id})
	}
	return n
}

func text(t *testing.T, n *petri.Net) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := pnml.Write(&b, n); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// engine is a source that fires on request.
type engine struct {
	*telemetry.Publisher
	mu      sync.Mutex
	firings uint64
}

func (e *engine) fire(n uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.firings += n
}

func startEngine(t *testing.T, nc *nats.Conn, name string, n *petri.Net, firings uint64) *engine {
	t.Helper()
	e := &engine{firings: firings}
	var err error
	e.Publisher, err = telemetry.Start(telemetry.Config{Conn: nc, Source: name, Interval: beat, Log: slog.New(slog.DiscardHandler),
		Nets: []telemetry.SourceNet{{ID: n.ID, PNML: text(t, n), Places: len(n.Places), Transitions: len(n.Transitions)}},
		Rows: func(_ int, _ int64, into *stats.Rows) error {
			e.mu.Lock()
			defer e.mu.Unlock()
			into.Columns = stats.ColTokens | stats.ColFirings
			into.Transitions[0].Firings = e.firings
			into.Places[len(into.Places)-1].Tokens = 1
			return nil
		},
		Oldest: func(_, place int, q *stats.Query) (stats.Found, error) {
			return q.Of([]stats.FoundToken{{Token: stats.Token{Instance: name + " 1", Injected: 1000, Waits: []stats.Wait{{Transition: 0, Place: int32(place)}}}, Data: `{"order":"` + name + `"}`}}), nil
		},
		Instance: func(_ int, instance string) (*telemetry.Instance, error) {
			if instance != name+" 1" {
				return nil, telemetry.ErrNoInstance
			}
			return &telemetry.Instance{Instance: instance, At: 5}, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.end(t) })
	return e
}

func (e *engine) end(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), enough)
	defer cancel()
	if err := e.Close(ctx); err != nil {
		t.Error(err)
	}
}

// node is a running collector, with or without an uplink.
type node struct {
	*collector.Collector
	up   *Uplink
	head counts.Header
	log  *bytes.Buffer
	stop func()
}

func startNode(t *testing.T, cfg collector.Config, up *counts.Config) *node {
	t.Helper()
	n := &node{log: &bytes.Buffer{}}
	cfg.Interval, cfg.Log = beat, slog.New(slog.NewTextHandler(n.log, nil))
	if up == nil {
		up = &counts.Config{FromZero: true}
	}
	up.Share, up.Log = cfg.Share, cfg.Log
	kept, err := counts.Open(*up, time.Now().UnixMicro())
	if err != nil {
		t.Fatal(err)
	}
	if n.Collector, err = kept.Collector(cfg); err != nil {
		t.Fatal(err)
	}
	n.head = kept.Header()
	if head := n.head; up.Up != "" {
		if n.up, err = New(Config{Conn: cfg.Conn, Subjects: space(t, up.Up), Source: up.Source, Interval: beat,
			Since: head.Since, Epoch: head.Epoch, Fence: head.Fence, Log: cfg.Log}, n.Collector); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := n.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	if n.up != nil {
		running.Go(func() {
			if err := n.up.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	n.stop = sync.OnceFunc(func() { cancel(); running.Wait(); kept.Close() })
	t.Cleanup(n.stop)
	return n
}

// shows waits until the node's net has these numbers of firings and tokens.
func (n *node) shows(t *testing.T, firings, tokens uint64) {
	t.Helper()
	n.until(t, fmt.Sprintf("%d firings and %d tokens", firings, tokens), func(net *merge.NetView) bool {
		var sum uint64
		for _, p := range net.Rows.Places {
			sum += p.Tokens
		}
		return net.Rows.Transitions[0].Firings == firings && sum == tokens
	})
}

func (n *node) until(t *testing.T, what string, so func(*merge.NetView) bool) {
	t.Helper()
	deadline := time.After(enough)
	for {
		net := n.View().Net("order")
		if net != nil && so(net) {
			return
		}
		select {
		case <-deadline:
			var out bytes.Buffer
			_ = json.NewEncoder(&out).Encode(n.View())
			t.Fatalf("never: %s\n%s", what, out.String())
		case <-time.After(time.Millisecond):
		}
	}
}

// tree has two collectors of a share each, one above them, and one that receives all messages.
type tree struct {
	nc         *nats.Conn
	dir        string
	root, flat *node
	below      [2]*node
	shares     [2]merge.Share
}

func startTree(t *testing.T) *tree {
	t.Helper()
	tr := &tree{nc: startServer(t), dir: t.TempDir(), shares: [2]merge.Share{{Index: 1, Count: 2}, {Index: 2, Count: 2}}}
	tr.flat = startNode(t, collector.Config{Conn: tr.nc}, nil)
	tr.root = startNode(t, collector.Config{Conn: tr.nc, Subjects: space(t, "up")}, nil)
	return tr
}

// start starts one of the two below.
func (tr *tree) start(t *testing.T, i int) {
	t.Helper()
	tr.below[i] = startNode(t, collector.Config{Conn: tr.nc, Share: tr.shares[i]},
		&counts.Config{Up: "up", Source: fmt.Sprint("child ", i), Path: tr.stateDir(i), FromZero: true})
}

// stateDir is where one of the two below keeps its counts.
func (tr *tree) stateDir(i int) string { return filepath.Join(tr.dir, fmt.Sprint(i)) }

// sourceOf returns a name of a source in a share.
func (tr *tree) sourceOf(i, number int) string {
	for k := 0; ; k++ {
		if name := fmt.Sprintf("engine %d.%d", number, k); tr.shares[i].Has("order", name) {
			return name
		}
	}
}

func TestTheRootShowsTheSumOfItsChildren(t *testing.T) {
	tr := startTree(t)
	a := startEngine(t, tr.nc, tr.sourceOf(0, 1), order("inbox", "done"), 10)
	b := startEngine(t, tr.nc, tr.sourceOf(1, 2), order("inbox", "done"), 20)
	tr.flat.shows(t, 30, 2)
	tr.start(t, 0)
	tr.start(t, 1)
	tr.root.shows(t, 30, 2)
	a.fire(5)
	b.fire(7)
	tr.flat.shows(t, 42, 2)
	tr.root.shows(t, 42, 2)

	// A definition that grows, and a net that comes later.
	c := startEngine(t, tr.nc, tr.sourceOf(0, 3), order("inbox", "done", "returned"), 1)
	tr.flat.shows(t, 43, 3)
	tr.root.shows(t, 43, 3)
	if got := tr.root.View().Net("order").Def.Places; len(got) != 3 || got[2].ID != "returned" {
		t.Errorf("places of the root: %+v", got)
	}
	c.end(t)
	tr.flat.shows(t, 43, 2)
	tr.root.shows(t, 43, 2)
	if s := tr.below[0].up.Stats(); s.Nets != 1 || s.Messages == 0 || s.Errors != 0 {
		t.Errorf("got %+v; want one net, some messages and no error", s)
	}
	tr.below[0].stop()
	tr.root.until(t, "its tokens have left, its counters stay", func(n *merge.NetView) bool {
		return n.Rows.Transitions[0].Firings == 43 && n.Rows.Places[1].Tokens == 1
	})
}

func TestRestartOfAChildWhileEnginesRunOnIsExact(t *testing.T) {
	tr := startTree(t)
	a := startEngine(t, tr.nc, tr.sourceOf(0, 1), order("inbox", "done"), 10)
	startEngine(t, tr.nc, tr.sourceOf(1, 2), order("inbox", "done"), 20)
	tr.start(t, 0)
	tr.start(t, 1)
	tr.root.shows(t, 30, 2)
	for i := range uint64(3) {
		tr.below[0].stop()
		a.fire(5) // without the collector below
		tr.start(t, 0)
		tr.root.shows(t, 30+5*(i+1), 2)
		tr.flat.shows(t, 30+5*(i+1), 2)
	}
}

func TestEngineThatStartsAgainCountsOnce(t *testing.T) {
	tr := startTree(t)
	name := tr.sourceOf(0, 1)
	tr.start(t, 0)
	a := startEngine(t, tr.nc, name, order("inbox", "done"), 10)
	tr.root.shows(t, 10, 1)
	a.end(t)
	a = startEngine(t, tr.nc, name, order("inbox", "done"), 3)
	tr.root.shows(t, 13, 1)

	// Both at once: what the engine's last process did while nothing received it is all that is lost.
	tr.below[0].stop()
	a.fire(100)
	a.end(t)
	startEngine(t, tr.nc, name, order("inbox", "done"), 4)
	tr.start(t, 0)
	tr.root.shows(t, 17, 1)
}

//promise:counters stop
func TestChildrenThatSwapSharesCountNothingTwice(t *testing.T) {
	tr := startTree(t)
	a := startEngine(t, tr.nc, tr.sourceOf(0, 1), order("inbox", "done"), 10)
	b := startEngine(t, tr.nc, tr.sourceOf(1, 2), order("inbox", "done"), 20)
	tr.start(t, 0)
	tr.start(t, 1)
	tr.root.shows(t, 30, 2)
	want, lost := uint64(30), uint64(0)
	for range 2 { // there and back
		for i := range tr.below {
			tr.below[i].stop()
		}
		a.fire(1) // without a collector for it
		lost++
		tr.shares[0], tr.shares[1] = tr.shares[1], tr.shares[0]
		tr.start(t, 0)
		tr.start(t, 1)
		for _, n := range tr.below {
			n.until(t, "its source is up", func(n *merge.NetView) bool { return n.Up == 1 })
		}
		a.fire(5)
		b.fire(5)
		want += 10
		tr.root.shows(t, want, 2)
		tr.flat.shows(t, want+lost, 2)
	}
}

func TestChildWithoutItsStateCountsNothingTwice(t *testing.T) {
	tr := startTree(t)
	a := startEngine(t, tr.nc, tr.sourceOf(0, 1), order("inbox", "done"), 10)
	tr.start(t, 0)
	tr.root.shows(t, 10, 1)
	tr.below[0].stop()
	file := filepath.Join(tr.stateDir(0), "counters.state")
	if err := os.WriteFile(file, []byte("something else"), 0o600); err != nil {
		t.Fatal(err)
	}
	tr.start(t, 0)
	tr.below[0].until(t, "its source is up", func(n *merge.NetView) bool { return n.Up == 1 })
	a.fire(5)
	tr.root.shows(t, 15, 1)
}

func TestRootAsksTheSourcesOfItsChildren(t *testing.T) {
	tr := startTree(t)
	a, b := tr.sourceOf(0, 1), tr.sourceOf(0, 2)
	startEngine(t, tr.nc, a, order("inbox", "done"), 10)
	startEngine(t, tr.nc, b, order("other", "done"), 10)
	tr.start(t, 0)
	tr.root.shows(t, 20, 2)
	place := -1
	for i, p := range tr.root.View().Net("order").Def.Places {
		if p.ID == "done" {
			place = i
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), enough)
	defer cancel()
	found, err := tr.root.Oldest(ctx, "order", place, &stats.Query{Limit: 10})
	tokens := found.Tokens
	if err != nil || len(tokens) != 2 || tokens[0].Instance != a+" 1" || tokens[1].Instance != b+" 1" {
		t.Fatalf("got %+v, error %v; want the oldest tokens of %s and %s", tokens, err, a, b)
	}
	for _, token := range tokens { // "done" is another index at each source
		if token.Waits[0].Place != int32(place) {
			t.Errorf("waits for place %d, want %d", token.Waits[0].Place, place)
		}
	}
	if one, err := tr.root.Oldest(ctx, "order", place, &stats.Query{Limit: 1}); err != nil || len(one.Tokens) != 1 || !one.More || one.Matches != 2 {
		t.Errorf("got %+v, error %v; want one token of two", one, err)
	}
	if one, err := tr.root.Oldest(ctx, "order", place, &stats.Query{Limit: 10, Data: "order=" + b}); err != nil || len(one.Tokens) != 1 || one.Tokens[0].Data != `{"order":"`+b+`"}` || one.Matches != 1 {
		t.Errorf("got %+v, error %v; want the token with the data", one, err)
	}
	inside, err := telemetry.AskInstance(ctx, tr.nc, space(t, "up"), "order", "child 0", b+" 1")
	if err != nil || inside.Instance != b+" 1" || inside.At != 5 {
		t.Errorf("got %+v, error %v; want instance %s as of 5", inside, err, b+" 1")
	}
	if _, err := tr.root.Instance(ctx, "order", "unknown"); !errors.Is(err, telemetry.ErrNoInstance) {
		t.Errorf("got error %v; want ErrNoInstance", err)
	}
}

func TestUplinkNeedsAName(t *testing.T) {
	for _, name := range []string{"", "a\nb"} {
		if _, err := New(Config{Source: name}, nil); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
}

// Each net with a column is published, in
// the configured epoch and since the configured time; one that cannot be is logged once
// and delays no other.
func TestUplinkPublishesWhatItCan(t *testing.T) {
	nc := startServer(t)
	root := startNode(t, collector.Config{Conn: nc, Subjects: space(t, "up")}, nil)
	unused := order("inbox")
	unused.ID = "a net that no engine runs"
	below := startNode(t, collector.Config{Conn: nc, Nets: []*petri.Net{unused}},
		&counts.Config{Up: "up", Source: "below", FromZero: true})
	// Together these are no net: "ship" is a place here and a transition there.
	wrong, other := order("inbox", "ship"), order("inbox")
	wrong.Transitions[0].ID, wrong.ID, other.ID = "send", "both", "both"
	startEngine(t, nc, "one", wrong, 1)
	startEngine(t, nc, "two", other, 1)
	last := order("done")
	last.ID = "quiet"
	startEngine(t, nc, "three", last, 4)
	startEngine(t, nc, "four", order("done"), 7)
	root.shows(t, 7, 1)
	deadline := time.After(enough)
	for root.View().Net("quiet") == nil {
		select {
		case <-deadline:
			t.Fatal("the last net is never published")
		case <-time.After(time.Millisecond):
		}
	}
	if n := root.View().Net(unused.ID); n != nil {
		t.Errorf("got %+v; want no net %s", n, unused.ID)
	}
	for _, s := range root.View().Sources {
		if head := below.head; s.Region != "up/below" || s.Fence != head.Fence || s.Since != head.Since || s.Epoch < head.Epoch {
			t.Errorf("%+v, of %+v", s, head)
		}
	}
	time.Sleep(20 * beat) // of Views with the net that cannot be published
	below.stop()
	if n := strings.Count(below.log.String(), "publish to the collector above"); n != 1 {
		t.Errorf("%d lines of one fault:\n%s", n, below.log)
	}
	s := below.up.Stats()
	var messages, bytes, missed, errs uint64
	for _, p := range below.up.live {
		one := p.Stats()
		messages, bytes, missed, errs = messages+one.Messages, bytes+one.Bytes, missed+one.Missed, errs+one.Errors
	}
	if s.Nets != len(below.up.live) || s.Nets < 2 || s.Messages != messages || s.Bytes != bytes || s.Missed != missed || s.Errors != errs || messages == 0 || bytes == 0 {
		t.Errorf("got %+v; want %d nets, %d messages, %d bytes, %d missed and %d errors", s, len(below.up.live), messages, bytes, missed, errs)
	}
}

// What an engine that falls silent had is published with the sums from which it left.
func TestUplinkPublishesWhatItsSourcesDoNotReportAnyMore(t *testing.T) {
	tr := startTree(t)
	startEngine(t, tr.nc, tr.sourceOf(0, 1), order("inbox", "done"), 10)
	silent := tr.sourceOf(0, 2)
	tr.below[0] = startNode(t, collector.Config{Conn: tr.nc, Share: tr.shares[0], Rules: merge.Rules{ForgetAfter: 2 * time.Second}},
		&counts.Config{Up: "up", Source: "child 0", Path: tr.stateDir(0), FromZero: true})
	end := startEngine(t, tr.nc, silent, order("inbox", "done"), 20)
	tr.root.shows(t, 30, 2)
	if err := end.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	tr.root.until(t, "what it fired is unknown from now on", func(n *merge.NetView) bool {
		return len(n.Remnants) == 1 && n.Remnants[0].Source == "child 0\x1f"+silent && n.Remnants[0].Left != 0 && n.Remnants[0].Transitions[0].Fired &&
			n.Rows.Places[0].Tokens+n.Rows.Places[1].Tokens == 1 && n.Rows.Transitions[0].Firings == 30
	})
	startEngine(t, tr.nc, silent, order("inbox", "done"), 0)
	tr.root.until(t, "it answers", func(n *merge.NetView) bool {
		return len(n.Remnants) == 0 && len(n.Answers) > 0 && n.Answers[len(n.Answers)-1].Source == "child 0\x1f"+silent
	})
}
