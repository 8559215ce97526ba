// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// Config configures Run.
type Config struct {
	Database *Database // not closed
	Mapping  *Mapping
	Zone     *time.Location // of times without a zone; nil is UTC
	Nets     []string       // keys of definitions; empty for all
	Show     Show
	State    string        // path of the state file; "" for none
	Interval time.Duration // between two polls, and two snapshots
	Timeout  time.Duration // of one poll
	Overlap  time.Duration // how late a transaction may commit

	Conn     *nats.Conn // not closed
	Subjects telemetry.Subjects
	Source   string

	// Status, if not nil, is called once, with a function that returns the
	// state at any time.
	Status func(func() Status)
	Log    *slog.Logger
}

// Show says which data of persons is published.
type Show struct {
	Label  bool // business keys
	Detail bool // assignees and messages of errors
}

// closing bounds the time for the last snapshots.
const closing = 5 * time.Second

// Back-off after a failed poll.
const lastWait = time.Minute

// source polls and publishes.
type source struct {
	cfg Config

	mu      sync.Mutex            // guards what follows; the publishers' goroutines read it
	nets    map[string]*netLedger // by key; nil for one that is not wanted
	ahead   int64                 // of the database's clock
	good    time.Time
	polls   uint64
	state   state
	unsaved bool // the last poll is not in the state file
	broken  bool // the state file cannot be written, and an error was logged
	status  Status

	// Of the goroutine that polls.
	definitions  map[string]*definition // by id
	listedAt     int64                  // when these were read
	first        map[string]int64       // tokens without a time, by id: when they were first seen
	future       bool                   // times in the future were logged
	presenceAt   int64
	presenceTook time.Duration
	publishers   map[string]*publishing // by net
	refused      map[string]bool        // nets whose refusal was logged
}

// publishing is the publisher of a net.
type publishing struct {
	*telemetry.Publisher
	places, transitions int
}

// errSilent is why a source publishes nothing.
var errSilent = errors.New("no poll that could be used")

// Run polls and publishes until the context ends. The error is about the
// configuration (ErrConfig), what the database lacks at the start (ErrProbe), the
// state file, or the last snapshots. While the database or NATS is unreachable,
// Run retries.
func Run(ctx context.Context, cfg Config) error {
	s, err := newSource(cfg)
	if err != nil {
		return err
	}
	if cfg.Status != nil {
		cfg.Status(s.Status)
	}
	err = s.run(ctx)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer cancel()
	for _, p := range s.publishers {
		err = errors.Join(err, p.Close(last))
	}
	return err
}

func newSource(cfg Config) (*source, error) {
	switch {
	case cfg.Interval < 100*time.Millisecond || cfg.Interval > telemetry.MaxInterval:
		return nil, fmt.Errorf("%w: interval of %v; expected 100ms to %v", ErrConfig, cfg.Interval, telemetry.MaxInterval)
	case cfg.Timeout <= 0:
		return nil, fmt.Errorf("%w: timeout of %v; expected more", ErrConfig, cfg.Timeout)
	case cfg.Overlap < 0 || cfg.Overlap > time.Hour:
		return nil, fmt.Errorf("%w: overlap of %v; expected 0 to 1h", ErrConfig, cfg.Overlap)
	}
	if err := telemetry.CheckName(cfg.Source); err != nil {
		return nil, fmt.Errorf("%w: source: %w", ErrConfig, err)
	}
	s := &source{cfg: cfg, nets: map[string]*netLedger{}, definitions: map[string]*definition{}, publishers: map[string]*publishing{}, refused: map[string]bool{},
		status: Status{Dropped: map[string]uint64{}, Rows: map[string]uint64{}, Seconds: map[string]float64{}}}
	var err error
	s.state, err = readState(cfg.State, cfg.Mapping.Name)
	return s, err
}

// run polls every interval; after an error later and later.
func (s *source) run(ctx context.Context) error {
	wait := time.Duration(0)
	for probed := false; ; {
		err := s.once(ctx, &probed)
		if errors.Is(err, ErrProbe) && ctx.Err() == nil && s.polls == 0 {
			return err
		}
		if ctx.Err() == nil {
			wait = s.next(wait, err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// next returns how long to wait after a poll.
func (s *source) next(last time.Duration, err error) time.Duration {
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.status.Connected {
			s.cfg.Log.Info("reading the database", "mapping", s.cfg.Mapping.Name, "nets", len(s.nets))
		}
		s.status.Connected = true
		return s.cfg.Interval
	}
	wait := min(max(2*last, s.cfg.Interval), max(lastWait, s.cfg.Interval))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Failures++
	if s.status.Connected || s.status.Failures == 1 {
		s.cfg.Log.Warn("reading the database failed, retrying", "err", err, "wait", wait)
	}
	s.status.Connected = false
	return wait/2 + rand.N(wait/2+1)
}

// once polls once and publishes the nets that are new or have grown.
func (s *source) once(ctx context.Context, probed *bool) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	if !*probed {
		version, err := Probe(ctx, s.cfg.Database, s.cfg.Mapping)
		if err != nil {
			return err
		}
		*probed = true
		s.cfg.Log.Info("the database fits the mapping", "mapping", s.cfg.Mapping.Name, "version", version)
	}
	if err := s.poll(ctx); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(s.nets)) {
		if err := s.define(id); err != nil && !s.refused[id] {
			s.refused[id] = true
			s.drop("net")
			s.cfg.Log.Error("a net cannot be published", "net", id, "err", err)
		}
	}
	return nil
}

// define starts a publisher for a new net, and redefines one that has grown.
func (s *source) define(id string) error {
	s.mu.Lock()
	n := s.nets[id]
	if n == nil {
		s.mu.Unlock()
		return nil
	}
	places, transitions := len(n.net.Places), len(n.net.Transitions)
	var text bytes.Buffer
	var err error
	p := s.publishers[id]
	changed := p == nil || p.places != places || p.transitions != transitions
	if changed && places > 0 {
		err = pnml.Write(&text, n.net)
	}
	s.mu.Unlock()
	switch {
	case err != nil || !changed || places == 0:
		return err
	case p != nil:
		if err := p.Redefine(0, places, transitions, text.Bytes()); err != nil {
			return err
		}
		p.places, p.transitions = places, transitions
		return nil
	}
	started, err := telemetry.Start(telemetry.Config{Conn: s.cfg.Conn, Subjects: s.cfg.Subjects, Source: s.cfg.Source, Interval: s.cfg.Interval,
		LastEpoch: s.state.Epoch, Log: s.cfg.Log,
		Nets:     []telemetry.SourceNet{{ID: id, PNML: text.Bytes(), Places: places, Transitions: transitions}},
		Rows:     func(_ int, _ int64, into *stats.Rows) error { return s.rows(n, into) },
		Oldest:   func(_, place, limit int) ([]stats.Token, error) { return s.oldest(n, place, limit), nil },
		Instance: func(_ int, name string) (*telemetry.Instance, error) { return s.instance(n, name) }})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.publishers[id] = &publishing{started, places, transitions}
	s.state.Epoch = max(s.state.Epoch, started.Epoch())
	s.cfg.Log.Info("net found", "net", id, "places", places, "transitions", transitions)
	return nil
}

// rows copies the rows of the last poll, unless it is too old, and saves the state
// that goes with them.
func (s *source) rows(n *netLedger, into *stats.Rows) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if since := time.Since(s.good); since > 2*s.cfg.Interval+s.cfg.Timeout {
		return fmt.Errorf("%w for %v", errSilent, since.Round(time.Millisecond))
	}
	n.copyTo(into)
	if s.unsaved && s.cfg.State != "" {
		s.unsaved = false
		err := s.state.save(s.cfg.State)
		if err != nil {
			s.status.StateErrors++
			if !s.broken {
				s.cfg.Log.Error("the state cannot be written", "err", err)
			}
		}
		s.broken = err != nil
	}
	return nil
}

func (s *source) oldest(n *netLedger, place, limit int) []stats.Token {
	s.mu.Lock()
	defer s.mu.Unlock()
	return n.oldest(place, limit, s.ahead)
}

// instance returns the content of an instance, with texts of what it waits for.
func (s *source) instance(n *netLedger, name string) (*telemetry.Instance, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &telemetry.Instance{Instance: name, At: time.Now().UnixMicro()}
	for i := range n.tokens {
		t := &n.tokens[i]
		if t.instance != name && t.name() != name {
			continue
		}
		one := telemetry.InstanceToken{Place: n.net.Places[t.place].ID, Tokens: 1, Injected: t.since - s.ahead}
		for _, w := range t.waits {
			x := telemetry.InstanceWait{Transition: n.net.Transitions[w.Transition].ID, Reason: w.Reason.String(), Count: w.Count,
				Until: shifted(w.Until, s.ahead), Text: w.text}
			if w.Place != stats.NoPlace {
				x.Place = n.net.Places[w.Place].ID
			}
			one.Waits = append(one.Waits, x)
		}
		out.Tokens = append(out.Tokens, one)
	}
	if out.Tokens == nil {
		return nil, fmt.Errorf("instance %q: %w", name, telemetry.ErrNoInstance)
	}
	return out, nil
}
