// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/internal/wakeup"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

// DefaultInterval is the time between two snapshots of a net.
const DefaultInterval = time.Second

// maxJitter bounds the delay of an answer, which spreads the answers of the
// sources of a large installation.
const maxJitter = 500 * time.Millisecond

// pingEvery is the least time between two pings of a Publisher: less than natslink.PingAfter by more
// than DefaultInterval.
const pingEvery = natslink.PingAfter - DefaultInterval

// SourceNet is a net that a source runs.
type SourceNet struct {
	ID          string
	PNML        []byte // its definition: collectors identify the net by the digest of these bytes
	Places      int
	Transitions int
	Region      string // set if a region can move between processes
	Fence       uint64 // the owner with the higher fence owns the region, see Claim

	// Since is when the counters of the region began (microseconds since the
	// Unix epoch), if the next owner continues them: rows then hold what all
	// owners counted. Every owner has a higher Fence than the one before and
	// starts a Publisher of its own. 0: rows hold what this process counted.
	Since int64
}

// Config configures a Publisher.
type Config struct {
	Conn     *nats.Conn // not closed by the Publisher
	Subjects Subjects
	Source   string // unique in the subject space
	Nets     []SourceNet
	Interval time.Duration // 0 is DefaultInterval

	// Rows fills in the rows of Nets[net] as of now (microseconds since the
	// Unix epoch). into holds zeros of the net's size, and no Columns. What the
	// function puts into it must not change afterwards. On an error, or while
	// the function blocks, nothing is published for this net. One goroutine at
	// a time calls it, never one that fires transitions.
	Rows func(net int, now int64, into *stats.Rows) error

	// Oldest returns the tokens of a place of Nets[net] that a query selects, oldest
	// first. Goroutines of the connection call it when a user asks. Nil if the engine
	// cannot report them.
	Oldest func(net, place int, q *stats.Query) (stats.Found, error)

	// Instance returns the content of an instance of Nets[net]. The error wraps
	// ErrNoInstance if the source does not have it. It is called as Oldest is.
	// Nil if the engine cannot report it.
	Instance func(net int, name string) (*Instance, error)

	// Acts is the name at which the source takes requests to inject tokens and to fire
	// transitions: the last token of their subjects, before Escape. It is "" if the
	// source takes none. Tool then says, for people, what acts on its instances
	// instead, such as "Camunda Cockpit"; "" if that is not known.
	Acts, Tool string

	// Verbs are the requests that it takes, of fire, inject and retry; nil for all.
	Verbs []string

	// Region returns the state of the region of Nets[net] beyond its rows, or
	// nil. It is called for each snapshot, as Rows is. Nil if no net has a
	// region, or its state is not known.
	Region func(net int) *RegionState

	// Refused returns the requests about Nets[net] that this process refused, or
	// nil. It is called for each snapshot, as Rows is. Nil if the engine takes no
	// requests.
	Refused func(net int) *stats.RefusedRequests

	// Remnants returns what sources of Nets[net] do not report any more, of a process
	// that publishes for other sources, in about as many bytes as there is room. It is
	// called after Rows, as that is. Nil for an engine.
	Remnants func(net, room int) *Remnants

	// LastEpoch is the epoch of the process before this one, if known: the new
	// epoch is later even if the clock was set back.
	LastEpoch int64

	// ThreadTimer makes the Publisher wait by a timer of the system, where there is one (Linux):
	// each snapshot then wakes fewer threads. Such a wait is not idle for package
	// testing/synctest.
	ThreadTimer bool

	Log *slog.Logger
}

// Publisher publishes the rows of a source's nets in regular snapshots and
// answers requests of collectors. It never blocks the goroutines that fire, and
// works while NATS is unreachable: rows are cumulative, so the first full
// snapshot after a reconnect replaces all that were not sent. It is safe for
// concurrent use.
type Publisher struct {
	cfg   Config
	epoch int64
	wire  link
	log   *slog.Logger
	feeds []*feed
	wants []atomic.Bool // nets whose full snapshot was requested
	asked atomic.Bool   // since the goroutine last looked
	timer wakeup.Timer  // of the goroutine
	stop  chan struct{}
	done  chan struct{}
	once  sync.Once // closes stop
	bye   bool      // publish a bye message at the end; set before stop is closed

	redefined redefinitions

	service *service // the subscriptions
	release sync.Once
	left    error // of releasing the service

	reconnects uint64 // as of the last tick; of the goroutine
	failing    []bool // nets whose failure is already logged; of the goroutine

	messages, bytes, failures, missed atomic.Uint64

	notices notices
	paces   paces
	pinged  time.Time // of the goroutine
	rhythm  rhythm    // of the goroutine

	unanswered atomic.Int64 // when it was last logged that an answer could not be sent
}

// link is the part of a connection that the Publisher uses.
type link interface {
	publish(subject string, payload []byte) error
	ping() // see natslink.Ping
	// state returns whether the connection is up, and the number of reconnects.
	state() (up bool, reconnects uint64)
	// limit returns the largest size of a message in bytes.
	limit() int
}

// PublisherStats counts what a Publisher did since its start.
type PublisherStats struct {
	Messages uint64 `json:"messages"` // snapshots published
	Bytes    uint64 `json:"bytes"`    // of them
	Errors   uint64 `json:"errors"`   // times that a net's rows could not be read or published
	Missed   uint64 `json:"missed"`   // times that a net's rows were due while NATS was unreachable
	Refused  uint64 `json:"refused"`  // notices of collectors that reject this process, see Publisher.Notice
}

// Start starts to publish, at once and then every interval, and returns. The
// connection may be down. Errors are about the configuration, or about a
// definition that is too large for the server (TooLarge).
func Start(cfg Config) (*Publisher, error) {
	if cfg.Conn == nil {
		return nil, fmt.Errorf("publish as source %q: no connection", cfg.Source)
	}
	p, err := newPublisher(cfg, natsLink{cfg.Conn}, time.Now().UnixMicro())
	if err != nil {
		return nil, fmt.Errorf("publish as source %q: %w", cfg.Source, err)
	}
	if p.service, err = p.serve(); err != nil {
		p.timer.Stop()
		return nil, fmt.Errorf("publish as source %q: %w", cfg.Source, err)
	}
	go p.run()
	return p, nil
}

func newPublisher(cfg Config, wire link, now int64) (*Publisher, error) {
	cfg.Interval = cmp.Or(cfg.Interval, DefaultInterval)
	if err := cfg.check(); err != nil {
		return nil, err
	}
	p := &Publisher{
		cfg: cfg, epoch: max(now, cfg.LastEpoch+1), wire: wire, log: cfg.Log, wants: make([]atomic.Bool, len(cfg.Nets)), failing: make([]bool, len(cfg.Nets)),
		timer: wakeup.New(), stop: make(chan struct{}), done: make(chan struct{}), rhythm: rhythm{own: cfg.Interval, interval: cfg.Interval},
	}
	if cfg.ThreadTimer {
		p.timer = wakeup.Thread()
	}
	p.paces.changed = p.timer.Wake
	for i := range cfg.Nets {
		n := &cfg.Nets[i]
		p.feeds = append(p.feeds, &feed{size: [2]int{n.Places, n.Transitions}, head: Snapshot{
			Source: cfg.Source, Epoch: p.epoch, Interval: cfg.Interval, Net: n.ID, Digest: Digest(n.PNML),
			Region: n.Region, Fence: n.Fence, Since: n.Since,
		}})
	}
	_, p.reconnects = wire.state()
	return p, nil
}

func (c *Config) check() error {
	if err := CheckName(c.Source); err != nil {
		return fmt.Errorf("source: %w", err)
	}
	if err := errors.Join(checkText(c.Acts, MaxName), checkText(c.Tool, stats.MaxWhat)); err != nil {
		return fmt.Errorf("acts or tool: %w", err)
	}
	if c.Interval < time.Millisecond || c.Interval > MaxInterval {
		return fmt.Errorf("interval of %v: from a millisecond to %v", c.Interval, MaxInterval)
	}
	if len(c.Nets) == 0 || c.Rows == nil || c.Log == nil {
		return errors.New("no Nets, Rows or Log; expected all three")
	}
	seen := map[string]bool{}
	for i := range c.Nets {
		n := &c.Nets[i]
		if err := checkNet(n); err != nil {
			return fmt.Errorf("net %d: %w", i, err)
		}
		if seen[n.ID] {
			return fmt.Errorf("net %q is listed twice", n.ID)
		}
		seen[n.ID] = true
	}
	return nil
}

func checkNet(n *SourceNet) error {
	switch err := errors.Join(CheckName(n.ID), checkText(n.Region, MaxName), checkSince(n.Since, n.Region, n.Fence)); {
	case err != nil:
		return err
	case len(n.PNML) == 0:
		return fmt.Errorf("net %q has no definition", n.ID)
	case n.Places < 0 || n.Places > MaxRows || n.Transitions < 0 || n.Transitions > MaxRows:
		return fmt.Errorf("net %q: %w: %d places and %d transitions, of at most %d", n.ID, TooMany, n.Places, n.Transitions, MaxRows)
	}
	return nil
}

// Epoch returns the start of this process as snapshots report it. An engine
// that stores it passes it to the next process as LastEpoch.
func (p *Publisher) Epoch() int64 { return p.epoch }

// Stats returns the counts so far.
func (p *Publisher) Stats() PublisherStats {
	return PublisherStats{Messages: p.messages.Load(), Bytes: p.bytes.Load(), Errors: p.failures.Load(), Missed: p.missed.Load(), Refused: p.notices.refused.Load()}
}

// Close publishes a last full snapshot of every net as its bye message, stops
// answering and waits until the server has received all of it or ctx ends. The
// error reports what could not be sent.
func (p *Publisher) Close(ctx context.Context) error { return p.end(ctx, true) }

// Leave is Close without bye messages, for a source whose regions are handed
// over: their tokens stay where they were until the next owner publishes. If
// both are called, the first call counts.
func (p *Publisher) Leave(ctx context.Context) error { return p.end(ctx, false) }

func (p *Publisher) end(ctx context.Context, bye bool) error {
	p.once.Do(func() {
		p.bye = bye
		close(p.stop)
		p.timer.Wake()
	})
	select {
	case <-p.done:
	case <-ctx.Done():
		return fmt.Errorf("close source %q: last snapshots: %w", p.cfg.Source, ctx.Err())
	}
	p.release.Do(func() {
		if err := p.service.close(ctx); err != nil {
			p.left = fmt.Errorf("close source %q: %w", p.cfg.Source, err)
		}
	})
	return p.left
}

// ask requests a full snapshot of a net soon.
func (p *Publisher) ask(net int) {
	p.wants[net].Store(true)
	p.asked.Store(true)
	p.timer.Wake()
}

// run publishes until Close or Leave. It waits for its timer alone, which whatever
// else it has to look at wakes.
func (p *Publisher) run() {
	defer close(p.done)
	defer p.timer.Stop()
	answer := time.Time{} // answers to requests, if any
	p.rhythm.due = time.Now()
	for !p.stopped() {
		now := time.Now()
		p.follow(now)
		if p.asked.Swap(false) && answer.IsZero() {
			answer = now.Add(rand.N(min(p.cfg.Interval/2, maxJitter)))
		}
		over := !answer.IsZero() && !now.Before(answer)
		if !now.Before(p.rhythm.due) {
			p.publishAll(false)
			p.ping(now)
			p.rhythm.passed(now)
		} else if over {
			p.publishAsked()
		}
		if over {
			answer = time.Time{}
		}
		next := p.rhythm.due
		if !answer.IsZero() && answer.Before(next) {
			next = answer
		}
		p.timer.Set(time.Until(next))
		p.timer.Wait()
	}
	if !p.bye {
		p.lose() // the last ones are full
	}
	p.publishAll(p.bye)
}

// stopped reports whether Close or Leave was called.
func (p *Publisher) stopped() bool {
	select {
	case <-p.stop:
		return true
	default:
		return false
	}
}

// follow publishes as often as collectors wish, and states the interval.
func (p *Publisher) follow(now time.Time) {
	if !p.rhythm.follow(p.paces.longest(now), now) {
		return
	}
	p.log.Info("interval of snapshots", "source", p.cfg.Source, "interval", p.rhythm.interval, "configured", p.cfg.Interval, "because", "a collector has too much work, or has no longer")
	for _, f := range p.feeds {
		f.head.Interval = p.rhythm.interval
	}
}

// ping sends a ping with the snapshots, so that a Link does not wake for one of its own.
func (p *Publisher) ping(now time.Time) {
	if now.Sub(p.pinged) >= pingEvery {
		p.wire.ping()
		p.pinged = now
	}
}

// publishAsked publishes the nets whose full snapshot was requested.
func (p *Publisher) publishAsked() {
	for i := range p.feeds {
		if p.wants[i].Load() {
			p.publish(i, false)
		}
	}
}

func (p *Publisher) publishAll(bye bool) {
	for i := range p.feeds {
		p.publish(i, bye)
	}
}

// publish publishes one net, or counts a failure.
func (p *Publisher) publish(net int, bye bool) {
	up, reconnects := p.wire.state()
	if reconnects != p.reconnects {
		p.reconnects = reconnects
		p.lose()
	}
	if !up {
		// The connection would queue the snapshot, and newer rows replace it.
		p.lose()
		p.missed.Add(1)
		return
	}
	err := p.send(net, bye)
	if err != nil {
		p.failures.Add(1)
		if !p.failing[net] {
			p.log.Error("publish snapshot", "source", p.cfg.Source, "err", err)
		}
	}
	p.failing[net] = err != nil
}

// lose makes the next snapshot of every net a full one.
func (p *Publisher) lose() {
	for _, f := range p.feeds {
		f.inStep = false
	}
}

func (p *Publisher) send(net int, bye bool) error {
	p.takeOver(net)
	f, now := p.feeds[net], time.Now().UnixMicro()
	full := p.wants[net].Swap(false)
	if err := p.cfg.Rows(net, now, f.blank()); err != nil {
		f.inStep = false
		return fmt.Errorf("rows of net %q: %w", f.head.Net, err)
	}
	f.head.State = nil
	if p.cfg.Region != nil && f.head.Region != "" {
		f.head.State = p.cfg.Region(net)
	}
	if p.cfg.Refused != nil {
		f.head.Refused = p.cfg.Refused(net)
	}
	if p.cfg.Remnants != nil {
		f.head.Remnants = p.cfg.Remnants(net, p.wire.limit()/4) // with the blocks they may take half of a message
	}
	subject := p.cfg.Subjects.Snapshot(f.head.Net, f.head.Source)
	if bye {
		subject = p.cfg.Subjects.Bye(f.head.Net, f.head.Source)
	}
	return f.send(now, full, bye, p.wire.limit(), func(payload []byte) error {
		if err := p.wire.publish(subject, payload); err != nil {
			return err
		}
		p.messages.Add(1)
		p.bytes.Add(uint64(len(payload)))
		return nil
	})
}
