// SPDX-License-Identifier: Apache-2.0

package region

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/journal"
	"github.com/pnagent/pnagent/telemetry"
)

// Times of the protocol.
const (
	beatEvery = 50 * time.Millisecond
	// lookEvery is how often a stand-by looks whether it should take over, and an
	// owner whether it should go.
	lookEvery = 10 * time.Millisecond
	// releaseWithin is how long an owner that goes may take to say so.
	releaseWithin = 5 * time.Second
)

// Log is the log of a part.
type Log interface {
	journal.Log
	// Follow calls each with the commits from a number on, as they come, until
	// ctx ends or each returns an error. Commits that a snapshot has replaced are
	// journal.ErrCovered.
	Follow(ctx context.Context, from uint64, each func(journal.Commit) error) error
	// Doubt says that what was read last is not what it should be. What has several
	// replicas is read from another one from then on, also when it is opened again.
	Doubt()
}

// Part is a part that a process may play.
type Part struct {
	engine.Part
	Upstream   []string // names of the parts that put tokens into it, in the order of Cut.Upstream
	Downstream []string // names of the parts into which it puts tokens
}

// Config says what a process is a member of.
type Config struct {
	Conn     *nats.Conn // not closed by the Member
	Subjects telemetry.Subjects
	// Engine is what is played: its one net with all its instances. Journal and
	// Part are set by the Member.
	Engine engine.Config
	Parts  []Part // those that this process may play
	// Balance has parts move to where assign puts them. Without it a part stays
	// with its owner as long as that one can play it.
	Balance bool
	// Again has a part read an upstream log again that has lost commits with which
	// tokens came: they may then come twice. Without it the part stands still.
	Again    bool
	Standbys int // members that follow a part besides its owner; 0 for all that may play it
	// Open opens the log of the part of a name. keep, which may be nil, says the
	// first commit that somebody has still to read.
	Open     func(ctx context.Context, part string, keep func() uint64) (Log, error)
	Interval time.Duration // between two snapshots; 0 for telemetry's
	Log      *slog.Logger
}

// Member is a process as a member of a net.
type Member struct {
	cfg      Config
	net      string
	roster   *roster
	replicas []*replica
	leaving  chan struct{} // closed when the member ends
	changed  chan struct{} // holds one; a beat is due at once
	heard    quiet         // beats that were not taken
	spoken   quiet         // and not sent
	started  int64         // microseconds since the Unix epoch
}

// New returns a member that does not run yet.
func New(cfg Config) (*Member, error) {
	if cfg.Conn == nil || cfg.Open == nil || len(cfg.Engine.Nets) != 1 || len(cfg.Parts) == 0 || len(cfg.Parts) > maxParts || cfg.Standbys < 0 {
		return nil, fmt.Errorf("%w: a member of a net needs a connection, a log, one net, and 1 to %d parts; got %d nets, %d parts, %d stand-bys",
			engine.ErrConfig, maxParts, len(cfg.Engine.Nets), len(cfg.Parts), cfg.Standbys)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	m := &Member{started: time.Now().UnixMicro(), cfg: cfg, net: cfg.Engine.Nets[0].Tables.Net.ID, roster: newRoster(cfg.Engine.Source), leaving: make(chan struct{}), changed: make(chan struct{}, 1),
		heard: quiet{log: cfg.Log}, spoken: quiet{log: cfg.Log}}
	for i := range cfg.Parts {
		m.replicas = append(m.replicas, newReplica(m, &cfg.Parts[i]))
	}
	return m, nil
}

// Run takes part until ctx ends, and then gives away what the process owns. It
// returns early, without an error, when the firings of the engine's Config are
// done, and with one if a part can not be played at all: its log is of another
// plan or damaged. It may be called once.
func (m *Member) Run(ctx context.Context) error {
	sub, err := m.cfg.Conn.Subscribe(Subject(m.cfg.Subjects, m.net), m.hear)
	if err != nil {
		return fmt.Errorf("hearing the other members of net %q: %w", m.net, err)
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
	m.tell()
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

// Reports returns what the process has done for each part that it has owned,
// after Run.
func (m *Member) Reports() []*engine.Report {
	var out []*engine.Report
	for _, r := range m.replicas {
		if r.report != nil {
			out = append(out, r.report)
		}
	}
	return out
}

// hear takes the beat of a member, this one's included.
func (m *Member) hear(msg *nats.Msg) {
	b, err := decodeBeat(msg.Data)
	if err != nil {
		m.heard.warn("beat not taken", err, time.Now())
		return
	}
	m.roster.hear(b, time.Now())
}

// beat tells the others what this member does, regularly and when it changes,
// and finds out which parts it is to follow.
func (m *Member) beat(ctx context.Context) {
	ticker := time.NewTicker(beatEvery)
	defer ticker.Stop()
	for {
		m.arrange(time.Now())
		if err := m.say(); err != nil {
			m.spoken.warn("beat not sent", err, time.Now())
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-m.changed:
		}
	}
}

func (m *Member) say() error {
	b := Beat{Source: m.cfg.Engine.Source, Started: m.started, Leaves: m.left(), Parts: make([]BeatPart, 0, len(m.replicas))}
	for _, r := range m.replicas {
		b.Parts = append(b.Parts, r.said())
	}
	message, err := b.encode()
	if err != nil {
		return err
	}
	return m.cfg.Conn.Publish(Subject(m.cfg.Subjects, m.net), message)
}

// tell has the next beat be at once.
func (m *Member) tell() {
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

// left reports whether the member gives everything away.
func (m *Member) left() bool {
	select {
	case <-m.leaving:
		return true
	default:
		return false
	}
}

// arrange gives every replica the order of the members for its part. Who does not
// even hear itself knows nothing new: then it stays with what it follows.
func (m *Member) arrange(now time.Time) {
	if !m.roster.hears(m.cfg.Engine.Source, now) {
		return
	}
	names := make([]string, len(m.replicas))
	for i, r := range m.replicas {
		names[i] = r.part.Name
	}
	offers := func(part string) []string { return m.roster.offers(part, now) }
	if !m.cfg.Balance {
		for _, r := range m.replicas {
			r.order.Store(new(rank(r.part.Name, offers(r.part.Name))))
		}
		return
	}
	all := assign(names, offers)
	for _, r := range m.replicas {
		r.order.Store(new(all[r.part.Name]))
	}
}
