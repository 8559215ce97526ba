// SPDX-License-Identifier: Apache-2.0

package fleetsim

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"github.com/pnagent/pnagent/telemetry"
)

// fleetConfig configures a fleet.
type fleetConfig struct {
	sources  int
	interval time.Duration // between two messages of a source
	churn    float64       // share of the turns in which a source restarts, and of those in which it becomes silent
	seed     uint64
}

// maxSilence is the most turns for which a source is silent.
const maxSilence = 8

// maxGroups is the number of groups that the sources are divided into.
const maxGroups = 4

// fleet is many sources in one process. They publish in turn, at equal distances
// within the interval.
type fleet struct {
	cfg     fleetConfig
	net     definition
	conn    *nats.Conn // for answers
	groups  []*group
	asked   []atomic.Bool // by source: whether a collector asked for a full message
	byName  map[string]int
	stopped atomic.Bool
	silent  atomic.Bool   // as if the network to all sources was cut, once they are stopped
	hellos  chan struct{} // one value for each collector that subscribed
	paces   sync.Map      // by the name of the collector, the microseconds that it asks for
	every   atomic.Int64  // a source publishes once in this number of turns, because of paces; 0 is 1

	counts counts
}

// counts is what the fleet did, cumulative.
type counts struct {
	messages, bytes, full, restarts, silences atomic.Uint64
	late                                      atomic.Int64 // the longest delay of a message after its turn, nanoseconds
}

// group is the sources of one goroutine and connection.
type group struct {
	fleet   *fleet
	conn    *nats.Conn
	sources []*source
	index   []int // of each in the fleet
	writer  writer
	totals  totals
	final   int // turns since the fleet stopped
	truth   chan *truth
}

// newFleet creates the sources and subscribes to requests. It publishes nothing.
func newFleet(cfg fleetConfig, url string, now int64) (*fleet, error) {
	net, err := define(line())
	if err != nil {
		return nil, err
	}
	f := &fleet{cfg: cfg, net: net, asked: make([]atomic.Bool, cfg.sources), byName: make(map[string]int, cfg.sources),
		hellos: make(chan struct{}, 1000)}
	if f.conn, err = nats.Connect(url); err != nil {
		return nil, fmt.Errorf("connect the fleet: %w", err)
	}
	past := newHistory(rand.New(rand.NewPCG(cfg.seed, 0)))
	for range min(maxGroups, cfg.sources) {
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
		s.preload(now, past, &g.totals)
		g.sources, g.index = append(g.sources, s), append(g.index, i)
		f.byName[telemetry.Escape(s.name)] = i
	}
	if err := f.answer(); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// answer subscribes to the requests of collectors. The answer is a full message in
// a source's next turn, or the definition.
func (f *fleet) answer() error {
	var all telemetry.Subjects
	hello := func(m *nats.Msg) {
		var pace telemetry.Pace
		if json.Unmarshal(m.Data, &pace) == nil {
			f.follow(pace)
			return
		}
		for i := range f.asked {
			f.asked[i].Store(true)
		}
		select {
		case f.hellos <- struct{}{}:
		default: // the channel has more than any stage waits for
		}
	}
	full := func(m *nats.Msg) {
		if i, known := f.byName[m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]]; known {
			f.asked[i].Store(true)
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
	return f.conn.Flush() // from now on no request is missed
}

// awaitCollectors waits until a number of collectors have subscribed. Otherwise
// the counters of a process that restarts before would be missing.
func (f *fleet) awaitCollectors(ctx context.Context, collectors int) error {
	for range collectors {
		select {
		case <-f.hellos:
		case <-ctx.Done():
			return fmt.Errorf("wait for %d collectors: %w", collectors, ctx.Err())
		}
	}
	return nil
}

// serveDefinition answers requests for a net's definition.
func serveDefinition(conn *nats.Conn, net definition) error {
	var all telemetry.Subjects
	_, err := conn.Subscribe(all.Definition(net.id, net.digest), func(m *nats.Msg) {
		_ = m.Respond(net.pnml) // a collector without an answer asks again
	})
	if err != nil {
		return fmt.Errorf("serve the definition of net %q: %w", net.id, err)
	}
	return nil
}

// follow has each source publish in every few turns only, so that the interval is what the
// collector with the longest one asks for.
func (f *fleet) follow(pace telemetry.Pace) {
	f.paces.Store(pace.Collector, pace.Interval)
	longest := int64(0)
	f.paces.Range(func(_, interval any) bool {
		longest = max(longest, interval.(int64))
		return true
	})
	own := f.cfg.interval.Microseconds()
	f.every.Store(max(1, (longest+own-1)/own))
}

func (f *fleet) close() {
	f.conn.Close()
	for _, g := range f.groups {
		if g.conn != nil {
			g.conn.Close()
		}
	}
}

// run runs the groups until the context ends.
func (f *fleet) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	begin := time.Now()
	for _, one := range f.groups {
		g.Go(func() error { return one.run(ctx, begin) })
	}
	return g.Wait()
}

// stop stops the token games, while every source continues to publish. It returns
// the truth once the final state is published.
func (f *fleet) stop(ctx context.Context) (*truth, error) {
	f.stopped.Store(true)
	all := &truth{}
	for _, g := range f.groups {
		select {
		case t := <-g.truth:
			all.add(t)
		case <-ctx.Done():
			return nil, fmt.Errorf("wait until the fleet stops: %w", ctx.Err())
		}
	}
	return all, nil
}

// ahead is how much earlier than its turn a source may publish, to avoid one timer
// for each message.
const ahead = 2 * time.Millisecond

func (g *group) run(ctx context.Context, begin time.Time) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for turn := 0; ; turn++ {
		stopped := g.fleet.stopped.Load()
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
			} else if late := int64(-wait); late > g.fleet.counts.late.Load() {
				g.fleet.counts.late.Store(late)
			}
			if err := g.turn(s, i, turn, stopped); err != nil {
				return err
			}
		}
		if err := g.report(stopped); err != nil {
			return err
		}
	}
}

// due returns when a source has a turn, since the start of the fleet.
func (f *fleet) due(turn, source int) time.Duration {
	turns := float64(turn) + float64(source)/float64(f.cfg.sources)
	return time.Duration(turns * float64(f.cfg.interval))
}

// turn runs one turn of a source.
func (g *group) turn(s *source, i, turn int, stopped bool) error {
	f, now := g.fleet, time.Now().UnixMicro()
	full := f.asked[g.index[i]].Swap(false)
	if f.silent.Load() {
		return nil
	}
	every := max(f.every.Load(), 1)
	due := s.every != every || !s.inStep || full || (int64(turn)+int64(i))%every == 0 // otherwise it said when the next message comes
	if stopped {
		if g.final > 0 && !due {
			return nil
		}
		s.every = every
		return g.publish(s, now, full || g.final == 0)
	}
	switch {
	case s.silent > 0:
		s.silent--
	case s.seq > 0 && s.rng.Float64() < f.cfg.churn:
		if s.places|s.transitions != 0 { // the last message of a process has all that it did
			if err := g.publish(s, now, false); err != nil {
				return err
			}
		}
		s.restart(now, &g.totals)
		f.counts.restarts.Add(1)
	case s.seq > 0 && s.rng.Float64() < f.cfg.churn:
		s.silent = 1 + s.rng.IntN(maxSilence)
		s.inStep = false // as after a lost connection
		f.counts.silences.Add(1)
	}
	s.step(now, &g.totals)
	if s.silent > 0 || s.inStep && !due {
		return nil
	}
	s.every = every
	return g.publish(s, now, full)
}

func (g *group) publish(s *source, now int64, full bool) error {
	msg, err := g.writer.message(s, now, full)
	if err != nil {
		return err
	}
	if err := g.conn.Publish(s.subject, msg); err != nil {
		return fmt.Errorf("source %s: %w", s.name, err)
	}
	counts := &g.fleet.counts
	counts.messages.Add(1)
	counts.bytes.Add(uint64(len(msg)))
	if s.since == 0 {
		counts.full.Add(1)
	}
	return nil
}

// report sends the truth after the first turn of a stopped fleet, in which every
// source published its final state.
func (g *group) report(stopped bool) error {
	if !stopped {
		return nil
	}
	if g.final++; g.final != 1 {
		return nil
	}
	if err := g.conn.Flush(); err != nil {
		return fmt.Errorf("flush the final messages of the fleet: %w", err)
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

// waits waits for a time and reports whether the context is still valid.
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
