// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/alarm/watch"
	"github.com/pnagent/pnagent/collector/counts"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/collector/standby"
	"github.com/pnagent/pnagent/collector/uplink"
	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

// The net of every engine: a ring that a clock drives, and a desk where a person works.
const (
	netID                        = "shop"
	placeIn, placeOut, placeDesk = 0, 1, 2
	pick, bring, approve         = 0, 1, 2
	netPlaces, netTransitions    = 3, 3
	instances                    = 3
	stuckAfter                   = 5 * time.Second
	forgetAfter                  = 90 * time.Second
	rules                        = "settle: 6s\ndefaults:\n  stuck: {after: 5s, clear_after: 0s}\n  starved: off\n"
)

func shopNet() *petri.Net {
	n := &petri.Net{ID: netID}
	for _, p := range []string{"in", "out", "desk"} {
		n.Places = append(n.Places, petri.Place{ID: p})
	}
	n.Places[placeIn].Initial = 1
	arc := func(from, to string) {
		n.Arcs = append(n.Arcs, petri.Arc{ID: from + "-" + to, Source: from, Target: to, Weight: 1})
	}
	for _, t := range []string{"pick", "bring", "approve"} {
		n.Transitions = append(n.Transitions, petri.Transition{ID: t})
	}
	arc("in", "pick")
	arc("pick", "out")
	arc("out", "bring")
	arc("bring", "in")
	arc("desk", "approve")
	return n
}

// process is what engines and sidecars have in common: a name, files, a link, and a life.
type process struct {
	name    string
	dir     string // its files
	network *network
	link    *link
	cancel  context.CancelFunc
	running *sync.WaitGroup
	close   []func()
	up      bool
}

// begin starts a life of the process.
func (p *process) begin() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	p.link, p.cancel, p.running = newLink(p.network), cancel, &sync.WaitGroup{}
	p.close, p.up = nil, true
	return ctx
}

// end waits until a life is over. The connection ends last.
func (p *process) end() {
	p.cancel()
	p.running.Wait()
	for i := len(p.close) - 1; i >= 0; i-- {
		p.close[i]()
	}
	p.link.set(false, true, 0)
	p.up = false
}

// kill ends the process as kill -9 does: its files stay as they are, and nothing leaves it.
func (p *process) kill(t *testing.T) {
	t.Helper()
	synctest.Wait()
	kept := p.dir + ".kept"
	if err := os.CopyFS(kept, os.DirFS(p.dir)); err != nil {
		t.Fatal(err)
	}
	p.link.kill()
	p.end()
	if err := os.RemoveAll(p.dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(kept, p.dir); err != nil {
		t.Fatal(err)
	}
}

func (p *process) connect(t *testing.T) (*nats.Conn, func() *natslink.ConnState) {
	t.Helper()
	nc, state, err := p.link.connect(p.name)
	if err != nil {
		t.Fatal(err)
	}
	p.close = append(p.close, nc.Close)
	return nc, state
}

// node is an engine.
type node struct {
	process
	seed   uint64
	engine *engine.Engine
	leave  func(context.Context) error
}

func (n *node) start(t *testing.T) {
	t.Helper()
	ctx := n.begin()
	file, _, err := journal.Open(n.dir, journal.Options{Mode: journal.SyncNone})
	if err != nil {
		t.Fatal(err)
	}
	n.close = append(n.close, func() { _ = file.Close() })
	tables, err := petri.Compile(shopNet())
	if err != nil {
		t.Fatal(err)
	}
	delayed := func(d time.Duration) engine.Transition {
		return engine.Transition{Mode: plain.Mode{Kind: plain.Delayed, Delay: plain.Delay{A: float64(d.Microseconds())}}}
	}
	n.engine, err = engine.New(engine.Config{Source: n.name, Instances: instances, Workers: 1, Seed: n.seed, Journal: file,
		Nets: []engine.NetConfig{{Tables: tables, Transitions: []engine.Transition{delayed(time.Second), delayed(2 * time.Second), {Mode: plain.Mode{Kind: plain.Manual}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	nc, _ := n.connect(t)
	n.leave, err = engine.Serve(n.engine, nc, telemetry.Subjects{}, time.Second, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	e := n.engine
	n.running.Go(func() {
		if err := e.Run(ctx); err != nil {
			t.Errorf("%s: %v", n.name, err)
		}
	})
}

// stop ends the engine cleanly: it publishes its last rows, and that it ends.
func (n *node) stop() error {
	n.cancel()
	n.running.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := n.leave(ctx)
	n.end()
	return err
}

func (n *node) kill(t *testing.T) {
	n.process.kill(t)
	n.abandon()
}

// abandon ends what a killed process left behind in this one. Nothing of it reaches the server.
func (n *node) abandon() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	_ = n.leave(ctx)
}

// sidecar is a process that collects: of a pair, of a tree, or its root.
type sidecar struct {
	process
	subjects  telemetry.Subjects
	share     merge.Share
	above     *telemetry.Subjects // of the root; nil without one
	priority  uint8               // in its pair; 0 for one alone
	station   *station            // where it notifies; nil if it does not
	collector *collector.Collector
	member    *standby.Member
}

func (s *sidecar) start(t *testing.T) {
	t.Helper()
	ctx := s.begin()
	log := slog.New(slog.DiscardHandler)
	nc, state := s.connect(t)
	cfg := counts.Config{Path: filepath.Join(s.dir, "counters"), Subjects: s.subjects.Prefix(), Share: s.share, Log: log}
	if s.above != nil {
		cfg.Up, cfg.Source = s.above.Prefix(), s.name
	}
	dir, err := counts.Open(cfg, time.Now().UnixMicro())
	if err != nil {
		t.Fatal(err)
	}
	s.close = append(s.close, dir.Close)
	s.collector, err = dir.Collector(collector.Config{Conn: nc, NATS: state, Subjects: s.subjects, Share: s.share, PNML: pnml.DefaultLimits(), Log: log,
		Rules: merge.Rules{ForgetAfter: forgetAfter}})
	if err != nil {
		t.Fatal(err)
	}
	run := func(what string, run func(context.Context) error) {
		s.running.Go(func() {
			if err := run(ctx); err != nil {
				t.Errorf("%s: %s: %v", s.name, what, err)
			}
		})
	}
	if s.above != nil {
		head := dir.Header()
		up, err := uplink.New(uplink.Config{Conn: nc, Subjects: *s.above, Source: s.name, Since: head.Since, Epoch: head.Epoch, Fence: head.Fence, Log: log}, s.collector)
		if err != nil {
			t.Fatal(err)
		}
		run("uplink", up.Run)
	}
	if s.station != nil {
		w, member := s.alarms(t, nc, state)
		run("alarms", w.Run)
		if member != nil {
			run("pair", member.Run)
		}
	}
	run("collector", s.collector.Run)
}

// alarms returns the watcher of a sidecar, and its member of the pair.
func (s *sidecar) alarms(t *testing.T, nc *nats.Conn, state func() *natslink.ConnState) (w *watch.Watcher, member *standby.Member) {
	t.Helper()
	r, err := alarm.ReadRules(strings.NewReader(rules), "rules")
	if err != nil {
		t.Fatal(err)
	}
	link := s.link
	cfg := watch.Config{Rules: r, Views: s.collector.Subscribe(), Need: s.collector.Need, ForgetAfter: forgetAfter,
		StateFile: filepath.Join(s.dir, "alarms.state"), NotesFile: filepath.Join(s.dir, "alarms.notes"),
		Sinks: []watch.Sink{{Name: "station", Send: func(_ context.Context, n alarm.Notification) error { return s.station.receive(s.name, link, n) }}}}
	if s.priority != 0 {
		member = standby.New(standby.Config{Conn: nc, Subject: s.subjects.Sidecars("station"), Name: s.name, Priority: s.priority, Settle: r.Settle, Connected: func() bool { return state().Connected },
			Sources: &standby.Sources{Silent: s.collector.Silent, Take: s.collector.TakeSilent},
			Alarms: &standby.Shared{Digest: func() string { return w.Digest() }, Fold: func(page []byte) error { return w.Fold(page) },
				ShareAll: func(ask bool) { w.ShareAll(ask) }},
			Notes: &standby.Shared{Digest: func() string { return w.NotesDigest() }, Fold: func(page []byte) error { return w.FoldNotes(page) },
				ShareAll: func(bool) { w.ShareAllNotes() }},
			Sent: &standby.Shared{Fold: func(page []byte) error { return w.FoldSent(page) }}})
		cfg.Name = s.name
		cfg.Duty, cfg.Turned = duty(member), member.Turned()
		cfg.Share, cfg.ShareNotes, cfg.ShareSent = member.Share, member.ShareNotes, member.ShareSent
	}
	s.member = member
	w = watch.New(cfg)
	return w, member
}

// duty is that of package sidecar.
func duty(m *standby.Member) func() (alarm.Duty, func()) {
	return func() (alarm.Duty, func()) {
		state, release := m.Hold()
		d := alarm.Duty{On: state.OnDuty, Shared: state.Shared, Elsewhere: !state.OnDuty && state.Live > 0, Skip: state.Skip, Unsync: state.Unsync.UnixNano()}
		if !state.From.IsZero() {
			d.From = state.From.UnixMicro()
		}
		return d, release
	}
}
