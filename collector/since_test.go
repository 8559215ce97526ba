// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/logtest"
	"github.com/pnagent/pnagent/internal/selfmetrics/selfmetricstest"
	"github.com/pnagent/pnagent/petri"
)

// A collector does not start from a state that it cannot read: it would count again what
// the state has.
//
//promise:damage damage
func TestACollectorDoesNotStartFromADamagedState(t *testing.T) {
	nc := connect(t, startServer(t))
	m := merge.NewMerger(merge.Rules{}, t0)
	if _, err := m.Define(benchDigest, lineNet("n", 1, 1), t0); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Take(randomSource(rand.New(rand.NewPCG(1, 1)), "a", 1, 1, t0), 0, t0); err != nil {
		t.Fatal(err)
	}
	m.Tick(t0)
	saving := new(merge.Saver).Begin(m, true)
	for saving.Piece() {
	}
	frame, err := saving.Frame()
	if err != nil {
		t.Fatal(err)
	}
	whole := frame.Records
	for name, cfg := range map[string]Config{
		"the state":            {State: [][]byte{whole[:len(whole)/2]}},
		": frame 1: record 1:": {State: [][]byte{[]byte("none")}},
		": frame 2: record 1:": {State: [][]byte{whole, []byte("none")}},
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
		c.cfg.Share = merge.Share{Index: min(1, count), Count: count}
		if got := selfmetricstest.Series(t, ShareMetrics(c)); len(got) != shown || shown == 1 && got[0] != "pnagent_messages_passed_over_total 3" {
			t.Errorf("of %d shares: %q", count, got)
		}
	}
	if got := selfmetricstest.Series(t, ShareMetrics(nil)); len(got) != 0 {
		t.Errorf("without a collector: %q", got)
	}
}

// A union of definitions in which one id is a place and a transition is shown. It has no
// definition that could be published or kept, and that is logged once.
func TestANetWhoseUnionIsNotValidIsNotPublished(t *testing.T) {
	book := &logtest.Buffer{}
	c, err := New(Config{Conn: connect(t, startServer(t)), Keep: func(merge.Frame) bool { return true }, Log: slog.New(slog.NewTextHandler(book, nil))})
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

// A source without room receives a notice about it over NATS.
func TestARefusedSourceGetsANotice(t *testing.T) {
	nc := connect(t, startServer(t))
	c, book := run(t, Config{Conn: nc, Rules: merge.Rules{Limits: merge.Limits{Sources: 1}}})
	notices, err := nc.SubscribeSync(c.cfg.Subjects.Notice("order", "b"))
	if err != nil {
		t.Fatal(err)
	}
	a := publish(t, nc, "a", lineNet("order", 1, 1), 1)
	defer stop(t, a)
	until(t, c, "a is up", func(v *merge.View) bool { return states(v) == "a=up" })
	b := publish(t, nc, "b", lineNet("order", 1, 1), 1)
	defer stop(t, b)
	m, err := notices.NextMsg(enough)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(m.Data), string(merge.TooManySources)) {
		t.Errorf("got notice %s; want one with %s", m.Data, merge.TooManySources)
	}
	until(t, c, "it is logged", func(*merge.View) bool { return strings.Contains(book.String(), "source refused") })
}
