// SPDX-License-Identifier: Apache-2.0

package region

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/telemetry"
)

// Times of the protocol.
const (
	beatEvery = 50 * time.Millisecond
	// lateAfter is when a beat is late. Then checkEvery is how often a standby checks whether
	// it should take over, and an owner whether it is cut off.
	lateAfter  = beatEvery + checkEvery
	checkEvery = 10 * time.Millisecond
	// confirmAfter is how long after a commit an owner asks whether it can be lost.
	confirmAfter = 10 * time.Millisecond
	// releaseWithin is how long an owner that ends may take to release a part.
	releaseWithin = 5 * time.Second
)

// Log is the log of a part.
type Log interface {
	journal.Log
	// Follow calls each with the commits from a number on, as they arrive,
	// until ctx ends or each returns an error. Commits that a snapshot has
	// replaced are journal.ErrCovered.
	Follow(ctx context.Context, from uint64, each func(journal.Commit) error) error
	// First returns the number of the first commit that the log still has; one more
	// than the last if it has none.
	First(ctx context.Context) (uint64, error)
	// Renew removes the commits and makes the log end with its newest snapshot, or
	// makes it a log without commits if there is none. The log must be opened again.
	Renew(ctx context.Context) error
	// Doubt reports that what was read last may be wrong. A log with several
	// replicas is read from another one from then on, also after it is opened
	// again.
	Doubt()
}

// Part is a part that a process may play.
type Part struct {
	engine.Part
	Upstream   []string // names of the parts that put tokens into it, in the order of Cut.Upstream
	Downstream []string // names of the parts into which it puts tokens
}

// Config is the configuration of a Member.
type Config struct {
	Conn     *nats.Conn // not closed by the Member
	Subjects telemetry.Subjects
	// Engine is the configuration of the engines: its one net with all its
	// instances. The Member sets Journal and Part.
	Engine engine.Config
	Parts  []Part // that this process may play
	// Balance moves parts to the members that assign chooses. Without it a part
	// stays with its owner as long as the owner can play it.
	Balance bool
	// Again accepts logs that have lost commits. A part continues with what its
	// log holds, or begins again if it holds nothing. A part reads an upstream
	// log again that has lost commits with tokens: these may then arrive twice.
	// Without it the part is stopped.
	Again    bool
	Standbys int // members that follow a part besides its owner; 0 for all that may play it
	// Open opens the log of the part of a name. If it is missing, Open creates it,
	// or returns journal.ErrMissing without create. keep, which may be nil, returns
	// the first commit that a downstream part has not read.
	Open     func(ctx context.Context, part string, create bool, keep func() uint64) (Log, error)
	Interval time.Duration // between two snapshots; 0 for telemetry's
	Log      *slog.Logger
}

// Member takes part in a net for this process.
type Member struct {
	cfg      Config
	net      string
	roster   *roster
	replicas []*replica
	leaving  chan struct{} // closed when the member ends
	changed  chan struct{} // holds one; a beat is due at once
	received limiter       // beats that were rejected
	sent     limiter       // beats that were not sent
	started  int64         // microseconds since the Unix epoch
}

// New returns a Member; Run starts it.
func New(cfg Config) (*Member, error) {
	if cfg.Conn == nil || cfg.Open == nil || len(cfg.Engine.Nets) != 1 || len(cfg.Parts) == 0 || len(cfg.Parts) > maxParts || cfg.Standbys < 0 {
		return nil, fmt.Errorf("%w: %d nets, %d parts, %d standbys; expected a connection, a log, one net, and 1 to %d parts",
			engine.ErrConfig, len(cfg.Engine.Nets), len(cfg.Parts), cfg.Standbys, maxParts)
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	m := &Member{started: time.Now().UnixMicro(), cfg: cfg, net: cfg.Engine.Nets[0].Tables.Net.ID, roster: newRoster(cfg.Engine.Source, cfg.Again), leaving: make(chan struct{}), changed: make(chan struct{}, 1),
		received: limiter{log: cfg.Log}, sent: limiter{log: cfg.Log}}
	m.roster.changed = m.rouse
	for i := range cfg.Parts {
		m.replicas = append(m.replicas, newReplica(m, &cfg.Parts[i]))
	}
	return m, nil
}

// Run takes part in the net until ctx ends, and then hands over what the
// process owns. It returns nil early when the firings of the engine's Config
// are done. It returns an error if a part cannot be played at all: its log is
// damaged or of another plan. It may be called once.
func (m *Member) Run(ctx context.Context) error {
	sub, err := m.cfg.Conn.Subscribe(Subject(m.cfg.Subjects, m.net), m.receive)
	if err != nil {
		return fmt.Errorf("subscribing to the members of net %q: %w", m.net, err)
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only where the connection is closed
	playing, stop := context.WithCancel(ctx)
	defer stop()
	beating, quiet := context.WithCancel(context.WithoutCancel(ctx))
	var beats, parts sync.WaitGroup
	beats.Go(func() { m.beat(beating) })
	failed := make(chan error, len(m.replicas))
	for _, r := range m.replicas {
		parts.Go(func() {
			if err := r.run(playing); err != nil {
				failed <- err
				stop()
			}
		})
	}
	done := make(chan struct{})
	go func() {
		parts.Wait()
		close(done)
	}()
	select {
	case <-playing.Done():
	case <-done:
	}
	close(m.leaving)
	m.beatNow()
	<-done
	quiet()
	beats.Wait()
	close(failed)
	var errs []error
	for err := range failed {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Reports returns the report of each part that the process has owned, after
// Run.
func (m *Member) Reports() []*engine.Report {
	var out []*engine.Report
	for _, r := range m.replicas {
		if r.report != nil {
			out = append(out, r.report)
		}
	}
	return out
}

// receive handles the beat of a member, this one included.
func (m *Member) receive(msg *nats.Msg) {
	b, err := decodeBeat(msg.Data)
	if err != nil {
		m.received.warn("beat rejected", err, time.Now())
		return
	}
	m.roster.receive(b, time.Now())
}

// rouse makes replicas look at a beat: one of this member at each part, that of an owner at
// its parts.
func (m *Member) rouse(b *Beat) {
	for _, r := range m.replicas {
		if b.Source == m.cfg.Engine.Source || slices.ContainsFunc(b.Parts, func(p BeatPart) bool { return p.Role == Owner && p.Part == r.part.Name }) {
			wake(r.roused)
		}
	}
}

// beat publishes the beats of this member, regularly and when its state
// changes, and updates which parts it follows.
func (m *Member) beat(ctx context.Context) {
	ticker := time.NewTicker(beatEvery)
	defer ticker.Stop()
	for {
		m.arrange(time.Now())
		if err := m.sendBeat(); err != nil {
			m.sent.warn("beat not sent", err, time.Now())
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-m.changed:
		}
	}
}

func (m *Member) sendBeat() error {
	b := Beat{Source: m.cfg.Engine.Source, Started: m.started, Leaves: m.left(), Again: m.cfg.Again, Parts: make([]BeatPart, 0, len(m.replicas)),
		Known: m.roster.unowned(time.Now())}
	for _, r := range m.replicas {
		b.Parts = append(b.Parts, r.status())
	}
	message, err := b.encode()
	if err != nil {
		return err
	}
	return m.cfg.Conn.Publish(Subject(m.cfg.Subjects, m.net), message)
}

// beatNow makes the next beat due at once.
func (m *Member) beatNow() { wake(m.changed) }

// left reports whether the member hands all its parts over.
func (m *Member) left() bool {
	select {
	case <-m.leaving:
		return true
	default:
		return false
	}
}

// arrange sets the order of the members for the part of every replica. A member
// that does not receive its own beats has no new information: it keeps the last
// order.
func (m *Member) arrange(now time.Time) {
	if !m.roster.alive(m.cfg.Engine.Source, now) {
		return
	}
	names := make([]string, len(m.replicas))
	for i, r := range m.replicas {
		names[i] = r.part.Name
	}
	offers := func(part string) []string { return m.roster.offers(part, now) }
	if !m.cfg.Balance {
		for _, r := range m.replicas {
			r.rank(rank(r.part.Name, offers(r.part.Name)))
		}
		return
	}
	all := assign(names, offers)
	for _, r := range m.replicas {
		r.rank(all[r.part.Name])
	}
}
