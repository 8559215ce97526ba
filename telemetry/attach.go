// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

// Attachment says which net an engine runs, and where to tell of it. Only File
// (or PNML) and URL (or Conn) are needed.
type Attachment struct {
	URL  string     // NATS servers, comma-separated; nobody needs to be there yet
	Conn *nats.Conn // a connection of the engine's own instead, which stays open

	File string // the net's PNML
	PNML []byte // its bytes instead
	Net  string // which net of it; "" where there is only one

	// Source names this process in the subject space: it is unique, and the same
	// after a restart. "" is the program's name, an @ and the host's.
	Source   string
	Subjects Subjects
	Interval time.Duration // 0 is DefaultInterval

	// Fill adds to the rows what a Recorder does not know (instances, blocks,
	// running, …) and its columns to Columns. Oldest and Instance answer who has
	// a place's oldest tokens, and what is in an instance; with Oldest, snapshots
	// name the oldest tokens too. All three are as Rows, Oldest and Instance of
	// Config, and may be nil.
	Fill     func(now int64, rows *stats.Rows) error
	Oldest   func(place, limit int) ([]stats.Token, error)
	Instance func(name string) (*Instance, error)

	LastEpoch int64        // as of Config
	Log       *slog.Logger // nil is slog.Default
}

// Source publishes what its Recorders are told, once an interval. It is safe for
// concurrent use.
type Source struct {
	a           Attachment
	net         *petri.Net
	places      map[string]int
	transitions map[string]int
	publisher   *Publisher
	own         *natslink.Link // closed by Close; nil if the connection is not ours

	mu        sync.Mutex // held for a moment, never while something is read
	recorders []*Recorder
	idle      []*Recorder // released
	strays    uint64

	// Of rows, which is called by one goroutine at a time: so no more than one half
	// of a Recorder is locked.
	present present
	in, out []sum
	told    bool // that there are strays
	enabled bool // that something was enabled once
}

// Attach starts to publish the net of an engine and returns at once; NATS may be
// away then, and later. Nothing is queued meanwhile, and nothing that was
// counted is lost: everything is cumulative, or about now. Errors are about the
// net's file or what the Attachment says.
func Attach(a Attachment) (*Source, error) {
	s := &Source{a: a}
	if s.a.Log == nil {
		s.a.Log = slog.Default()
	}
	if err := s.readNet(); err != nil {
		return nil, fmt.Errorf("attach: %w", err)
	}
	s.present.places = make([][]heap, len(s.net.Places))
	if s.a.Source == "" {
		host, err := os.Hostname()
		if err != nil {
			return nil, fmt.Errorf("attach net %q: a name for the source: %w", s.net.ID, err)
		}
		s.a.Source = filepath.Base(os.Args[0]) + "@" + host
	}
	if err := s.start(); err != nil {
		return nil, fmt.Errorf("attach net %q: %w", s.net.ID, err)
	}
	return s, nil
}

// start connects and publishes.
func (s *Source) start() (err error) {
	nc := s.a.Conn
	if nc == nil {
		if s.own, err = natslink.Open(natslink.Config{URLs: s.a.URL, Name: "petrinet-source " + s.a.Source, Log: s.a.Log}); err != nil {
			return err
		}
		nc = s.own.Conn
	}
	cfg := Config{
		Conn: nc, Subjects: s.a.Subjects, Source: s.a.Source, Interval: s.a.Interval, LastEpoch: s.a.LastEpoch, Log: s.a.Log,
		Nets: []Net{{ID: s.net.ID, PNML: s.a.PNML, Places: len(s.net.Places), Transitions: len(s.net.Transitions)}},
		Rows: func(_ int, now int64, into *stats.Rows) error { return s.rows(now, into) },
	}
	if s.a.Oldest != nil {
		cfg.Oldest = func(_, place, limit int) ([]stats.Token, error) { return s.a.Oldest(place, limit) }
	}
	if s.a.Instance != nil {
		cfg.Instance = func(_ int, name string) (*Instance, error) { return s.a.Instance(name) }
	}
	if s.publisher, err = Start(cfg); err != nil && s.own != nil {
		s.own.Close()
	}
	return err
}

func (s *Source) readNet() error {
	if s.a.File != "" {
		text, err := readBounded(s.a.File)
		if err != nil {
			return err
		}
		s.a.PNML = text
	}
	file, err := pnml.Read(bytes.NewReader(s.a.PNML), cmp.Or(s.a.File, "net"), pnml.DefaultLimits())
	if err != nil {
		return err
	}
	for _, n := range file.Nets {
		if n.ID == s.a.Net || s.a.Net == "" && len(file.Nets) == 1 {
			s.net = n
		}
	}
	if s.net == nil {
		return fmt.Errorf("%s has %d nets, and none is %q", cmp.Or(s.a.File, "the definition"), len(file.Nets), s.a.Net)
	}
	s.places, s.transitions = map[string]int{}, map[string]int{}
	for i := range s.net.Places {
		s.places[s.net.Places[i].ID] = i
	}
	for i := range s.net.Transitions {
		s.transitions[s.net.Transitions[i].ID] = i
	}
	return nil
}

// readBounded reads a net's file, unless it is larger than a definition may be.
func readBounded(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && info.Size() > MaxDefinition {
		err = fmt.Errorf("%s: %w: %d bytes, of at most %d", path, TooLarge, info.Size(), MaxDefinition)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// ErrUnknownID is in the chain of errors about an id that the net has not.
var ErrUnknownID = errors.New("no such id in the net")

// Place returns the index of a place by its id. The error wraps ErrUnknownID.
func (s *Source) Place(id string) (int, error) { return find(s.places, "place", id) }

// Transition returns the index of a transition by its id. The error wraps
// ErrUnknownID.
func (s *Source) Transition(id string) (int, error) { return find(s.transitions, "transition", id) }

func find(ids map[string]int, kind, id string) (int, error) {
	if i, ok := ids[id]; ok {
		return i, nil
	}
	return -1, fmt.Errorf("%s %q: %w", kind, id, ErrUnknownID)
}

// Recorder returns a Recorder for one goroutine. One that was released goes on
// counting where it stopped.
func (s *Source) Recorder() *Recorder {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.idle); n > 0 {
		r := s.idle[n-1]
		s.idle = s.idle[:n-1]
		return r
	}
	r := newRecorder(len(s.net.Places), len(s.net.Transitions))
	s.recorders = append(s.recorders, r)
	return r
}

// Release gives a Recorder back; its goroutine calls this last. What it counted
// stays; nothing is enabled any more by what it said.
func (s *Source) Release(r *Recorder) {
	for i := range r.transitions {
		r.Enabled(int(i), 0, 0)
	}
	r.half.tail.Store(r.at) // a net may have no transition
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = append(s.idle, r)
}

// SourceStats is what a Source did, cumulative since its start.
type SourceStats struct {
	PublisherStats
	Recorders int    `json:"recorders"` // there are now, released ones included
	Strays    uint64 `json:"strays"`    // tokens taken that were not injected, and events that made no sense; as of the last snapshot
}

// Stats returns what was done so far.
func (s *Source) Stats() SourceStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return SourceStats{PublisherStats: s.publisher.Stats(), Recorders: len(s.recorders), Strays: s.strays}
}

// Epoch returns the start of this process as snapshots tell it. An engine that
// keeps it gives it to the next process as LastEpoch.
func (s *Source) Epoch() int64 { return s.publisher.Epoch() }

// Close says bye, as Publisher.Close does, and ends what Attach started.
// Recorders may be used afterwards; nobody reads them.
func (s *Source) Close(ctx context.Context) error {
	err := s.publisher.Close(ctx)
	if s.own != nil {
		s.own.Close()
	}
	return err
}
