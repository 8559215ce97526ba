// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"github.com/pnagent/pnagent/telemetry"
)

// fleetConfig is what a fleet is like.
type fleetConfig struct {
	sources  int
	interval time.Duration // between two messages of a source
	churn    float64       // of the turns, how many begin a new process, and how many a silence
	seed     uint64
}

// silence is for how many turns a source is silent, at most.
const silence = 8

// speakers is how many connections and goroutines the sources are divided over.
const speakers = 4

// fleet is many sources in one process, which speak by turns, evenly over the
// interval.
type fleet struct {
	cfg     fleetConfig
	net     definition
	conn    *nats.Conn // of answers
	groups  []*group
	wants   []atomic.Bool // by source: a full message was asked for
	byName  map[string]int
	resting atomic.Bool
	hellos  chan struct{} // one for each collector that began to listen

	said said
}

// said is what the fleet did, cumulative.
type said struct {
	messages, bytes, full, restarts, silences atomic.Uint64
	late                                      atomic.Int64 // the longest that a message came after its turn, nanoseconds
}

// group is the sources of one goroutine.
type group struct {
	fleet   *fleet
	conn    *nats.Conn
	sources []*source
	index   []int // of each in the fleet
	writer  writer
	totals  totals
	rested  int // turns since the fleet rests
	truth   chan *truth
}

// newFleet makes the sources; they have not spoken.
func newFleet(cfg fleetConfig, url string, now int64) (*fleet, error) {
	net, err := define(line())
	if err != nil {
		return nil, err
	}
	f := &fleet{cfg: cfg, net: net, wants: make([]atomic.Bool, cfg.sources), byName: make(map[string]int, cfg.sources),
		hellos: make(chan struct{}, 1000)}
	if f.conn, err = nats.Connect(url); err != nil {
		return nil, fmt.Errorf("connect the fleet: %w", err)
	}
	past := newPast(rand.New(rand.NewPCG(cfg.seed, 0)))
	for range min(speakers, cfg.sources) {
		g := &group{fleet: f, writer: writer{interval: cfg.interval, net: net}, truth: make(chan *truth, 1)}
		if g.conn, err = nats.Connect(url); err != nil {
			f.close()
			return nil, fmt.Errorf("connect the fleet: %w", err)
		}
		f.groups = append(f.groups, g)
	}
	for i := range cfg.sources {
		g := f.groups[i%len(f.groups)]
		s := &source{name: fmt.Sprintf("engine-%05d", i), rng: rand.New(rand.NewPCG(cfg.seed, uint64(i+1)))}
		s.subject = telemetry.Subjects{}.Snapshot(net.id, s.name)
		s.begin(now)
		s.remember(now, past, &g.totals)
		g.sources, g.index = append(g.sources, s), append(g.index, i)
		f.byName[telemetry.Escape(s.name)] = i
	}
	if err := f.answer(); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// answer answers what collectors ask: as a full message in a source's next turn,
// or with the definition.
func (f *fleet) answer() error {
	var all telemetry.Subjects
	hello := func(*nats.Msg) {
		for i := range f.wants {
			f.wants[i].Store(true)
		}
		select {
		case f.hellos <- struct{}{}:
		default: // nobody waits for so many
		}
	}
	full := func(m *nats.Msg) {
		if i, known := f.byName[m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]]; known {
			f.wants[i].Store(true)
		}
	}
	prefix := strings.TrimSuffix(all.Full("", ""), "=.=")
	for subject, handle := range map[string]nats.MsgHandler{
		all.Hello(): hello,
		prefix + telemetry.Escape(f.net.id) + ".*": full,
	} {
		if _, err := f.conn.Subscribe(subject, handle); err != nil {
			return fmt.Errorf("answer collectors: %w", err)
		}
	}
	if err := serveDefinition(f.conn, f.net); err != nil {
		return err
	}
	return f.conn.Flush() // from now on everything that is asked is heard
}

// heard waits until so many collectors listen. What a process says before, and
// the next one does not, nobody would ever know.
func (f *fleet) heard(ctx context.Context, collectors int) error {
	for range collectors {
		select {
		case <-f.hellos:
		case <-ctx.Done():
			return fmt.Errorf("wait until %d collectors listen: %w", collectors, ctx.Err())
		}
	}
	return nil
}

// serveDefinition answers with a net's definition.
func serveDefinition(conn *nats.Conn, net definition) error {
	var all telemetry.Subjects
	_, err := conn.Subscribe(all.Definition(net.id, net.digest), func(m *nats.Msg) {
		_ = m.Respond(net.pnml) // who asked asks again
	})
	if err != nil {
		return fmt.Errorf("answer who asks for net %q: %w", net.id, err)
	}
	return nil
}

func (f *fleet) close() {
	f.conn.Close()
	for _, g := range f.groups {
		if g.conn != nil {
			g.conn.Close()
		}
	}
}

// run lets the sources speak until the context ends.
func (f *fleet) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	begin := time.Now()
	for _, one := range f.groups {
		g.Go(func() error { return one.run(ctx, begin) })
	}
	return g.Wait()
}

// rest makes the fleet stand still, with everything said and all sources there,
// and returns what is so.
func (f *fleet) rest(ctx context.Context) (*truth, error) {
	f.resting.Store(true)
	all := &truth{}
	for _, g := range f.groups {
		select {
		case t := <-g.truth:
			all.add(t)
		case <-ctx.Done():
			return nil, fmt.Errorf("wait until the fleet rests: %w", ctx.Err())
		}
	}
	return all, nil
}

// ahead is how much earlier than its turn a source may speak, so that not each
// message is waited for alone.
const ahead = 2 * time.Millisecond

func (g *group) run(ctx context.Context, begin time.Time) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for turn := 0; ; turn++ {
		resting := g.fleet.resting.Load()
		for i, s := range g.sources {
			wait := time.Until(begin.Add(g.fleet.due(turn, g.index[i])))
			if wait > ahead {
				timer.Reset(wait)
				select {
				case <-timer.C:
				case <-ctx.Done():
					return nil
				}
			} else if ctx.Err() != nil {
				return nil
			} else if late := int64(-wait); late > g.fleet.said.late.Load() {
				g.fleet.said.late.Store(late)
			}
			if err := g.turn(s, i, resting); err != nil {
				return err
			}
		}
		if err := g.rest(resting); err != nil {
			return err
		}
	}
}

// due is when a source has a turn, from the beginning on.
func (f *fleet) due(turn, source int) time.Duration {
	turns := float64(turn) + float64(source)/float64(f.cfg.sources)
	return time.Duration(turns * float64(f.cfg.interval))
}

// turn is one source's.
func (g *group) turn(s *source, i int, resting bool) error {
	f, now := g.fleet, time.Now().UnixMicro()
	full := f.wants[g.index[i]].Swap(false)
	if resting {
		return g.say(s, now, full || g.rested == 0)
	}
	switch {
	case s.silent > 0:
		s.silent--
	case s.seq > 0 && s.rng.Float64() < f.cfg.churn:
		s.restart(now, &g.totals)
		f.said.restarts.Add(1)
	case s.seq > 0 && s.rng.Float64() < f.cfg.churn:
		s.silent = 1 + s.rng.IntN(silence)
		s.inStep = false // as after a connection that was lost
		f.said.silences.Add(1)
	}
	s.step(now, &g.totals)
	if s.silent > 0 {
		return nil
	}
	return g.say(s, now, full)
}

func (g *group) say(s *source, now int64, full bool) error {
	msg, err := g.writer.message(s, now, full)
	if err != nil {
		return err
	}
	if err := g.conn.Publish(s.subject, msg); err != nil {
		return fmt.Errorf("source %s: %w", s.name, err)
	}
	said := &g.fleet.said
	said.messages.Add(1)
	said.bytes.Add(uint64(len(msg)))
	if s.since == 0 {
		said.full.Add(1)
	}
	return nil
}

// rest tells the truth once everything of it is said.
func (g *group) rest(resting bool) error {
	if !resting {
		return nil
	}
	if g.rested++; g.rested != 1 {
		return nil
	}
	if err := g.conn.Flush(); err != nil {
		return fmt.Errorf("flush what the fleet said last: %w", err)
	}
	t := &truth{totals: g.totals, sources: len(g.sources)}
	for _, s := range g.sources {
		for _, k := range s.tokens {
			t.injected[k.place] = append(t.injected[k.place], k.injected)
		}
	}
	g.truth <- t
	return nil
}

// waits waits for a time, and reports whether the context lasted.
func waits(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
