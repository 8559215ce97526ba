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

// Attachment is the net that an engine runs and the place where its telemetry
// is published. Only File (or PNML) and URL (or Conn) are required.
type Attachment struct {
	URL  string     // NATS servers, comma-separated; they may be unreachable at the start
	Conn *nats.Conn // instead of URL: a connection of the engine, which stays open

	File string // the net's PNML file
	PNML []byte // instead of File: its bytes
	Net  string // the id of the net in the file; "" if it has only one

	// Source names this process in the subject space. It must be unique there,
	// and the same after a restart. "" is PROGRAM@HOST.
	Source   string
	Subjects Subjects
	Interval time.Duration // 0 is DefaultInterval

	// Fill adds columns that Recorders do not count (instances, blocks,
	// running, …) and sets their bits in Columns. Oldest returns the oldest
	// tokens of a place, at most limit and oldest first, which snapshots then
	// hold too; a search asks for 100,000. Instance returns the tokens of an
	// instance. The three are called as Rows, Oldest and Instance of Config
	// are, and each may be nil.
	Fill     func(now int64, rows *stats.Rows) error
	Oldest   func(place, limit int) ([]stats.Token, error)
	Instance func(name string) (*Instance, error)

	// Acts and Tool say how people act on the instances, as in Config.
	Acts, Tool string

	LastEpoch int64        // as in Config
	Log       *slog.Logger // nil is slog.Default
}

// Source publishes what its Recorders counted, once an interval. It is safe for concurrent use.
type Source struct {
	a           Attachment
	net         *petri.Net
	places      map[string]int
	transitions map[string]int
	publisher   *Publisher
	own         *natslink.Link // closed by Close; nil if the connection is the engine's

	mu        sync.Mutex // held briefly, never while a Recorder is read
	recorders []*Recorder
	idle      []*Recorder // released
	strays    uint64

	// Used by rows alone, which one goroutine at a time calls: so at most one
	// half of a Recorder is locked.
	present present
	in, out []sum
	warned  bool // strays were logged
	enabled bool // a transition was enabled at least once
}

// Attach starts to publish the net of an engine and returns at once. NATS may
// be unreachable then and later: nothing is queued, and no count is lost,
// because rows are cumulative or describe the present. Errors are about the
// net's file or the Attachment.
func Attach(a Attachment) (*Source, error) {
	s := &Source{a: a}
	s.a.Log = cmp.Or(s.a.Log, slog.Default())
	if err := s.readNet(); err != nil {
		return nil, fmt.Errorf("attach: %w", err)
	}
	s.present.places = make([][]bucket, len(s.net.Places))
	if s.a.Source == "" {
		host, err := os.Hostname()
		if err != nil {
			return nil, fmt.Errorf("attach net %q: name of the source: %w", s.net.ID, err)
		}
		s.a.Source = filepath.Base(os.Args[0]) + "@" + host
	}
	if err := s.start(); err != nil {
		return nil, fmt.Errorf("attach net %q: %w", s.net.ID, err)
	}
	return s, nil
}

// start connects, if the engine gave no connection, and starts the Publisher.
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
		Acts: s.a.Acts, Tool: s.a.Tool,
		Nets: []SourceNet{{ID: s.net.ID, PNML: s.a.PNML, Places: len(s.net.Places), Transitions: len(s.net.Transitions)}},
		Rows: func(_ int, now int64, into *stats.Rows) error { return s.rows(now, into) },
	}
	if s.a.Oldest != nil {
		cfg.Oldest = s.find
	}
	if s.a.Instance != nil {
		cfg.Instance = func(_ int, name string) (*Instance, error) { return s.a.Instance(name) }
	}
	if s.publisher, err = Start(cfg); err != nil && s.own != nil {
		s.own.Close()
	}
	return err
}

// searched is among how many tokens of a place an answer to a query is looked for, if the
// engine only lists the oldest ones.
const searched = 100_000

// find answers a query. If there may be more tokens than were searched, how many match is
// not known.
func (s *Source) find(_, place int, q *stats.Query) (stats.Found, error) {
	tokens, err := s.a.Oldest(place, searched)
	all := make([]stats.FoundToken, len(tokens))
	for i, t := range tokens {
		all[i].Token = t
	}
	found := q.Of(all)
	if len(tokens) >= searched {
		found.More, found.Matches = true, 0
	}
	return found, err
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
		return fmt.Errorf("%s has %d nets; expected one with the id %q", cmp.Or(s.a.File, "the definition"), len(file.Nets), s.a.Net)
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

// readBounded returns the bytes of a file of at most MaxDefinition bytes.
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

// ErrUnknownID is wrapped by errors about an id that is not in the net.
var ErrUnknownID = errors.New("no such id in the net")

// Place returns the index of a place by its id. The error wraps ErrUnknownID.
func (s *Source) Place(id string) (int, error) { return find(s.places, "place", id) }

// Transition returns the index of a transition by its id. The error wraps ErrUnknownID.
func (s *Source) Transition(id string) (int, error) { return find(s.transitions, "transition", id) }

func find(ids map[string]int, kind, id string) (int, error) {
	if i, ok := ids[id]; ok {
		return i, nil
	}
	return -1, fmt.Errorf("%s %q: %w", kind, id, ErrUnknownID)
}

// Recorder returns a Recorder for one goroutine. A released Recorder is used
// again and keeps its counts.
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

// Release returns a Recorder to the Source; it is the last call of the
// goroutine that records. The Recorder's counts stay. Transitions that it
// reported as enabled no longer count as enabled.
func (s *Source) Release(r *Recorder) {
	for i := range r.transitions {
		r.Enabled(int(i), 0, 0)
	}
	r.half.tail.Store(r.at) // for a net without transitions
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = append(s.idle, r)
}

// SourceStats counts what a Source did since its start.
type SourceStats struct {
	PublisherStats
	Recorders int    `json:"recorders"` // that exist, released ones included
	Strays    uint64 `json:"strays"`    // tokens taken that were not injected, and invalid events; as of the last snapshot
}

// Stats returns the counts so far.
func (s *Source) Stats() SourceStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return SourceStats{PublisherStats: s.publisher.Stats(), Recorders: len(s.recorders), Strays: s.strays}
}

// Epoch returns the start of this process as snapshots report it. An engine
// that stores it passes it to the next process as LastEpoch.
func (s *Source) Epoch() int64 { return s.publisher.Epoch() }

// Close publishes the last snapshot, a bye message, as Publisher.Close does,
// and stops what Attach started. Recorders may be used afterwards; their counts
// are ignored.
func (s *Source) Close(ctx context.Context) error {
	err := s.publisher.Close(ctx)
	if s.own != nil {
		s.own.Close()
	}
	return err
}
