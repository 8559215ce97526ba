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

// Config configures Run.
type Config struct {
	Etcd   Etcd
	Prefix string     // of DiPeN's keys; ends in a slash
	Net    *petri.Net // from a file, or with only an ID: the name of the net
	State  string     // path of the state file; "" for none
	Limits replica.Limits

	Conn     *nats.Conn // not closed
	Subjects telemetry.Subjects
	Source   string
	Interval time.Duration // 0 is telemetry.DefaultInterval

	// Status, if not nil, is called once, with a function that returns the
	// state at any time.
	Status func(func() Status)
	Log    *slog.Logger
}

// ErrConfig is wrapped by errors about a Config.
var ErrConfig = errors.New("configuration")

// Backoff between two sessions.
const (
	firstWait = 250 * time.Millisecond
	lastWait  = 15 * time.Second
)

// slack is the number of unneeded marks and lines of the state before they are removed.
const slack = 20_000

// closeTimeout bounds the time for the last snapshots.
const closeTimeout = 5 * time.Second

// source reads and publishes one net.
type source struct {
	cfg  Config
	gate *gateway

	mu        sync.Mutex
	rep       *replica.Replica
	status    Status
	isLoaded  bool
	cluster   string // found or restored; "" before
	head      int64  // newest revision of etcd
	kept      kept
	journal   *journal
	published int64 // revision of the published counts
	epoch     int64
	room      int  // number of marks at which unneeded ones are removed
	broken    bool // the journal cannot be written, and an error was logged

	publisher *telemetry.Publisher // written once, with mu, by the goroutine that reads
}

// Run reads and publishes until the context ends. The error is about the
// configuration, the state file, or the last snapshots. While etcd or NATS is
// unreachable, Run retries.
func Run(ctx context.Context, cfg Config) error {
	s, err := newSource(cfg)
	if err != nil {
		return err
	}
	if cfg.Status != nil {
		cfg.Status(s.Status)
	}
	err = s.run(ctx)
	s.gate.client.CloseIdleConnections()
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
			return nil, fmt.Errorf("the state %s has the prefix %q; expected %q", cfg.State, s.kept.prefix, cfg.Prefix)
		}
		if s.kept.bad > 0 {
			cfg.Log.Warn("invalid lines in the state", "file", cfg.State, "lines", s.kept.bad)
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

// run runs one session after another.
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
		s.cfg.Log.Warn("reading etcd failed, retrying", "endpoint", s.gate.endpoint(), "err", err, "wait", wait)
		s.gate.next()
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait/2 + rand.N(wait/2)):
		}
		wait = min(2*wait, lastWait)
	}
}

// fatalError is an error that ends Run.
type fatalError struct{ error }

func (s *source) now() int64 { return time.Now().UnixMicro() }

// edit runs change on the replica.
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

// revisions returns up to which one all changes are applied, and the newest one that look has seen.
func (s *source) revisions() (applied, newest int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rep.Revision(), s.head
}

// connected sets whether etcd is watched, and returns whether it was.
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

// noteLook records the newest revision. It starts from scratch if the cluster
// is another one, or if the revision is lower than one seen before the request.
func (s *source) noteLook(revision int64, cluster string, asked, least int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	other := s.cluster != "" && s.cluster != cluster
	if other || revision < least {
		s.cfg.Log.Warn("etcd is another cluster, or was restored to an earlier revision; starting from scratch", "cluster", cluster, "revision", revision, "expected", least)
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
		s.keep(s.journal.append(markLine(m)))
	}
}

// keep counts an error of the journal and logs the first one.
func (s *source) keep(err error) {
	if err != nil {
		s.status.StateErrors++
		if !s.broken {
			s.cfg.Log.Error("the state cannot be written", "err", err)
		}
	}
	s.broken = err != nil
}

// commit ends the loading of all keys and publishes them.
func (s *source) commit() error {
	s.mu.Lock()
	gaps := s.rep.Gaps().Count
	if !s.rep.Commit(s.now()) {
		s.mu.Unlock()
		return errOther
	}
	s.isLoaded = true
	if g := s.rep.Gaps(); g.Count > gaps {
		s.cfg.Log.Warn("etcd compacted changes before they were read; counts start here", "revisions_missing", g.Revisions, "revision", s.rep.Revision())
	}
	s.mu.Unlock()
	return s.define()
}

// apply applies the changes of one revision.
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

// reached records that all changes up to a revision are applied.
func (s *source) reached(revision int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isLoaded {
		s.rep.Reached(revision)
	}
}

// define publishes the present definition, and starts the publisher the first time.
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
			s.cfg.Log.Error("places or transitions found in etcd cannot be published", "err", err)
		}
		return nil
	}
	net := telemetry.SourceNet{ID: n.ID, PNML: text.Bytes(), Places: len(n.Places), Transitions: len(n.Transitions)}
	p, err := telemetry.Start(telemetry.Config{Conn: s.cfg.Conn, Subjects: s.cfg.Subjects, Source: s.cfg.Source,
		Nets: []telemetry.SourceNet{net}, Interval: s.cfg.Interval, LastEpoch: s.epoch, Log: s.cfg.Log,
		Tool: "DiPeN, whose state is in etcd",
		Rows: s.rows, Oldest: s.oldestOf})
	if err != nil {
		return &fatalError{err}
	}
	s.mu.Lock()
	s.publisher, s.epoch = p, p.Epoch()
	s.mu.Unlock()
	return nil
}

// rows fills in the rows, and stores their revision.
func (s *source) rows(_ int, now int64, into *stats.Rows) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rep.Rows(now, into)
	if r := s.rep.Revision(); r != s.published {
		s.published = r
		s.keep(s.journal.append(publishedLine(r, s.epoch)))
	}
	return nil
}

func (s *source) oldestOf(_, place int, q *stats.Query) (stats.Found, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rep.Oldest(place, q), nil
}
