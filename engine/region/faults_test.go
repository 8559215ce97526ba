// SPDX-License-Identifier: Apache-2.0

package region

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/split"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// memberOf returns a member that does not run, of a net of two regions: "one"
// puts into "two".
func memberOf(t *testing.T, source string) *Member {
	t.Helper()
	net := &petri.Net{ID: "relay", Places: []petri.Place{{ID: "a", Initial: 5}, {ID: "b"}}, Transitions: []petri.Transition{{ID: "t1"}, {ID: "t2"}},
		Arcs: []petri.Arc{{ID: "1", Source: "a", Target: "t1", Weight: 1}, {ID: "2", Source: "t1", Target: "b", Weight: 1}, {ID: "3", Source: "b", Target: "t2", Weight: 1}}}
	tables, err := petri.Compile(net)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := split.Split(tables, func(id string) string { return map[string]string{"t1": "one", "t2": "two"}[id] }, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(Config{Conn: &nats.Conn{}, Parts: Regions(tables, plan), Open: func(context.Context, string, bool, func() uint64) (Log, error) { return nil, errAway },
		Engine: engine.Config{Source: source, Nets: []engine.NetConfig{{Tables: tables}}, Instances: 1, Workers: 1}})
	if err != nil {
		t.Fatal(err)
	}
	m.roster.passed = time.Hour // it has received beats of all others
	return m
}

func offer(source string, parts ...string) *Beat {
	b := &Beat{Source: source}
	for _, p := range parts {
		b.Parts = append(b.Parts, BeatPart{Part: p, Role: Away})
	}
	return b
}

// A lost connection does not change which members are alive.
func TestAMemberWithoutBeatsKeepsItsOrder(t *testing.T) {
	m, now := memberOf(t, "m1"), time.Unix(1000, 0)
	for _, source := range []string{"m1", "m2", "m3"} {
		m.roster.receive(offer(source, "one", "two"), now)
	}
	m.arrange(now)
	before := *m.replicas[0].order.Load()
	if len(before) != 3 {
		t.Fatalf("order %q; want three members", before)
	}
	m.arrange(now.Add(time.Minute))
	if after := *m.replicas[0].order.Load(); !cmp.Equal(before, after) || !m.replicas[0].wanted() {
		t.Errorf("order %q after %q; want it as it was", after, before)
	}
	now = now.Add(time.Minute)
	m.roster.receive(offer("m1", "one", "two"), now)
	m.arrange(now)
	if after := *m.replicas[0].order.Load(); !cmp.Equal(after, []string{"m1"}) {
		t.Errorf("order %q; want m1 alone, which receives only its own beats", after)
	}
}

// owned writes ownerships into the log of a part, and returns an engine that
// follows it.
func owned(t *testing.T, m *Member, part int, owners ...string) *engine.Engine {
	t.Helper()
	f, _, err := journal.Open(t.TempDir(), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	cfg := m.cfg.Engine
	cfg.Journal, cfg.Part = f, &m.cfg.Parts[part].Part
	var e *engine.Engine
	for _, owner := range owners {
		cfg.Source = owner
		if e != nil {
			if err := e.Release(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		}
		if e, err = engine.New(cfg); err != nil {
			t.Fatal(err)
		}
		if err := e.Lead(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

func TestWhichMemberInheritsAReleasedPart(t *testing.T) {
	for _, c := range []struct {
		name  string
		heir  string
		free  bool
		order []string
		want  bool
	}{
		{"the heir", "m1", true, []string{"m2", "m1"}, true},
		{"not the heir", "m2", true, []string{"m1", "m2"}, false},
		{"the first", "", true, []string{"m1", "m2"}, true},
		{"the second", "", true, []string{"m2", "m1"}, false},
		{"the first behind the previous owner", "", true, []string{"old", "m1", "m2"}, true},
		{"the second behind the previous owner", "", true, []string{"m2", "old", "m1"}, false},
		{"not in the order", "", true, []string{"m2"}, false},
		{"before there is a member", "", true, nil, false},
		{"none, while it is owned", "", false, []string{"old", "m1"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := memberOf(t, "m1")
			e := owned(t, m, 0, "old")
			if c.free {
				if err := e.Release(t.Context(), c.heir); err != nil {
					t.Fatal(err)
				}
			}
			r := m.replicas[0]
			r.order.Store(&c.order)
			if got := r.inherits(e); got != c.want {
				t.Errorf("%t; want %t", got, c.want)
			}
		})
	}
}

// Other members remove the commits up to the cursors that an owner publishes.
// So it publishes only confirmed cursors.
//
//promise:notempty messages
func TestAnOwnerNeverPublishesAnUnconfirmedCursor(t *testing.T) {
	m := memberOf(t, "m1")
	e, r := owned(t, m, 1, "m1"), m.replicas[1]
	r.become(Owner, e)
	before := r.status()
	if before.Position != 2 || before.Cursors["one"] != 0 {
		t.Fatalf("%+v; want commit 2 and nothing read upstream", before)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	if err := e.Arrive(ctx, 0, engine.Cursor{Position: 7}, []split.Crossing{{Place: 1, Tokens: 1}}); err != nil {
		t.Fatal(err)
	}
	for e.Standing().Cursors[0].Position != 7 {
		if err := e.Rows(ctx, 0, 0, rowsOf(m)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(before, r.status()); diff != "" {
		t.Errorf("before it was confirmed (-before +after):\n%s", diff)
	}
	s := e.Standing()
	if err := e.Confirm(ctx, s); err != nil {
		t.Fatal(err)
	}
	r.sure = s
	if got := r.status().Cursors["one"]; got != 7 {
		t.Errorf("cursor %d; want 7", got)
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

func TestWhichFaultsEndAProcess(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{engine.ErrConfig, true},
		{engine.ErrJournal, true},
		{engine.ErrReplay, true},
		{ErrUnusable, true},
		{errLost, false}, // the part stops
		{nats.ErrConnectionClosed, true},
		{errDeposed, false},
		{errAway, false},
		{faster(journal.ErrNotLast), false},
		{nats.ErrTimeout, false},
		{nats.ErrNoResponders, false},
		{journal.ErrStopped, false},
		{journal.ErrNotLast, false},
		{journal.ErrCovered, false}, // of the own log: a snapshot has it
		{context.DeadlineExceeded, false},
	} {
		if got := fatal(fmt.Errorf("somewhere: %w", c.err)); got != c.want {
			t.Errorf("%v: %t; want %t", c.err, got, c.want)
		}
	}
}

func TestAFaultThatLastsIsLoggedOnceInTenSeconds(t *testing.T) {
	var logged bytes.Buffer
	q, now := limiter{log: slog.New(slog.NewTextHandler(&logged, nil))}, time.Unix(1000, 0)
	for range 30_000 / 50 { // half a minute of beats
		q.warn("not sent", errors.New("away"), now)
		now = now.Add(beatEvery)
	}
	if n := strings.Count(logged.String(), "not sent"); n != 3 || !strings.Contains(logged.String(), "suppressed=199") {
		t.Errorf("%d lines; want 3 with the number of suppressed lines\n%s", n, &logged)
	}
}

func TestABeatThatAllWouldRejectIsNotSent(t *testing.T) {
	b := &Beat{Source: "m"}
	for k := range maxParts {
		b.Parts = append(b.Parts, BeatPart{Part: fmt.Sprintf("%0200d", k), Role: Owner, Epoch: 1})
	}
	if _, err := b.encode(); err == nil {
		t.Error("it was encoded")
	}
	if Subject(telemetry.Subjects{}, "a.b") == Subject(telemetry.Subjects{}, "a") {
		t.Error("two nets on one subject")
	}
}

func rowsOf(m *Member) *stats.Rows {
	n := m.cfg.Engine.Nets[0].Tables
	return stats.NewRows(n.Places(), n.Transitions())
}
