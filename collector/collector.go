// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

const (
	// DefaultInterval is the time between two views.
	DefaultInterval = time.Second
	// Messages that wait to be taken; more are dropped and counted.
	maxWaiting      = 1 << 16
	maxWaitingBytes = 64 << 20
	// Definitions that are being fetched at the same time, and how long one
	// may take.
	maxFetching  = 4
	fetchTimeout = 5 * time.Second
)

// Config is what a Collector listens to, and what it makes of it.
type Config struct {
	Conn     *nats.Conn             // not closed by the Collector
	NATS     func() *natslink.State // of Conn, for Views; nil where it is not known
	Up       func() *natslink.State // of another connection, to a collector above; nil without one
	Subjects telemetry.Subjects
	Rules    Rules
	Interval time.Duration // between two views, see untilView; 0 is DefaultInterval
	Nets     []*petri.Net  // shown from the start, before any source is heard
	PNML     pnml.Limits   // of definitions that come over the wire
	Share    Share         // of the sources; the zero Share is all

	// State and Shown are what Keep was given last by the process before this
	// one, with the same Share or another one; nil for a beginning from zero.
	State, Shown []byte
	// Keep is given, before each View is shown, what a next process must have
	// for its counters to go on: either the state of all sources, or, where that
	// would cost too much, what the View shows alone (whole is false), so that no
	// counter falls. Run calls it once more when it ends, with a state. The View
	// is not shown before Keep returns. Nil where each process counts from zero.
	Keep func(state []byte, whole bool)

	Log *slog.Logger
}

// Collector hears all sources of a subject space and keeps one View of them:
// the shell around a Merger.
type Collector struct {
	cfg  Config
	view atomic.Pointer[View]
	sift sift

	mu       sync.Mutex // holds together what follows
	merger   *Merger
	saver    saver
	saving   *saving // the state that is being made; nil while there is none
	said     string  // what was wrong with the last state
	notices  notices
	fetching map[Ask]bool
	waiting  []Ask // definitions to fetch when there is room; at most Limits.Definitions
	tasks    sync.WaitGroup
	running  bool // between the beginning and the end of Run
	dropped  map[*nats.Subscription]int
	proofs   proofs
}

// New returns a Collector that has a View already, of the nets it was given and
// of Config.State. The error is about such a net, or wraps ErrState.
func New(cfg Config) (*Collector, error) {
	if cfg.Conn == nil || cfg.Log == nil {
		return nil, errors.New("collect: a connection and a log are needed")
	}
	cfg.Interval = cmp.Or(cfg.Interval, DefaultInterval)
	now := time.Now().UnixMicro()
	c := &Collector{cfg: cfg, merger: NewMerger(cfg.Rules, now),
		fetching: make(map[Ask]bool), dropped: make(map[*nats.Subscription]int)}
	for _, n := range cfg.Nets {
		// The digest is that of an engine that runs the same net, so its
		// definition need not be asked for.
		var text bytes.Buffer
		err := pnml.Write(&text, n)
		if err == nil {
			_, err = c.merger.Define(telemetry.Digest(text.Bytes()), n, now)
		}
		if err != nil {
			return nil, fmt.Errorf("collect net %q: %w", n.ID, err)
		}
	}
	if cfg.State != nil {
		err := c.merger.restore(cfg.State, &cfg, now)
		if err == nil && cfg.Shown != nil {
			err = c.merger.restoreShown(cfg.Shown, &cfg, now)
		}
		if err != nil {
			return nil, fmt.Errorf("collect from where another process stopped: %w", err)
		}
	}
	c.merger.begin(now)
	c.proofs.at = now
	view, _ := c.merger.Tick(now)
	c.links(view)
	view.Deaf = true
	c.view.Store(view)
	return c, nil
}

// View returns the latest View. It is never nil, and safe for concurrent use.
func (c *Collector) View() *View { return c.view.Load() }

// Run listens until the context ends, which is no error. It may be called once.
func (c *Collector) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	c.run(true)
	defer c.tasks.Wait()
	defer c.run(false)
	defer cancel()
	for _, subject := range c.cfg.Share.subjects(c.cfg.Subjects) {
		sub, err := c.subscribe(ctx, subject)
		if err != nil {
			return fmt.Errorf("collect from %s: %w", subject, err)
		}
		defer func() { _ = sub.Unsubscribe() }() // fails only where the connection is closed
	}
	if err := c.cfg.Conn.Publish(c.cfg.Subjects.Hello(), nil); err != nil {
		return fmt.Errorf("ask who is there: %w", err)
	}
	c.tasks.Go(func() { c.prove(ctx) })
	next := time.NewTimer(c.untilView(time.Now()))
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			c.last(time.Now().UnixMicro())
			return nil
		case <-next.C:
			now := time.Now()
			next.Reset(c.untilView(now))
			c.tick(ctx, now.UnixMicro())
		}
	}
}

// untilView is how long it is from a time to the next View. Views are made at
// whole intervals of the clock, so that collectors that stand in for each other
// have the same snapshots in theirs: who takes over tells nothing older than what
// was told before. Those of different shares take turns, so that they do not all
// have something to do at once.
func (c *Collector) untilView(now time.Time) time.Duration {
	interval := c.cfg.Interval
	whole := interval * time.Duration(max(2*c.cfg.Share.Index-1, 0)) / time.Duration(max(2*c.cfg.Share.Count, 1))
	d := interval - time.Duration((now.UnixNano()-int64(whole))%int64(interval))
	if d < interval/8 { // the clock and the timer may not be quite of one mind
		d += interval
	}
	return d
}

// run notes whether messages are taken. Those that are on their way to a
// subscription's function as Run ends change nothing any more.
func (c *Collector) run(running bool) {
	c.mu.Lock()
	c.running = running
	c.mu.Unlock()
}

// subscribe takes in every message of a subject. Each subscription has its own
// goroutine, so its own decoder.
func (c *Collector) subscribe(ctx context.Context, subject string) (*nats.Subscription, error) {
	var decoder telemetry.Decoder
	var msg telemetry.Snapshot
	s := &subscription{}
	sub, err := c.cfg.Conn.Subscribe(subject, func(m *nats.Msg) {
		c.hear(ctx, m, &decoder, &msg)
		s.taken.Add(1)
	})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.Subscription = sub
	c.proofs.subs = append(c.proofs.subs, s)
	c.dropped[sub] = 0
	return sub, sub.SetPendingLimits(maxWaiting, maxWaitingBytes)
}

// hear takes one message in.
func (c *Collector) hear(ctx context.Context, m *nats.Msg, decoder *telemetry.Decoder, msg *telemetry.Snapshot) {
	if !c.mine(&m.Subject) {
		return
	}
	err := decoder.DecodeMsg(c.cfg.Subjects, m, msg)
	now := time.Now().UnixMicro()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.running {
		return
	}
	if err != nil {
		if net, source, bad := c.cfg.Subjects.ParseSnapshot(m.Subject); bad == nil {
			c.merger.RejectFrom(net, source, err, len(m.Data), now)
		} else {
			c.merger.Reject(err, len(m.Data))
		}
		c.notice(err, m.Subject, now)
		return
	}
	if c.saving != nil {
		c.saving.before(c.merger, msg)
	}
	asks, err := c.merger.Take(msg, len(m.Data), now)
	if err != nil {
		c.notice(err, m.Subject, now)
	}
	c.ask(ctx, asks)
}

// tick makes a View, has it kept, and shows it.
func (c *Collector) tick(ctx context.Context, now int64) {
	c.tellSilence(now)
	view, kept, whole := c.look(ctx, now)
	if kept != nil {
		c.cfg.Keep(c.save(kept), whole)
	}
	c.view.Store(view)
}

// last has all kept that was heard.
func (c *Collector) last(now int64) {
	if c.cfg.Keep == nil {
		return
	}
	c.mu.Lock()
	c.running = false
	c.hearUntil()
	view, _ := c.merger.Tick(now)
	c.links(view)
	kept := c.saver.begin(c.merger)
	c.mu.Unlock()
	c.cfg.Keep(c.save(kept), true)
	c.view.Store(view)
}

// look makes a View, and begins what is to be kept of it: nil if nothing is.
func (c *Collector) look(ctx context.Context, now int64) (view *View, kept *saving, whole bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for sub, before := range c.dropped {
		if dropped, err := sub.Dropped(); err == nil && dropped > before {
			c.merger.Overran(uint64(dropped - before))
			c.dropped[sub] = dropped
			c.notice(reject(Overrun, "%d messages so far", dropped), sub.Subject, now)
		}
	}
	c.hearUntil()
	view, asks := c.merger.Tick(now)
	c.tellSaturated()
	c.links(view)
	view.Deaf = view.Deaf || c.proofs.deaf(now)
	c.ask(ctx, asks)
	switch whole = c.saver.due(now); {
	case c.cfg.Keep == nil:
		return view, nil, false
	case whole:
		c.saving = c.saver.begin(c.merger)
		return view, c.saving, true
	}
	return view, c.saver.beginShown(c.merger), false
}

// save returns what to keep. The lock is held for a piece of it at a time.
func (c *Collector) save(kept *saving) []byte {
	for more := true; more; {
		c.mu.Lock()
		if more = kept.piece(); !more {
			c.saving = nil
		}
		c.mu.Unlock()
	}
	state, err := kept.state()
	if err != nil && err.Error() != c.said {
		c.cfg.Log.Error("keep what was counted", "err", err)
	}
	c.said = ""
	if err != nil {
		c.said = err.Error()
	}
	return state
}

// links puts the states of the connections into a View.
func (c *Collector) links(view *View) {
	view.NATS = c.nats()
	if c.cfg.Up != nil {
		view.Up = c.cfg.Up()
	}
}

// nats returns the state of the connection; nil if it is not known.
func (c *Collector) nats() *natslink.State {
	if c.cfg.NATS == nil {
		return nil
	}
	return c.cfg.NATS()
}

// ask asks the sources. What cannot be sent is asked again by the Merger. While
// there is no connection nothing is sent: the client may hold its lock for
// seconds then, and the Views would wait for it.
func (c *Collector) ask(ctx context.Context, asks []Ask) {
	if nats := c.nats(); nats != nil && !nats.Connected {
		return
	}
	for _, a := range asks {
		if a.Notice != (telemetry.Notice{}) {
			c.tell(a)
		} else if a.Source != "" {
			if err := c.cfg.Conn.Publish(c.cfg.Subjects.Full(a.Net, a.Source), nil); err != nil {
				c.cfg.Log.Debug("ask for a full snapshot", "net", a.Net, "source", a.Source, "err", err)
			}
		} else if !c.fetching[a] && !slices.Contains(c.waiting, a) {
			c.waiting = append(c.waiting, a)
		}
	}
	for len(c.waiting) > 0 && len(c.fetching) < maxFetching {
		a := c.waiting[0]
		c.waiting = c.waiting[1:]
		c.fetching[a] = true
		c.tasks.Go(func() { c.fetch(ctx, a) })
	}
}

// tell sends a source the notice that its messages are refused. It says so
// itself; here it is logged once.
func (c *Collector) tell(a Ask) {
	payload, err := json.Marshal(a.Notice)
	if err == nil {
		err = c.cfg.Conn.Publish(c.cfg.Subjects.Notice(a.Net, a.Source), payload)
	}
	if err != nil {
		c.cfg.Log.Debug("send a notice", "net", a.Net, "source", a.Source, "err", err)
	}
	if c.notices.first("refused "+a.Notice.Reason+" "+a.Net+" "+a.Source, time.Now().UnixMicro()) != noticeSeen {
		c.cfg.Log.Warn("source refused", "net", a.Net, "source", a.Source, "reason", a.Notice.Text)
	}
}

// fetch gets a definition and defines the net by it.
func (c *Collector) fetch(ctx context.Context, a Ask) {
	size, net, err := c.definition(ctx, a)
	now := time.Now().UnixMicro()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.fetching, a)
	if !c.running {
		return
	}
	var asks []Ask
	defer func() { c.ask(ctx, asks) }()
	if err != nil {
		if telemetry.ReasonOf(err) != "" {
			c.merger.Reject(err, size)
		}
		c.notice(err, a.Net, now)
		return
	}
	if c.saving != nil {
		c.saving.finish()
	}
	if asks, err = c.merger.Define(a.Digest, net, now); err != nil {
		c.notice(err, a.Net, now)
		return
	}
	c.cfg.Log.Info("net defined", "net", a.Net, "digest", a.Digest, "places", len(net.Places), "transitions", len(net.Transitions))
}

// definition asks for a definition and reads it. The error has a
// telemetry.Reason where somebody answered and the answer was wrong.
func (c *Collector) definition(ctx context.Context, a Ask) (size int, net *petri.Net, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	def, err := telemetry.RequestDefinition(ctx, c.cfg.Conn, c.cfg.Subjects, a.Net, a.Digest)
	if err != nil {
		return 0, nil, err
	}
	net, err = ReadDefinition(def, c.cfg.PNML)
	return len(def.PNML), net, err
}

// notice logs an error if it is the first of its reason from there for a
// while.
func (c *Collector) notice(err error, from string, now int64) {
	switch reason := telemetry.ReasonOf(err); c.notices.first(string(reason)+" "+from, now) {
	case noticeFirst:
		c.cfg.Log.Warn("message not taken", "from", from, "err", err)
	case noticeLast:
		c.cfg.Log.Warn("message not taken; others are only counted for the next hour", "from", from, "err", err)
	case noticeSeen:
	}
}
