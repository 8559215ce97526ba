// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/internal/logtest"
	"github.com/pnagent/pnagent/internal/selfmetrics/selfmetricstest"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// The counters of a net begin with its first definition. A further one changes nothing.
func TestANetCountsSinceItsFirstDefinition(t *testing.T) {
	m := NewMerger(Rules{}, t0)
	for i, digest := range []string{"first", "second"} {
		if _, err := m.Define(digest, lineNet("n", 1+i, 1), t0+1+int64(i)); err != nil {
			t.Fatal(err)
		}
		view, _ := m.Tick(t0 + 10)
		if got := view.Net("n").Since; got != t0+1 {
			t.Errorf("after the %s definition the net counts since %d µs; want 1", digest, got-t0)
		}
	}
}

// A collector does not start from a state that it cannot read: it would count again what
// the state has.
func TestACollectorDoesNotStartFromADamagedState(t *testing.T) {
	nc := connect(t, startServer(t))
	whole := keptBy(t, firedBy(t, "a"))
	for name, cfg := range map[string]Config{
		"the state":      {State: whole[:len(whole)/2]},
		"what was shown": {State: whole, Shown: []byte("none")},
		": record 1:":    {State: []byte("none")},
		": record 4:":    {State: slices.Concat(whole, []byte("none"))}, // a net, its sums, a source
	} {
		cfg.Conn, cfg.Log = nc, slog.New(slog.DiscardHandler)
		c, err := New(cfg)
		if err == nil || c != nil || !strings.Contains(err.Error(), "restore the state of the previous process") || name[0] == ':' && !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, and a collector: %t", name, err, c != nil)
		}
	}
}

func TestMessagesOfOtherSharesAreShownByAShareOnly(t *testing.T) {
	c := &Collector{}
	c.sift.passed.Store(3)
	for count, shown := range map[int]int{0: 0, 1: 1, 2: 1} {
		c.cfg.Share = Share{Index: min(1, count), Count: count}
		if got := selfmetricstest.Series(t, ShareMetrics(c)); len(got) != shown || shown == 1 && got[0] != "pnagent_messages_passed_over_total 3" {
			t.Errorf("of %d shares: %q", count, got)
		}
	}
	if got := selfmetricstest.Series(t, ShareMetrics(nil)); len(got) != 0 {
		t.Errorf("without a collector: %q", got)
	}
}

// Whole states are made at saveRate bytes a second on average, from one to the next.
func TestWholeStatesAreMadeAtALimitedRate(t *testing.T) {
	m := firedBy(t, "a")
	var k saver
	if !k.due(t0, m.revision) {
		t.Error("the first state is not due")
	}
	if _, err := k.save(m); err != nil {
		t.Fatal(err)
	}
	k.size = 3 * saveRate
	for after, due := range map[int64]bool{0: false, 3e6 - 1: false, 3e6: true} {
		if got := k.due(m.view.At+after, m.revision); got != due {
			t.Errorf("%d µs after a state of 3 s is the next one due: %t", after, got)
		}
	}
}

func TestTheFirstViewAfterARestartHasTheSources(t *testing.T) {
	m := restoredFrom(t, firedBy(t, "a", "b"), Share{}, 0, t0)
	view, _ := m.Tick(t0)
	if len(view.Sources) != 2 || view.States[Up] != 2 {
		t.Errorf("%d sources, states %+v", len(view.Sources), view.States)
	}
}

// The message about a fence that is refused says where a fence that is not lower counts
// less: the region's log was created again.
func TestAFenceIsRefusedWithTheReason(t *testing.T) {
	const of = ` of "a"`
	for name, c := range map[string]struct {
		fence uint64
		since int64
		says  string
	}{
		"a lower one of the same log":     {4, t0 + 5, `region "r" has fence 5` + of + `; message has 4`},
		"a lower one of the earlier log":  {4, t0 - 1, `region "r" has fence 5` + of + `; message has 4`},
		"the same of the earlier log":     {5, t0 - 1, `region "r" has fence 5` + of + ` in a log that was created later; message has 5`},
		"a higher one of the earlier log": {6, t0 - 1, `region "r" has fence 5` + of + ` in a log that was created later; message has 6`},
	} {
		m := NewMerger(Rules{}, t0)
		if _, err := m.Define("d", lineNet("n", 1, 1), t0); err != nil {
			t.Fatal(err)
		}
		send := func(source string, fence uint64, since, now int64) error {
			msg := fired(source, t0, now, 1, 1, 0)
			msg.Region, msg.Fence, msg.Since = "r", fence, since
			_, err := m.Take(msg, 0, now)
			return err
		}
		if err := send("a", 5, t0+5, t0+1e6); err != nil {
			t.Fatal(err)
		}
		if err := send("b", c.fence, c.since, t0+2e6); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}

// A union of definitions in which one id is a place and a transition is shown. It has no
// definition that could be published or kept, and that is logged once.
func TestANetWhoseUnionIsNotValidIsNotPublished(t *testing.T) {
	book := &logtest.Buffer{}
	c, err := New(Config{Conn: connect(t, startServer(t)), Keep: func([]byte, bool) bool { return true }, Log: slog.New(slog.NewTextHandler(book, nil))})
	if err != nil {
		t.Fatal(err)
	}
	for digest, def := range map[string]*petri.Net{
		"place":      {ID: "n", Places: []petri.Place{{ID: "x"}}},
		"transition": {ID: "n", Transitions: []petri.Transition{{ID: "x"}}},
	} {
		if _, err := c.merger.Define(digest, def, t0); err != nil {
			t.Fatal(err)
		}
	}
	for i := range int64(3) {
		c.tick(t.Context(), t0+i*1e6)
	}
	if n, err := c.View().Net("n").Published(); err == nil {
		t.Errorf("published as %+v", n)
	}
	if n := strings.Count(book.String(), "keep counters"); n != 1 {
		t.Errorf("%d lines about it; want 1:\n%s", n, book)
	}
}

// A place of a process is in a scope, such as that of a timer. The union has the scopes of all
// definitions, so that it can be published and kept.
func TestAUnionHasTheScopesOfItsDefinitions(t *testing.T) {
	book := &logtest.Buffer{}
	c, err := New(Config{Conn: connect(t, startServer(t)), Keep: func([]byte, bool) bool { return true }, Log: slog.New(slog.NewTextHandler(book, nil))})
	if err != nil {
		t.Fatal(err)
	}
	for i, def := range []*petri.Net{
		{ID: "n", Shared: true, Scopes: []petri.Scope{{ID: "claim"}}, Places: []petri.Place{{ID: "p", Scope: "claim"}}},
		{ID: "n", Shared: true, Scopes: []petri.Scope{{ID: "bill", Parent: "claim"}, {ID: "claim"}}, Places: []petri.Place{{ID: "q", Scope: "bill"}}},
	} {
		if _, err := c.merger.Define(fmt.Sprint(i), def, t0); err != nil {
			t.Fatal(err)
		}
	}
	c.tick(t.Context(), t0)
	n, err := c.View().Net("n").Published()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"claim", "bill"} {
		if !strings.Contains(string(n.PNML), fmt.Sprintf("id=%q", want)) {
			t.Errorf("there is no scope %q in\n%s", want, n.PNML)
		}
	}
	if strings.Contains(book.String(), "keep counters") {
		t.Errorf("the counters are not kept:\n%s", book)
	}
}

func TestTrafficHasTheBytesOfAllMessages(t *testing.T) {
	m := firedBy(t, "a")
	for seq, size := range []int{100, 23} {
		if _, err := m.Take(fired("a", t0, t0, uint64(2+seq), 10, stats.ColFailures), size, t0); err != nil {
			t.Fatal(err)
		}
	}
	m.Reject(telemetry.ErrUnknownID, 7)
	view, _ := m.Tick(t0)
	if got := view.Traffic; got.Messages != 4 || got.Bytes != 130 {
		t.Errorf("%d messages of %d bytes; want 4 of 130", got.Messages, got.Bytes)
	}
}

// A source without room receives a notice about it over NATS.
func TestARefusedSourceGetsANotice(t *testing.T) {
	nc := connect(t, startServer(t))
	c, book := run(t, Config{Conn: nc})
	c.mu.Lock()
	c.merger.limits.Sources = 1
	c.mu.Unlock()
	notices, err := nc.SubscribeSync(c.cfg.Subjects.Notice("order", "b"))
	if err != nil {
		t.Fatal(err)
	}
	a := publish(t, nc, "a", lineNet("order", 1, 1), 1)
	defer stop(t, a)
	until(t, c, "a is up", func(v *View) bool { return states(v) == "a=up" })
	b := publish(t, nc, "b", lineNet("order", 1, 1), 1)
	defer stop(t, b)
	m, err := notices.NextMsg(enough)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(m.Data), string(TooManySources)) {
		t.Errorf("got notice %s; want one with %s", m.Data, TooManySources)
	}
	until(t, c, "it is logged", func(*View) bool { return strings.Contains(book.String(), "source refused") })
}
