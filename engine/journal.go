// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"sync"

	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/telemetry"
)

// ErrJournal is wrapped by the error of New for a journal that another engine
// wrote: other nets, or another number of instances.
var ErrJournal = errors.New("the journal is of another engine")

// ErrReplay is wrapped by the error of New for a journal of this engine with
// content that it cannot have written.
var ErrReplay = errors.New("the journal cannot be replayed")

// recorder writes what the workers do into a journal. One commit is what one
// worker did at one time.
type recorder struct {
	mu     sync.Mutex
	log    journal.Log
	head   header
	last   uint64   // number of the last commit
	whose  uint64   // number of the last entry of the commit that is being written
	starts []tenure // of the owners, rising
	sound  uint64   // the last commit that recover has read
	grown  int      // bytes since the last snapshot
	failed error    // the first failure; nothing is written after it
	// written holds a token after an entry was written, or writing failed.
	written chan struct{}
	whole   joiner // of entries that are read

	// Of the log of a part.
	hash     hash.Hash // nil for other logs
	chain    [sha256.Size]byte
	round    Mark      // see Standing
	readings []reading // by upstream part
	entry    []byte    // buffer of the last one written

	owns   ownership
	queues []queueCounts // by net
}

// format is that of commits and snapshots. Versions that cannot read each other's have another one.
const format = 3

// header is the first commit of a journal, and the first line of each snapshot.
type header struct {
	Format    int         `json:"format"`
	Nets      []netDigest `json:"nets"`
	Instances int         `json:"instances"`
	Spare     int         `json:"spare,omitempty"`
	Created   int64       `json:"created"` // when the instances began, microseconds since the Unix epoch
	Part      *partHeader `json:"part,omitempty"`

	Queues []queueCounts `json:"queues,omitempty"` // by net, before a snapshot

	// Of whole nets, before a snapshot.
	First  string    `json:"first,omitempty"`  // the first source that owned the journal
	Owns   ownership `json:"owns,omitzero"`    // the last one
	Starts []tenure  `json:"starts,omitempty"` // of the last owners
	Counts [][]byte  `json:"counts,omitempty"` // by net: as those of a part
}

// partHeader identifies the part of a log, and in a snapshot holds its progress.
type partHeader struct {
	Name     string    `json:"name"`
	Plan     string    `json:"plan"`
	Chain    []byte    `json:"chain,omitempty"`
	Owns     ownership `json:"owns,omitzero"`
	Readings []reading `json:"readings,omitempty"` // by upstream part
	Counts   []byte    `json:"counts,omitempty"`   // the counters of the part, as a snapshot of telemetry
}

// netDigest is a net, the digest of its definition, and which token game plays it.
type netDigest struct {
	ID     string `json:"id"`
	Digest string `json:"digest"`
	Game   string `json:"game"` // see NetConfig.game
}

// headerOf describes what an engine runs.
func headerOf(cfg *Config, created int64) (header, error) {
	h := header{Format: format, Instances: cfg.Instances, Spare: cfg.Spare, Created: created}
	for _, n := range cfg.Nets {
		text, err := digest(n.Tables.Net)
		if err != nil {
			return h, err
		}
		h.Nets = append(h.Nets, netDigest{n.Tables.Net.ID, text, n.game()})
	}
	if p := cfg.Part; p != nil {
		h.Part = &partHeader{Name: p.Name, Plan: p.Plan}
	}
	return h, nil
}

// digest returns the digest of a net's definition. It leaves out what has no meaning for a replay: the
// document that the net was made from, what its places and transitions are for and are called, and the paths of
// inclusive joins.
func digest(n *petri.Net) (string, error) {
	plain := *n
	plain.Model = nil
	plain.Places, plain.Transitions, plain.Arcs = slices.Clone(n.Places), slices.Clone(n.Transitions), slices.Clone(n.Arcs)
	for k := range plain.Places {
		p := &plain.Places[k]
		p.Role, p.Element, p.Called = petri.RoleWork, "", petri.Called{}
	}
	for k := range plain.Transitions {
		plain.Transitions[k].Role, plain.Transitions[k].Called = petri.RoleWork, petri.Called{}
	}
	for k := range plain.Arcs {
		plain.Arcs[k].Aside = petri.AsideNone
	}
	var def bytes.Buffer
	if err := pnml.Write(&def, &plain); err != nil {
		return "", err
	}
	return telemetry.Digest(def.Bytes()), nil
}

func (h *header) read(text []byte) error {
	if err := json.Unmarshal(text, h); err != nil {
		return fmt.Errorf("%w: the header: %w", ErrReplay, err)
	}
	if h.Format != format {
		return fmt.Errorf("%w: it has format %d, and this version reads format %d; let a version that reads it end its instances, or continue with that one",
			ErrJournal, h.Format, format)
	}
	return nil
}

// matches returns an error unless h, read from a journal, is compatible with want.
func (h header) matches(want header) error {
	if h.Instances != want.Instances {
		return fmt.Errorf("%w: it has %d instances of each net; this one runs %d", ErrJournal, h.Instances, want.Instances)
	}
	if h.Spare != want.Spare {
		return fmt.Errorf("%w: %d of its instances are spare; of this one %d", ErrJournal, h.Spare, want.Spare)
	}
	if h.Part == nil && want.Part != nil || h.Part != nil && want.Part == nil {
		return fmt.Errorf("%w: one of the two is of a part of a net, the other of whole nets", ErrJournal)
	}
	if h.Part != nil && (h.Part.Name != want.Part.Name || h.Part.Plan != want.Part.Plan) {
		return fmt.Errorf("%w: it is of part %q of the plan %s; this one plays part %q of the plan %s",
			ErrJournal, h.Part.Name, h.Part.Plan, want.Part.Name, want.Part.Plan)
	}
	if len(h.Nets) != len(want.Nets) {
		return fmt.Errorf("%w: it has %d nets; this one runs %d", ErrJournal, len(h.Nets), len(want.Nets))
	}
	for i, n := range h.Nets {
		now := want.Nets[i]
		if n.ID != now.ID || n.Digest != now.Digest {
			return fmt.Errorf("%w: net %d is %q with digest %s; this one runs %q with digest %s", ErrJournal, i+1, n.ID, n.Digest, now.ID, now.Digest)
		}
		if n.Game != now.Game {
			return fmt.Errorf("%w: net %q is %s in it, and %s by the bindings of this one, which define guards and actions",
				ErrJournal, n.ID, n.Game, now.Game)
		}
	}
	return nil
}

// saved is the newest snapshot of a journal.
type saved struct {
	upTo  uint64 // the last commit in it; 0 if there is none
	state []byte
}

// openJournal reads the header of the engine's journal and its snapshot, or
// writes the header if the journal is new.
func (e *Engine) openJournal(ctx context.Context, now int64) (saved, error) {
	want, err := headerOf(&e.cfg, now)
	if err != nil {
		return saved{}, err
	}
	r := &recorder{log: e.cfg.Journal, written: make(chan struct{}, 1), last: e.cfg.Journal.Last(), readings: make([]reading, e.cfg.Part.upstream()),
		queues: make([]queueCounts, len(e.cfg.Nets))}
	if e.cfg.Part != nil {
		r.hash = sha256.New()
	}
	e.recorder = r
	var s saved
	s.upTo, err = r.log.LoadSnapshot(ctx, func(src io.Reader) (err error) {
		s.state, err = r.readHeader(src)
		return err
	})
	if err == nil && r.last == 0 && s.upTo == 0 { // a log without commits may have lost all of them
		r.head = want
		text, err := json.Marshal(want)
		if err != nil {
			return saved{}, err
		}
		if _, err := r.appendReaching(ctx, text, nil, 0); err != nil {
			return saved{}, err
		}
		return saved{}, r.confirm(ctx)
	}
	if err == nil && s.upTo == 0 {
		err = r.first(ctx)
	}
	if err != nil {
		return s, fmt.Errorf("reading the journal: %w", err)
	}
	return s, r.head.matches(want)
}

// first reads the header from the first commit.
func (r *recorder) first(ctx context.Context) error {
	for c, err := range r.log.Read(ctx, 1) {
		if err != nil {
			return err
		}
		return r.head.read(c.Payload)
	}
	return errors.New("no first commit")
}

// readHeader reads the line before a snapshot and returns what follows it.
func (r *recorder) readHeader(src io.Reader) (state []byte, err error) {
	text, err := io.ReadAll(src)
	if err != nil {
		return nil, err
	}
	line, state, _ := bytes.Cut(text, []byte{'\n'})
	return state, r.head.read(line)
}

// recover restores the shards from the journal.
func (e *Engine) recover(ctx context.Context, from saved) error {
	r := e.recorder
	r.chain, r.round = [sha256.Size]byte{}, 0
	if from.upTo > 0 {
		if err := e.loadSnapshot(from.state); err != nil {
			return fmt.Errorf("reading the journal's snapshot up to commit %d: %w", from.upTo, err)
		}
	}
	r.last, r.sound = from.upTo, from.upTo
	for c, err := range r.log.Read(ctx, from.upTo+1) {
		if err != nil {
			return fmt.Errorf("reading the journal behind commit %d: %w", r.last, err)
		}
		if err := e.fold(c); err != nil {
			return fmt.Errorf("reading the journal: %s: %w", c.Place(), err)
		}
		r.sound = c.Sequence
	}
	return nil
}

// loadSnapshot reads a snapshot, of which the header was read.
func (e *Engine) loadSnapshot(state []byte) error {
	if err := e.loadState(state); err != nil {
		return err
	}
	head := &e.recorder.head
	copy(e.recorder.queues, head.Queues)
	if head.Part != nil {
		return e.loadPart(head.Part)
	}
	e.recorder.owns, e.recorder.starts = head.Owns, head.Starts
	if head.Counts != nil && len(head.Counts) != len(e.cfg.Nets) {
		return fmt.Errorf("%w: counts of %d nets; expected %d", ErrReplay, len(head.Counts), len(e.cfg.Nets))
	}
	for k, counts := range head.Counts {
		if err := e.recount(k, counts); err != nil {
			return err
		}
	}
	return nil
}

// loadState reads the state of every net, as appendState wrote it.
func (e *Engine) loadState(state []byte) error {
	for k := range e.cfg.Nets {
		sections, size := binary.Uvarint(state)
		if size <= 0 {
			return fmt.Errorf("%w: the state ends before that of net %q", ErrReplay, e.cfg.Nets[k].Tables.Net.ID)
		}
		state = state[size:]
		for range sections {
			var rest []byte
			for _, w := range e.workers { // each worker takes the state of its own instances
				var err error
				if rest, err = w.shards[k].LoadState(state); err != nil {
					return fmt.Errorf("%w: the state of net %q: %w", ErrReplay, e.cfg.Nets[k].Tables.Net.ID, err)
				}
			}
			state = rest
		}
	}
	return nil
}

// replay applies a commit; the caller holds the recorder's mu.
func (e *Engine) replay(commit []byte) error {
	nets := len(e.cfg.Nets)
	return eachSection(commit, nets, func(kind int, body []byte, now int64) error {
		for _, w := range e.workers {
			w.last = max(w.last, now) // time does not go back across a restart either
			if kind >= nets {
				continue
			}
			if err := w.shards[kind].Replay(body, now); err != nil {
				return fmt.Errorf("%w: net %q: %w", ErrReplay, e.cfg.Nets[kind].Tables.Net.ID, err)
			}
		}
		if kind < nets {
			return nil
		}
		return e.recorder.replay(kind-nets, body, now)
	})
}

// replay applies a section that is not of one net; the caller holds mu.
func (r *recorder) replay(kind int, body []byte, now int64) (err error) {
	switch {
	case kind == sectionOwnership:
		o, err := readOwnership(body)
		next := r.owns
		if err == nil {
			err = next.follow(o)
		}
		if err == nil {
			r.owned(next)
		}
		return err
	case kind == sectionQueues:
		return r.replayQueues(body)
	case r.hash == nil:
		return fmt.Errorf("%w: a section that is allowed only in the log of a part of a net", ErrReplay)
	case kind == sectionReach:
		upstream, to, err := readReach(body)
		if err != nil {
			return err
		}
		return follow(r.readings, upstream, to, now)
	}
	return nil // crossings are for others
}

// flush writes what the worker has done since the last call, as a commit of
// now, if there is a journal. Then other engines may know of it.
func (w *worker) flush(now int64) error {
	w.takeAll(now)
	err := w.record(now)
	if err == nil && w.events != nil {
		w.events.outbox.release()
	}
	return err
}

func (w *worker) record(now int64) error {
	if w.recorder == nil {
		return nil
	}
	w.commit = appendTime(w.commit[:0], now)
	empty := len(w.commit)
	for k := range w.pending {
		p := &w.pending[k]
		if len(p.log) > 0 {
			w.commit = appendSection(w.commit, k, p.log)
		}
		p.log = p.log[:0]
	}
	w.commit = w.appendCrossings(w.commit)
	if len(w.queues) > 0 {
		w.commit = appendSection(w.commit, len(w.shards)+sectionQueues, w.queues)
		w.queues = w.queues[:0]
	}
	if len(w.commit) == empty {
		return nil
	}
	number, err := w.recorder.appendReaching(context.Background(), w.commit, w.reached, now)
	if err != nil {
		return err
	}
	w.wrote = number
	clear(w.reached)
	return nil
}
