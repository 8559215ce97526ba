// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/latest"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

const (
	// DefaultInterval is the time between two views.
	DefaultInterval = time.Second
	// Definitions that are fetched at the same time, and the timeout of one.
	maxFetching  = 16
	fetchTimeout = 2 * time.Second
	// Ticks after which the sources that are shown are listed again.
	keepEvery = 8
	// Definitions that are read at the same time.
	maxReading = 4
)

// Config is the configuration of a Collector.
type Config struct {
	Conn     *nats.Conn                 // not closed by the Collector
	NATS     func() *natslink.ConnState // of Conn, for Views; nil where it is not known
	AgentX   func() *merge.Master       // the session of this process, for Views; nil without one
	Up       func() *natslink.ConnState // of another connection, to a collector above; nil without one
	Subjects telemetry.Subjects
	Rules    merge.Rules
	Interval time.Duration // between two views, see untilView; 0 is DefaultInterval
	Nets     []*petri.Net  // shown from the start, before any message arrives

	// Allow reports whether a net may be shown. Messages of others are rejected as
	// NetNotAllowed. Nil allows every net.
	Allow func(net string) bool
	PNML  pnml.Limits // of definitions that are received
	Share merge.Share // of the sources; the zero Share is all

	// State has the frames that Keep received in the previous process, from the last first
	// one on, with the same Share or another one. Nil starts from zero.
	State [][]byte
	// Keep receives, before each View is shown, what the next process needs so that its
	// counters continue: see merge.Saver. The View is not shown before Keep returns. If
	// Keep returns false, the frame was not kept; the next one is the first of another log.
	// Run calls Keep once more when it ends. Keep is not called while nothing changes. If
	// Keep is nil, each process counts from zero.
	Keep func(frame merge.Frame) (kept bool)

	Log *slog.Logger
}

// admission is what is taken of other processes.
func (c *Config) admission() merge.Admission {
	return merge.Admission{Net: c.Allow, Share: c.Share, PNML: c.PNML}
}

// Collector receives the messages of all sources of a subject space and keeps one
// View of them. It is the shell around a Merger.
type Collector struct {
	cfg  Config
	view latest.Value[merge.View]
	sift shareFilter

	mu       sync.Mutex // protects the fields below
	merger   *merge.Merger
	saver    merge.Saver
	lastErr  string // of the last first frame; "" if it was complete
	notices  notices
	fetching map[merge.Ask]bool
	reading  chan struct{} // holds one element for each definition that is being read
	waiting  []merge.Ask   // definitions to fetch when there is room; at most Limits.Definitions
	tasks    sync.WaitGroup
	running  bool // while Run runs
	dropped  map[*nats.Subscription]int
	proofs   proofs
	ticks    uint64
	rest     rest
	pace     pace

	name string // of this process, for telemetry.Pace
	work meter

	inbox *inbox // has a lock of its own, which may be taken while mu is held
}

// New returns a Collector whose first View holds the given nets and Config.State.
// It returns an error about such a net, or one that wraps ErrState.
func New(cfg Config) (*Collector, error) {
	if cfg.Conn == nil || cfg.Log == nil {
		return nil, errors.New("collect: expected a connection and a log")
	}
	cfg.Interval = cmp.Or(cfg.Interval, DefaultInterval)
	now := time.Now().UnixMicro()
	c := &Collector{cfg: cfg, merger: merge.NewMerger(cfg.Rules, now),
		name: "sidecar-" + strconv.FormatUint(rand.Uint64(), 36), fetching: make(map[merge.Ask]bool), reading: make(chan struct{}, maxReading), dropped: make(map[*nats.Subscription]int),
		proofs: newProofs(cfg.Interval), rest: rest{stir: make(chan struct{}, 1)}}
	for _, n := range cfg.Nets {
		// An engine that runs the same net has the same digest, so its definition
		// need not be requested.
		var text bytes.Buffer
		err := pnml.Write(&text, n)
		if err == nil {
			err = c.merger.DefineByFile(telemetry.Digest(text.Bytes()), n, now)
		}
		if err != nil {
			return nil, fmt.Errorf("collect net %q: %w", n.ID, err)
		}
	}
	if cfg.State != nil {
		if err := c.merger.Restore(cfg.State, cfg.admission(), now); err != nil {
			return nil, fmt.Errorf("collect: restore the state of the previous process: %w", err)
		}
	}
	c.inbox = newInbox(cfg.Rules.Limits.Waiting())
	c.inbox.keep(c.shownSubjects())
	c.merger.Begin(now)
	c.proofs.at = now
	view, _ := c.merger.Tick(now)
	c.links(view)
	view.Interrupted = true
	c.merger.SetPresent(view)
	c.view.Store(view)
	return c, nil
}

// View returns the latest View. It is never nil, and safe for concurrent use.
func (c *Collector) View() *merge.View { return c.view.Load() }

// Subscribe returns a channel of Views with one slot: it holds the newest View
// that was not received, at first the current one. Each subscriber needs a channel
// of its own.
func (c *Collector) Subscribe() <-chan *merge.View { return c.view.Subscribe() }

// Run receives messages until the context ends, which is no error. It may be
// called once.
func (c *Collector) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	c.run(true)
	defer c.tasks.Wait()
	defer c.run(false)
	defer cancel()
	c.tasks.Go(func() { c.process(ctx) })
	defer c.inbox.close()
	for _, subject := range c.cfg.Share.Subjects(c.cfg.Subjects) {
		sub, err := c.subscribe(subject)
		if err != nil {
			return fmt.Errorf("collect from %s: %w", subject, err)
		}
		defer func() { _ = sub.Unsubscribe() }() // fails only where the connection is closed
	}
	if err := c.cfg.Conn.Publish(c.cfg.Subjects.Hello(), nil); err != nil {
		return fmt.Errorf("request the snapshots of all sources: %w", err)
	}
	c.tasks.Go(func() { c.prove(ctx) })
	return c.show(ctx)
}

// show makes Views until the context ends.
func (c *Collector) show(ctx context.Context) error {
	status := c.cfg.Conn.StatusChanged(nats.CONNECTED, nats.RECONNECTING, nats.DISCONNECTED, nats.CLOSED)
	defer c.cfg.Conn.RemoveStatusListener(status)
	due := time.Now()
	c.proveNow(ctx, due)
	next := time.NewTimer(c.cfg.Interval)
	defer next.Stop()
	for {
		now := time.Now()
		wait := c.untilNext(now)
		due = now.Add(wait)
		next.Reset(wait)
		select {
		case <-ctx.Done():
			c.last(time.Now().UnixMicro())
			return nil
		case _, open := <-status:
			if !open {
				status = nil
			}
			c.rest.on.Store(false)
		case <-c.rest.stir:
		case <-next.C:
			c.proveNow(ctx, due)
			c.tick(ctx, time.Now().UnixMicro())
		}
	}
}

// untilView returns the time from now to the next View. Views are made at whole
// intervals of the clock, so that the collectors of a pair have the same snapshots
// in theirs: after a take-over no View is older than one shown before. Collectors
// of different shares are offset against each other, so that they do not all work
// at the same moment.
func (c *Collector) untilView(now time.Time) time.Duration {
	interval := c.cfg.Interval
	whole := interval * time.Duration(max(2*c.cfg.Share.Index-1, 0)) / time.Duration(max(2*c.cfg.Share.Count, 1))
	d := interval - time.Duration((now.UnixNano()-int64(whole))%int64(interval))
	if d < interval/8 { // the timer may fire slightly before the clock's interval is over
		d += interval
	}
	return d
}

// run sets whether messages are processed. Messages that a subscription delivers
// while Run ends are ignored.
func (c *Collector) run(running bool) {
	c.mu.Lock()
	c.running = running
	c.mu.Unlock()
}

// subscribe puts every message of a subject into the inbox.
func (c *Collector) subscribe(subject string) (*nats.Subscription, error) {
	s := &subscription{}
	sub, err := c.cfg.Conn.Subscribe(subject, func(m *nats.Msg) {
		if c.mine(&m.Subject) {
			c.inbox.put(m, time.Now().UnixMicro())
		}
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
	return sub, sub.SetPendingLimits(maxPending, maxPendingBytes)
}

// process processes the messages of the inbox until that is closed.
func (c *Collector) process(ctx context.Context) {
	var decoder telemetry.Decoder
	var msg telemetry.Snapshot
	for batch, first := c.inbox.next(nil); len(batch) > 0; batch, first = c.inbox.next(batch) {
		c.work.do(len(batch), first, func() (taken int) {
			for i := range batch {
				if c.receive(ctx, &batch[i], first, &decoder, &msg) || first {
					taken++
				}
			}
			return taken
		})
	}
}

// shownSubjects returns the subjectKey of each source whose rows are shown.
func (c *Collector) shownSubjects() map[string]bool {
	shown := make(map[string]bool)
	c.merger.Shown(func(net, source string) { shown[telemetry.Escape(net)+"."+telemetry.Escape(source)] = true })
	return shown
}

// receive processes one message, and reports whether it was taken. first is whether rows of its
// source were shown when it arrived.
func (c *Collector) receive(ctx context.Context, m *waiting, first bool, decoder *telemetry.Decoder, msg *telemetry.Snapshot) (taken bool) {
	err := c.allowed(m.Subject)
	if err == nil {
		err = decoder.DecodeMsg(c.cfg.Subjects, m.Msg, msg)
	}
	now := m.at // for how long it waited says nothing of the clock of its source
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.running {
		return false
	}
	c.arrived()
	if err != nil {
		if net, source, bad := c.cfg.Subjects.ParseSnapshot(m.Subject); bad == nil && telemetry.ReasonOf(err) != merge.NetNotAllowed {
			c.merger.RejectFrom(net, source, err, len(m.Data), now)
		} else {
			c.merger.Reject(err, len(m.Data))
		}
		c.notice(err, m.Subject, now)
		return false
	}
	c.merger.Skip(msg.Net, msg.Source, m.skipped)
	asks, err := c.merger.Take(msg, len(m.Data), now)
	if err != nil {
		c.notice(err, m.Subject, now)
	} else {
		c.merger.Received(msg.Net, msg.Source, m.received)
		if !first && c.merger.Shows(msg.Net, msg.Source) {
			c.inbox.show(m.Subject)
		}
	}
	c.ask(ctx, asks)
	return err == nil
}

// allowed returns an error if Config.Allow excludes the net of a subject.
func (c *Collector) allowed(subject string) error {
	if c.cfg.Allow == nil {
		return nil
	}
	net, _, err := c.cfg.Subjects.ParseSnapshot(subject)
	if err == nil && !c.cfg.Allow(net) {
		return merge.Rejection(merge.NetNotAllowed, "net %q", net)
	}
	return nil // an invalid subject is rejected by the decoder
}

// tick makes a View, passes what changed to Keep, and shows it.
func (c *Collector) tick(ctx context.Context, now int64) {
	c.logSilence(now)
	view, kept := c.look(ctx, now)
	c.keep(kept)
	c.view.Store(view)
}

// last passes the state of everything received to Keep. It shows nothing: a View
// between two whole intervals would be newer than that of the other sidecar of a pair.
func (c *Collector) last(now int64) {
	if c.cfg.Keep == nil {
		return
	}
	c.mu.Lock()
	c.running = false
	c.confirmReceived()
	c.merger.Tick(now)
	kept := c.saver.Begin(c.merger, true)
	c.mu.Unlock()
	c.keep(kept)
}

// look makes a View, and begins the frame to keep with it, or returns nil for that.
func (c *Collector) look(ctx context.Context, now int64) (view *merge.View, kept *merge.Saving) {
	c.mu.Lock()
	defer c.mu.Unlock()
	lost := nothing
	replaced, bytes := c.inbox.takeReplaced()
	c.merger.Replaced(replaced, bytes)
	if replaced > 0 {
		lost = someReplaced
	}
	for sub, before := range c.dropped {
		if dropped, err := sub.Dropped(); err == nil && dropped > before {
			lost = someDropped
			c.merger.Overran(uint64(dropped-before), merge.Overrun)
			c.dropped[sub] = dropped
			c.notice(merge.Rejection(merge.Overrun, "%d messages so far", dropped), sub.Subject, now)
		}
	}
	if c.countDropped(now) {
		lost = someDropped
	}
	c.confirmReceived()
	revision := c.merger.Revision()
	view, asks := c.merger.Tick(now)
	if c.ticks++; c.ticks%keepEvery == 0 {
		c.inbox.keep(c.shownSubjects())
	}
	c.logSaturated()
	c.links(view)
	view.Pace, view.Load = c.paced(now, lost), c.pace.load
	view.Interrupted = view.Interrupted || c.proofs.overdue(now)
	c.merger.SetPresent(view)
	c.ask(ctx, asks)
	c.rest.on.Store(c.rests(view, revision, len(asks) > 0))
	if c.cfg.Keep == nil {
		return view, nil
	}
	return view, c.saver.Begin(c.merger, false)
}

// countDropped counts the messages that the inbox dropped, and reports whether some were of
// sources that are shown.
func (c *Collector) countDropped(now int64) bool {
	known, unknown := c.inbox.takeDropped()
	if known > 0 {
		c.merger.Overran(known, merge.Overrun)
		c.notice(merge.Rejection(merge.Overrun, "%d messages of sources that are shown", known), "inbox", now)
	}
	if unknown > 0 {
		c.merger.Overran(unknown, merge.OverrunUnknown)
		c.notice(merge.Rejection(merge.OverrunUnknown, "%d messages of sources that are not shown", unknown), "inbox", now)
	}
	return known > 0
}

// keep makes a frame and passes it to Keep. It holds the lock for one piece at a time.
func (c *Collector) keep(kept *merge.Saving) {
	if kept == nil {
		return
	}
	for more := true; more; {
		c.mu.Lock()
		more = kept.Piece()
		c.mu.Unlock()
	}
	frame, err := kept.Frame()
	if err != nil && err.Error() != c.lastErr {
		c.cfg.Log.Error("keep counters", "err", err)
	}
	if frame.First {
		c.lastErr = ""
	}
	if err != nil {
		c.lastErr = err.Error()
	}
	if len(frame.Records) > 0 && !c.cfg.Keep(frame) {
		c.saver.Failed()
	}
}

// links sets the connection states of a View.
func (c *Collector) links(view *merge.View) {
	view.NATS = c.nats()
	if c.cfg.AgentX != nil {
		view.AgentX = c.cfg.AgentX()
	}
	if c.cfg.Up != nil {
		view.Up = c.cfg.Up()
	}
}

// nats returns the state of the connection, or nil if it is not known.
func (c *Collector) nats() *natslink.ConnState {
	if c.cfg.NATS == nil {
		return nil
	}
	return c.cfg.NATS()
}

// ask sends requests to the sources. The Merger repeats a request that could not
// be sent. Without a connection nothing is sent: the client may then hold its lock
// for seconds, which would delay the Views.
func (c *Collector) ask(ctx context.Context, asks []merge.Ask) {
	if len(asks)+len(c.waiting) == 0 {
		return
	}
	if nats := c.nats(); nats != nil && !nats.Connected {
		return
	}
	_, _, pressed := c.inbox.waits()
	for _, a := range asks {
		if a.Notice != (telemetry.Notice{}) {
			c.sendNotice(a)
		} else if a.Source != "" && pressed {
			continue // a full message would be more work; the source sends one by itself
		} else if a.Source != "" {
			if err := c.cfg.Conn.Publish(c.cfg.Subjects.Full(a.Net, a.Source), nil); err != nil {
				c.cfg.Log.Debug("request a full snapshot", "net", a.Net, "source", a.Source, "err", err)
			}
		} else if !c.fetching[a] && !slices.Contains(c.waiting, a) {
			c.waiting = append(c.waiting, a)
		}
	}
	for len(c.waiting) > 0 && len(c.fetching) < maxFetching {
		a := c.waiting[0]
		c.waiting = c.waiting[1:]
		if !c.merger.Open(a) {
			continue // the question gave way to another one
		}
		c.fetching[a] = true
		c.tasks.Go(func() { c.fetch(ctx, a) })
	}
}
