// SPDX-License-Identifier: Apache-2.0

package dipen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/attach/dipen/replica"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// Config is what is read, and where it is published.
type Config struct {
	Etcd   Etcd
	Prefix string     // of DiPeN's keys; ends in a slash
	Net    *petri.Net // of a file; or with an ID alone, which is the net's name
	State  string     // path of the file that is kept over restarts; "" for none
	Limits replica.Limits

	Conn     *nats.Conn // not closed
	Subjects telemetry.Subjects
	Source   string
	Interval time.Duration // 0 is telemetry.DefaultInterval

	// Status is called once, with a function that tells the state at any time. It
	// may be nil.
	Status func(func() Status)
	Log    *slog.Logger
}

// ErrConfig is in the chain of errors about a Config.
var ErrConfig = errors.New("configuration")

// Backoff between two sessions.
const (
	firstWait = 250 * time.Millisecond
	lastWait  = 15 * time.Second
)

// slack is how many marks, and lines of the state, are kept beyond those needed
// before they are sorted out.
const slack = 20_000

// closeTimeout is how long the last words to NATS may take.
const closeTimeout = 5 * time.Second

// source is one net that is read and published.
type source struct {
	cfg  Config
	gate *gateway

	mu        sync.Mutex
	rep       *replica.Replica
	status    Status
	isLoaded  bool
	cluster   string // as it was found or kept; "" before
	head      int64  // newest revision that was seen
	kept      kept
	journal   *journal
	published int64 // revision that the published counts hold
	epoch     int64
	room      int  // marks to have before those are dropped that nothing needs
	broken    bool // the journal cannot be written; told already

	publisher *telemetry.Publisher // written once, with mu, by the goroutine that reads
}

// Run reads and publishes until the context ends. The error is about the
// configuration, the state file, or what was not published at the end; that etcd
// or NATS is away is none.
func Run(ctx context.Context, cfg Config) error {
	s, err := newSource(cfg)
	if err != nil {
		return err
	}
	if cfg.Status != nil {
		cfg.Status(s.Status)
	}
	err = s.run(ctx)
	s.gate.close()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if s.publisher != nil {
		err = errors.Join(err, s.publisher.Close(last))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keepMarks(s.rep.Times.End())
	return errors.Join(err, s.journal.close())
}

func newSource(cfg Config) (*source, error) {
	if cfg.Prefix == "" || !strings.HasSuffix(cfg.Prefix, "/") {
		return nil, fmt.Errorf("%w: prefix %q; expected one that ends in a slash", ErrConfig, cfg.Prefix)
	}
	gate, err := newGateway(cfg.Etcd)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	s := &source{cfg: cfg, gate: gate, room: slack}
	if cfg.State != "" {
		s.journal = &journal{path: cfg.State}
		if s.kept, err = readJournal(cfg.State); err != nil {
			return nil, err
		}
		if s.kept.prefix != "" && s.kept.prefix != cfg.Prefix {
			return nil, fmt.Errorf("the state %s is of the prefix %q; expected one of %q", cfg.State, s.kept.prefix, cfg.Prefix)
		}
		if s.kept.bad > 0 {
			cfg.Log.Warn("lines of the state that make no sense", "file", cfg.State, "lines", s.kept.bad)
		}
	}
	s.epoch, s.cluster, s.published = s.kept.epoch, s.kept.cluster, s.kept.published
	s.rep = replica.New(cfg.Net, s.kept.published, cfg.Limits)
	for _, m := range s.kept.marks {
		s.rep.Times.Restore(m)
	}
	s.kept = kept{}
	return s, nil
}

// run runs one session after the other.
func (s *source) run(ctx context.Context) error {
	wait := firstWait
	for {
		err := s.session(ctx)
		if fatal := (*fatalError)(nil); errors.As(err, &fatal) && ctx.Err() == nil {
			return fatal.error
		}
		select {
		case <-ctx.Done():
			return nil
		default:
		}
		if s.connected(false) {
			wait = firstWait
		}
		if errors.Is(err, errAgain) {
			continue
		}
		s.cfg.Log.Warn("reading etcd", "endpoint", s.gate.endpoint(), "err", err, "again_in", wait)
		s.gate.next()
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait/2 + rand.N(wait/2)):
		}
		wait = min(2*wait, lastWait)
	}
}

// fatalError ends Run.
type fatalError struct{ error }

func (s *source) now() int64 { return time.Now().UnixMicro() }

// edit changes the replica.
func (s *source) edit(change func(*replica.Replica)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s.rep)
}

func (s *source) loaded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isLoaded
}

func (s *source) revision() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rep.Revision()
}

func (s *source) newest() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.head
}

// resume returns the revision to begin at: where the process before this one
// stopped; 0 for none.
func (s *source) resume() int64 { return s.revision() }

// connected notes whether etcd is watched, and returns whether it was.
func (s *source) connected(is bool) (was bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was, s.status.Connected = s.status.Connected, is
	if is {
		s.status.Sessions++
		s.cfg.Log.Info("watching etcd", "endpoint", s.gate.endpoint(), "prefix", s.cfg.Prefix, "from", s.rep.Revision()+1)
	}
	return was
}

// newestSeen is the newest revision that was seen, by looking or by watching.
func (s *source) newestSeen() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.head, s.rep.Revision())
}

// noteLook notes what the newest revision is. An etcd that is another one, or that
// was set back to before what had been seen when it was asked, is begun with anew.
func (s *source) noteLook(revision int64, cluster string, asked, least int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	other := s.cluster != "" && s.cluster != cluster
	if other || revision < least {
		s.cfg.Log.Warn("etcd is another one, or was set back: beginning anew", "cluster", cluster, "revision", revision, "expected", least)
		s.rep.Forget()
		s.isLoaded, s.head, s.cluster, s.published = false, 0, cluster, 0
		s.keep(s.rewrite())
		return errOther
	}
	s.cluster, s.head, s.status.Looks = cluster, max(s.head, revision), s.status.Looks+1
	added := s.rep.Times.Look(revision, asked, s.now())
	if s.journal != nil && s.journal.file == nil {
		s.keep(s.rewrite())
	} else {
		s.keepMarks(added)
	}
	if len(s.rep.Times.Marks()) > s.room || s.journal.full(s.room) {
		s.rep.Times.Keep(s.rep.Needed())
		s.room = 2*len(s.rep.Times.Marks()) + slack
		s.keep(s.rewrite())
	}
	return nil
}

func (s *source) rewrite() error {
	return s.journal.rewrite(s.cluster, s.cfg.Prefix, s.rep.Times.Marks(), s.published, s.epoch)
}

func (s *source) keepMarks(marks []replica.Mark) {
	for _, m := range marks {
		s.keep(s.journal.mark(m))
	}
}

// keep says once that the state cannot be kept.
func (s *source) keep(err error) {
	if err != nil {
		s.status.StateErrors++
		if !s.broken {
			s.cfg.Log.Error("the state is not kept", "err", err)
		}
	}
	s.broken = err != nil
}

// commit ends the loading of all keys, and begins to publish.
func (s *source) commit() error {
	s.mu.Lock()
	gaps := s.rep.Gaps().Count
	if !s.rep.Commit(s.now()) {
		s.mu.Unlock()
		return errOther
	}
	s.isLoaded = true
	if g := s.rep.Gaps(); g.Count > gaps {
		s.cfg.Log.Warn("etcd compacted changes that were not read: counts hold from now on", "revisions_missing", g.Revisions, "revision", s.rep.Revision())
	}
	s.mu.Unlock()
	return s.define()
}

// apply takes in the changes of one revision.
func (s *source) apply(revision int64, events []replica.Event) error {
	now := s.now()
	s.mu.Lock()
	if !s.isLoaded {
		s.mu.Unlock()
		return errOther
	}
	s.keepMarks(s.rep.Times.Saw(revision, now))
	places, transitions := s.rep.Size()
	s.rep.Apply(revision, now, events)
	s.status.Changes += uint64(len(events))
	p, t := s.rep.Size()
	s.mu.Unlock()
	if p == places && t == transitions {
		return nil
	}
	return s.define()
}

// reached notes that all changes up to a revision are in.
func (s *source) reached(revision int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isLoaded {
		s.rep.Reached(revision)
	}
}

// define tells the publisher what the net is now, and makes one the first time.
func (s *source) define() error {
	s.mu.Lock()
	n := s.rep.Definition()
	s.mu.Unlock()
	var text bytes.Buffer
	if err := pnml.Write(&text, n); err != nil {
		return &fatalError{err}
	}
	if s.publisher != nil {
		if err := s.publisher.Redefine(0, len(n.Places), len(n.Transitions), text.Bytes()); err != nil {
			s.cfg.Log.Error("what was found in etcd is not all published", "err", err)
		}
		return nil
	}
	net := telemetry.Net{ID: n.ID, PNML: text.Bytes(), Places: len(n.Places), Transitions: len(n.Transitions)}
	p, err := telemetry.Start(telemetry.Config{Conn: s.cfg.Conn, Subjects: s.cfg.Subjects, Source: s.cfg.Source,
		Nets: []telemetry.Net{net}, Interval: s.cfg.Interval, LastEpoch: s.epoch, Log: s.cfg.Log,
		Rows: s.rows, Oldest: s.oldestOf})
	if err != nil {
		return &fatalError{err}
	}
	s.mu.Lock()
	s.publisher, s.epoch = p, p.Epoch()
	s.mu.Unlock()
	return nil
}

// rows gives the publisher what is known, and keeps up to which revision that is.
func (s *source) rows(_ int, now int64, into *stats.Rows) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rep.Rows(now, into)
	if r := s.rep.Revision(); r != s.published {
		s.published = r
		s.keep(s.journal.published(r, s.epoch))
	}
	return nil
}

func (s *source) oldestOf(_, place, limit int) ([]stats.Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rep.Oldest(place, limit), nil
}
