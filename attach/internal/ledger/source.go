// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// Polling is what every adapter is configured with.
type Polling struct {
	Conn     *nats.Conn // not closed
	Subjects telemetry.Subjects
	Source   string
	State    string        // path of the state file; "" for none
	Interval time.Duration // between two polls, and two snapshots
	Timeout  time.Duration // of one poll
	Log      *slog.Logger
}

// Config configures a Source.
type Config struct {
	Polling

	// Poll reads the engine once; its context ends after Timeout. An error of
	// Permanent ends Run, any other one is retried.
	Poll func(ctx context.Context) error

	Program string // what the state file says it is of, such as "pnagent attach sql 1 camunda7"
	Tool    string // see telemetry.Config

	// Command returns the command line of Tool for a token that waits, or "": see
	// telemetry.InstanceWait. Goroutines of the connection call it. Nil if there is none.
	Command func(net *petri.Net, t *Token, w stats.Wait) string

	Acting

	Keep any // a pointer to what a restart needs, as JSON; nil for nothing
}

// ErrConfig is wrapped by errors about a Config.
var ErrConfig = errors.New("configuration")

// Permanent returns an error of Config.Poll that ends Run, which returns err.
func Permanent(err error) error { return permanent{err} }

type permanent struct{ error }

const (
	closing  = 5 * time.Second // bounds the time for the last snapshots
	lastWait = time.Minute     // between two polls after errors, or an interval
)

// Source polls an engine and publishes its nets.
type Source struct {
	cfg Config

	mu     sync.Mutex // guards what follows; the publishers' goroutines read it
	good   time.Time  // the last poll that succeeded
	shown  map[*Ledger]*published
	state  []byte // as of the last poll, as JSON; nil if it is written
	epoch  int64  // of the last publisher
	file   stateWriter
	broken bool // the state file cannot be written, and an error was logged
	status Status

	// Of the goroutine that polls.
	ahead      int64 // of the engine's clock
	settled    bool  // ahead is known
	ledgers    []*Ledger
	publishers map[*Ledger]*publishing
	refused    map[*Ledger]bool // a refusal was logged
	requests   []*nats.Subscription

	audit *telemetry.Auditor // of requests
}

// publishing is the publisher of a net.
type publishing struct {
	*telemetry.Publisher
	places, transitions, arcs int          // of the definition that it has
	model                     *petri.Model // of that definition
}

var errSilent = errors.New("no poll that could be used")

// NewSource checks the configuration and reads the state file. An error about the
// configuration wraps ErrConfig.
func NewSource(cfg Config) (*Source, error) {
	switch {
	case cfg.Interval < 100*time.Millisecond || cfg.Interval > telemetry.MaxInterval:
		return nil, fmt.Errorf("%w: interval of %v; expected 100ms to %v", ErrConfig, cfg.Interval, telemetry.MaxInterval)
	case cfg.Timeout <= 0:
		return nil, fmt.Errorf("%w: timeout of %v; expected more", ErrConfig, cfg.Timeout)
	}
	if err := telemetry.CheckName(cfg.Source); err != nil {
		return nil, fmt.Errorf("%w: source: %w", ErrConfig, err)
	}
	epoch, err := readState(cfg.State, cfg.Program, cfg.Keep)
	return &Source{cfg: cfg, audit: &telemetry.Auditor{Conn: cfg.Conn, Subjects: cfg.Subjects, Write: cfg.Audit, Log: cfg.Log}, epoch: epoch, file: stateWriter{path: cfg.State}, shown: map[*Ledger]*published{}, publishers: map[*Ledger]*publishing{}, refused: map[*Ledger]bool{},
		status: Status{Dropped: map[string]uint64{}, Rows: map[string]uint64{}, Seconds: map[string]float64{}}}, err
}

// Add adds the ledger of a net, whose id no other one has. It is published from the
// end of the first poll on after which the net has a place.
func (s *Source) Add(l *Ledger) {
	s.ledgers = append(s.ledgers, l)
	slices.SortFunc(s.ledgers, func(a, b *Ledger) int { return cmp.Compare(a.net.Def.ID, b.net.Def.ID) })
}

// SetClock sets by how many microseconds the engine's clock is ahead of the host's,
// and by how much that may be wrong. A value that differs from the last one by less
// is ignored, so that ages do not jitter.
func (s *Source) SetClock(ahead, within int64) {
	if differ := ahead - s.ahead; !s.settled || max(differ, -differ) > max(2*within, 50_000) {
		s.ahead, s.settled = ahead, true
	}
}

// Now returns the time by the engine's clock, as SetClock set it.
func (s *Source) Now() int64 { return time.Now().UnixMicro() + s.ahead }

// Run polls and publishes until the context ends, and then publishes the last
// snapshots. The error is that of Permanent, or is about the last snapshots.
func (s *Source) Run(ctx context.Context) error {
	err := s.run(ctx)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer cancel()
	for _, sub := range s.requests {
		err = errors.Join(err, sub.Unsubscribe())
	}
	for _, l := range s.ledgers {
		if p := s.publishers[l]; p != nil {
			err = errors.Join(err, p.Close(last))
		}
	}
	return err
}

// run polls every interval; after an error later and later.
func (s *Source) run(ctx context.Context) error {
	wait := time.Duration(0)
	for {
		err := s.once(ctx)
		if end := (permanent{}); errors.As(err, &end) && ctx.Err() == nil {
			return end.error
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

// once polls once, and publishes what came of it.
func (s *Source) once(ctx context.Context) error {
	polling, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	if err := s.cfg.Poll(polling); err != nil {
		return err
	}
	for _, l := range s.ledgers {
		s.refuse(l, s.redefine(l))
	}
	if err := s.commit(); err != nil {
		return err
	}
	for _, l := range s.ledgers {
		s.refuse(l, s.define(l))
	}
	return nil
}

// refuse notes a net that cannot be published, once.
func (s *Source) refuse(l *Ledger, err error) {
	if err == nil || s.refused[l] {
		return
	}
	s.refused[l] = true
	s.Drop("net")
	s.cfg.Log.Error("a net cannot be published", "net", l.net.Def.ID, "err", err)
}

// next returns how long to wait after a poll.
func (s *Source) next(last time.Duration, err error) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		if !s.status.Connected {
			s.cfg.Log.Info("reading the engine", "nets", len(s.ledgers))
		}
		s.status.Connected = true
		return s.cfg.Interval
	}
	wait := min(max(2*last, s.cfg.Interval), max(lastWait, s.cfg.Interval))
	s.status.Failures++
	if s.status.Connected || s.status.Failures == 1 {
		s.cfg.Log.Warn("reading the engine failed, retrying", "err", err, "wait", wait)
	}
	s.status.Connected = false
	return wait/2 + rand.N(wait/2+1)
}

// commit makes what the publishers show from now on.
func (s *Source) commit() error {
	now := time.Now()
	shown := map[*Ledger]*published{}
	for _, l := range s.ledgers {
		shown[l] = l.publish(now.UnixMicro(), s.ahead)
	}
	var state []byte
	var err error
	if s.cfg.State != "" {
		state, err = json.Marshal(s.cfg.Keep)
		if err != nil {
			return fmt.Errorf("the state: %w", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown, s.state, s.good = shown, state, now
	s.status.Polls++
	s.status.At, s.status.Ahead = now.UnixMicro(), s.ahead
	return nil
}

// definition returns a net as PNML.
func (l *Ledger) definition() ([]byte, error) {
	var text bytes.Buffer
	err := pnml.Write(&text, l.net.Def)
	return text.Bytes(), err
}

// redefine gives a publisher the definition of a net that has grown or has another model.
func (s *Source) redefine(l *Ledger) error {
	p, places, transitions, arcs := s.publishers[l], len(l.net.Def.Places), len(l.net.Def.Transitions), len(l.net.Def.Arcs)
	if p == nil || p.places == places && p.transitions == transitions && p.arcs == arcs && p.model == l.net.Def.Model {
		return nil
	}
	text, err := l.definition()
	if err != nil {
		return err
	}
	if err := p.Redefine(0, places, transitions, text); err != nil {
		return err
	}
	p.places, p.transitions, p.arcs, p.model = places, transitions, arcs, l.net.Def.Model
	return nil
}

// define starts the publisher of a net that has none yet.
func (s *Source) define(l *Ledger) error {
	net, places, transitions := l.net.Def.ID, len(l.net.Def.Places), len(l.net.Def.Transitions)
	if s.publishers[l] != nil || places == 0 {
		return nil
	}
	text, err := l.definition()
	if err != nil {
		return err
	}
	if err := s.listen(l); err != nil {
		return err
	}
	acts, verbs := "", []string(nil)
	if s.cfg.Retry != nil {
		acts, verbs = s.cfg.Source, []string{"retry"}
	}
	started, err := telemetry.Start(telemetry.Config{Conn: s.cfg.Conn, Subjects: s.cfg.Subjects, Source: s.cfg.Source, Interval: s.cfg.Interval,
		LastEpoch: s.epoch, Log: s.cfg.Log, Acts: acts, Verbs: verbs, Tool: s.cfg.Tool,
		Nets:     []telemetry.SourceNet{{ID: net, PNML: text, Places: places, Transitions: transitions}},
		Rows:     func(_ int, _ int64, into *stats.Rows) error { return s.rows(l, into) },
		Oldest:   func(_, place int, q *stats.Query) (stats.Found, error) { return s.show(l).oldest(place, q), nil },
		Instance: func(_ int, name string) (*telemetry.Instance, error) { return s.instance(l, name) }})
	if err != nil {
		return err
	}
	s.publishers[l] = &publishing{started, places, transitions, len(l.net.Def.Arcs), l.net.Def.Model}
	s.mu.Lock()
	s.epoch = max(s.epoch, started.Epoch())
	s.mu.Unlock()
	s.cfg.Log.Info("net found", "net", net, "places", places, "transitions", transitions)
	return nil
}

// show returns what a publisher shows of a net.
func (s *Source) show(l *Ledger) *published {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown[l]
}

// rows copies the rows of the last poll, unless it is too old, and writes the state
// that goes with them.
func (s *Source) rows(l *Ledger, into *stats.Rows) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if since := time.Since(s.good); since > 2*s.cfg.Interval+s.cfg.Timeout {
		return fmt.Errorf("%w for %v", errSilent, since.Round(time.Millisecond))
	}
	s.shown[l].copyTo(into)
	if s.state == nil {
		return nil
	}
	err := s.file.write(&stateFile{Program: s.cfg.Program, Epoch: s.epoch, State: s.state})
	s.state = nil
	if err != nil {
		s.status.StateErrors++
		if !s.broken {
			s.cfg.Log.Error("the state cannot be written", "err", err)
		}
	}
	s.broken = err != nil
	return nil
}

// instance answers a request for one instance.
func (s *Source) instance(l *Ledger, name string) (*telemetry.Instance, error) {
	if found := s.show(l).instance(name, s.cfg.Command, time.Now().UnixMicro()); found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("instance %q: %w", name, telemetry.ErrNoInstance)
}

// Drop counts what was not used, by reason. Any goroutine may call it.
func (s *Source) Drop(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Dropped[reason]++
}

// Counted counts a row of the history, by the query that returned it.
func (s *Source) Counted(query string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Rows[query]++
}

// Took notes how long a query took that began at a time.
func (s *Source) Took(query string, begin time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Seconds[query] = time.Since(begin).Seconds()
}

// Status returns the present state. Any goroutine may call it.
func (s *Source) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.status
	out.Dropped, out.Rows, out.Seconds = maps.Clone(out.Dropped), maps.Clone(out.Rows), maps.Clone(out.Seconds)
	return out
}
