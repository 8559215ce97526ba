// SPDX-License-Identifier: Apache-2.0

//go:build peers

package model_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/engine/journal/stream"
	"github.com/pnagent/pnagent/engine/region"
	"github.com/pnagent/pnagent/engine/region/regiontest"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/split"
	"github.com/pnagent/pnagent/stats"
)

// event is a commit of the model.
type event struct {
	kind, by, token string
	epoch           uint64
	read            int    // the last event of the log above that was read; 0 for none
	readMark        string // its mark
	link            string // the mark of the event before
}

const noMark = `<<0, 0, "none">>`

func (e *event) mark() string { return fmt.Sprintf(`<<0, %d, %q>>`, e.epoch, e.by) }

func (e *event) tla() string {
	return fmt.Sprintf(`[gen |-> 0, kind |-> %q, epoch |-> %d, by |-> %q, token |-> %q, cursor |-> [pos |-> %d, mark |-> %s], link |-> %s]`,
		e.kind, e.epoch, e.by, e.token, e.read, e.readMark, e.link)
}

// shop is a net of two regions on JetStream: tokens enter place a of the region up, and t1 puts them into b of the region down.
type shop struct {
	*testing.T
	tables *petri.Tables
	parts  []region.Part
	server nats.InProcessConnProvider
	nc     *nats.Conn
	next   int // the next instance
}

func newShop(t *testing.T) *shop {
	net := &petri.Net{ID: "shop", Places: []petri.Place{{ID: "a"}, {ID: "b"}, {ID: "c"}}, Transitions: []petri.Transition{{ID: "t1"}, {ID: "t2"}},
		Arcs: []petri.Arc{{ID: "1", Source: "a", Target: "t1", Weight: 1}, {ID: "2", Source: "t1", Target: "b", Weight: 1},
			{ID: "3", Source: "b", Target: "t2", Weight: 1}, {ID: "4", Source: "t2", Target: "c", Weight: 1}}}
	tables, err := petri.Compile(net)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := split.Split(tables, func(id string) string { return map[string]string{"t1": "up", "t2": "down"}[id] }, nil)
	if err != nil {
		t.Fatal(err)
	}
	parts := region.Regions(tables, plan)
	if len(parts) != 2 || parts[0].Name != "up" {
		t.Fatalf("the parts are %+v", parts)
	}
	s := natstest.Start(t, natstest.JetStream(t.TempDir()))
	return &shop{T: t, tables: tables, parts: parts, server: s, nc: natstest.Connect(t, s)}
}

func (s *shop) config(conn *nats.Conn, source string) region.Config {
	return region.Config{Conn: conn, Parts: s.parts, Engine: engine.Config{Source: source, Nets: []engine.NetConfig{{Tables: s.tables}}, Instances: 100, Workers: 1},
		Open: func(ctx context.Context, part string, create bool, keep func() uint64) (region.Log, error) {
			return stream.Open(ctx, stream.Config{Conn: conn, Name: "shop/" + part, Existing: !create, Keep: keep})
		}}
}

// member starts a process. stop ends it, and kill has it lose its connection forever.
func (s *shop) member(source string) (stop, kill func()) {
	s.Helper()
	conn := natstest.Connect(s, s.server)
	m, err := region.New(s.config(conn, source))
	if err != nil {
		s.Fatal(err)
	}
	ctx, cancel := context.WithCancel(s.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	end := func() {
		cancel()
		<-ended // a process without a connection ends with an error
	}
	return end, func() { conn.Close(); end() }
}

// enter puts tokens into the net, each into an instance of its own.
func (s *shop) enter(n int) {
	s.Helper()
	for deadline := time.Now().Add(time.Minute); n > 0; {
		m, err := s.nc.Request("petrinet.v1.inject.shop.up", fmt.Appendf(nil, `{"instance":%d,"place":"a"}`, s.next), time.Second)
		if errors.Is(err, nats.ErrNoResponders) && time.Now().Before(deadline) {
			time.Sleep(20 * time.Millisecond) // the part has no owner
			continue
		}
		s.next++ // without an answer the token may be there or not
		switch {
		case err == nil && string(m.Data) == `{"ok":true}`:
			n--
		case err == nil || time.Now().After(deadline):
			s.Fatalf("no token is acknowledged: %v, %+v", err, m)
		}
	}
}

// arrived waits until all tokens are at the end.
func (s *shop) arrived(n int) {
	s.Helper()
	cfg := s.config(s.nc, "counter")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		tally, err := regiontest.Count(s.Context(), &cfg)
		if err == nil && tally.Tokens["c"] >= uint64(n) && tally.Total() == tally.Tokens["c"] {
			return
		}
		if time.Now().After(deadline) {
			s.Fatalf("after a minute the tokens are %+v, %v", tally, err)
		}
	}
}

// log reads the commits of the stream of a part, and calls each with what an engine knows after each.
func (s *shop) log(part int, each func(e *engine.Engine, c journal.Commit)) {
	s.Helper()
	cfg := s.config(s.nc, "reader")
	log, err := cfg.Open(s.Context(), s.parts[part].Name, false, nil)
	if err != nil {
		s.Fatal(err)
	}
	defer log.Close()
	var e *engine.Engine
	for c, err := range log.Read(s.Context(), 1) {
		if err != nil {
			s.Fatal(err)
		}
		if e == nil {
			first := regiontest.NewServer().Open("first", nil)
			if _, err := first.Append(s.Context(), 0, c.Payload); err != nil {
				s.Fatal(err)
			}
			ec := cfg.Engine
			ec.Journal, ec.Part = first, &s.parts[part].Part
			e, err = engine.New(ec)
			if err != nil {
				s.Fatal(err)
			}
		} else if err := e.Follow(c); err != nil {
			s.Fatal(err)
		}
		each(e, c)
	}
}

// tokens returns how many tokens the part of an engine has in its places.
func (s *shop) tokens(e *engine.Engine) (n int) {
	rows := stats.NewRows(s.tables.Places(), s.tables.Transitions())
	e.Followed(e.Latest(), rows)
	for i := range rows.Places {
		n += int(rows.Places[i].Tokens)
	}
	return n
}

// trace is what both logs have, as events of the model.
type trace struct {
	up, down []event
	names    []string // of tokens
}

// add adds an event. Its link is the mark of the one before: an engine has followed the real commits by their marks.
func add(log *[]event, e event) {
	e.link = noMark
	if n := len(*log); n > 0 {
		e.link = (*log)[n-1].mark()
	}
	if e.readMark == "" {
		e.readMark = noMark
	}
	*log = append(*log, e)
}

// read reads the streams of both parts.
func (s *shop) read() *trace {
	s.Helper()
	tr := &trace{}
	up := engine.Upstream{Plan: s.parts[1].Plan}
	type place struct {
		mark   engine.Mark
		events int
	}
	places := map[uint64]place{} // by commit of the log above
	entered, tokens, epoch := 0, 0, uint64(0)
	var ins []int // the events of tokens that have entered
	s.log(0, func(e *engine.Engine, c journal.Commit) {
		now := e.Standing()
		if now.Epoch > epoch {
			epoch = now.Epoch
			add(&tr.up, event{kind: "own", by: now.Owner, token: "none", epoch: epoch})
		}
		out, err := up.Read(c)
		if err != nil {
			s.Fatal(err)
		}
		for ; entered < s.tokens(e)+tokens+len(out); entered++ {
			ins = append(ins, len(tr.up))
			add(&tr.up, event{kind: "in", by: now.Owner, token: "?", epoch: epoch})
		}
		for _, x := range out {
			name := fmt.Sprintf("t%d", x.Instance)
			if tokens < len(ins) {
				tr.up[ins[tokens]].token = name // those that enter leave in that order
			}
			tr.names = append(tr.names, name)
			add(&tr.up, event{kind: "out", by: now.Owner, token: name, epoch: epoch})
			tokens++
		}
		places[c.Sequence] = place{now.At().Mark, len(tr.up)}
	})
	epoch, at, had := 0, uint64(0), uint64(0)
	s.log(1, func(e *engine.Engine, _ journal.Commit) {
		now := e.Standing()
		if now.Epoch > epoch {
			epoch = now.Epoch
			add(&tr.down, event{kind: "own", by: now.Owner, token: "none", epoch: epoch})
		}
		point := e.Known(0)[0]
		to := places[point.Position]
		for k := places[at].events; k < to.events; k++ { // what was read since
			mark := tr.up[k].mark()
			if to.mark != point.Mark {
				mark = `<<9, 9, "another log">>`
			}
			next := event{kind: "move", by: now.Owner, token: "none", epoch: epoch, read: k + 1, readMark: mark}
			if had < point.Tokens && tr.up[k].kind == "out" {
				next.kind, next.token = "arrive", tr.up[k].token
				had++
			}
			add(&tr.down, next)
		}
		if had != point.Tokens {
			s.Errorf("%d tokens have arrived with the commits up to %d, which have %d", point.Tokens, point.Position, had)
		}
		at = point.Position
	})
	return tr
}

// files returns the trace for TLC.
func (tr *trace) files(t *testing.T) map[string][]byte {
	lines := func(log []event) string {
		var all []string
		for i := range log {
			all = append(all, log[i].tla())
		}
		return strings.Join(all, ",\n  ")
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(func() map[string]bool {
		set := map[string]bool{}
		for _, name := range tr.names {
			set[name] = true
		}
		return set
	}())) {
		names = append(names, fmt.Sprintf("%q", name))
	}
	files := read(t, "Parts.tla", "PartsTrace.tla")
	files["TraceData.tla"] = fmt.Appendf(nil, "---- MODULE TraceData ----\nTrace == [up |-> <<\n  %s>>,\n  down |-> <<\n  %s>>]\n====\n", lines(tr.up), lines(tr.down))
	files["PartsTrace.cfg"] = fmt.Appendf(nil, `SPECIFICATION TraceSpec
CONSTANTS
  Procs = {"m1", "m2"}
  Tokens = {%s}
  Parts = {"up", "down"}
  Window = 1
  MaxEpoch = 99
  MaxCrashes = 0
  MaxSessions = 99
  MaxLosses = 0
  MaxRemovals = 0
  MaxMoves = 999
  Batch = TRUE
  Identity = TRUE
  Compare = TRUE
  Remember = TRUE
CONSTRAINT Matches
INVARIANTS OneOwnerWrites EpochsRise NoGap NotDoubled NotLost NotDone
`, strings.Join(names, ", "))
	return files
}

// accepted reports whether the model has a behaviour that writes both logs.
func (tr *trace) accepted(t *testing.T) bool {
	t.Helper()
	violated, printed := check(t, "PartsTrace", tr.files(t))
	if violated != "" && violated != "NotDone" {
		t.Errorf("%s is violated:\n%s", violated, printed)
	}
	return violated == "NotDone"
}

// The logs of two processes that take over from each other, by stopping and by a lost connection,
// while tokens cross, are a behaviour of the model. With one event changed they are none.
//
//promise:owner stop cut
func TestLogsOfRealProcessesAreABehaviourOfTheModel(t *testing.T) {
	s := newShop(t)
	stop1, _ := s.member("m1")
	s.enter(4)
	_, kill2 := s.member("m2")
	s.enter(3)
	stop1()
	s.enter(4)
	stop1, _ = s.member("m1")
	s.enter(3)
	kill2()
	s.enter(4)
	s.arrived(18)
	stop1()
	tr := s.read()
	owners := map[string]bool{}
	for _, e := range tr.up {
		owners[e.by] = true
	}
	t.Logf("%d events of the log above, %d of the log below", len(tr.up), len(tr.down))
	if len(owners) != 2 {
		t.Errorf("the owners are %v; want two", owners)
	}
	if !tr.accepted(t) {
		t.Errorf("the model does not have this trace:\n%s", tr.files(t)["TraceData.tla"])
	}
	arrival := slices.IndexFunc(tr.down, func(e event) bool { return e.kind == "arrive" })
	leaving := slices.IndexFunc(tr.up, func(e event) bool { return e.kind == "out" })
	second := slices.IndexFunc(tr.up, func(e event) bool { return e.kind == "own" && e.epoch == 2 })
	for name, spoil := range map[string]func(tr *trace){
		"an arrival twice":      func(tr *trace) { tr.down = slices.Insert(tr.down, arrival+1, tr.down[arrival]) },
		"an arrival of nothing": func(tr *trace) { tr.up = slices.Delete(tr.up, leaving, leaving+1) },
		"an arrival less":       func(tr *trace) { tr.down = slices.Delete(tr.down, arrival, arrival+1) },
		"a commit of an owner that was replaced": func(tr *trace) {
			tr.up[second-1], tr.up[second] = tr.up[second], tr.up[second-1]
		},
		"a cursor into another log": func(tr *trace) { tr.down[arrival].readMark = `<<0, 7, "m1">>` },
	} {
		t.Run(name, func(t *testing.T) {
			bad := trace{slices.Clone(tr.up), slices.Clone(tr.down), tr.names}
			spoil(&bad)
			relink(bad.up)
			relink(bad.down)
			if bad.accepted(t) {
				t.Error("the model has this trace")
			}
		})
	}
}

// relink makes each event follow the one before it, as a log does.
func relink(log []event) {
	for i := range log {
		log[i].link = noMark
		if i > 0 {
			log[i].link = log[i-1].mark()
		}
	}
}
