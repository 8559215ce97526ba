// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// ErrState means that a state is invalid. Nothing of it is taken.
var ErrState = errors.New("invalid state of a collector")

// restored is a net as read from a state.
type restored struct {
	savedNet
	definition telemetry.Definition
	sum, shown *telemetry.Snapshot
	sources    []restoredSource
	past       []savedPast
}

// restoredSource is a source as read from a state.
type restoredSource struct {
	savedSource
	msg *telemetry.Snapshot
}

// Admission is what a Merger takes of what another process kept or sent.
type Admission struct {
	Net   func(net string) bool // nil takes every net
	Share Share                 // of the sources; another collector receives the others
	PNML  pnml.Limits           // of definitions
}

// Restore continues where another process stopped. The sources are as they were
// then. Those that are not admitted are gone, because another collector receives them
// now, and their counters stay in the sums. The error wraps ErrState; after an
// error the Merger must not be used.
func (m *Merger) Restore(state []byte, of Admission, now int64) error {
	err := m.eachRestored(state, of, now, func(r *restored) error {
		if r.sum == nil {
			return errors.New("no sum")
		}
		return m.restoreNet(*r, of)
	})
	if err != nil {
		return err
	}
	m.traffic = Traffic{Rejected: make(map[string]uint64)}
	for _, reason := range Reasons() {
		m.traffic.Rejected[string(reason)] = 0
	}
	m.counted = true
	return nil
}

// RestoreShown makes every counter start at no less than was shown. The error
// wraps ErrState; after an error the Merger must not be used.
func (m *Merger) RestoreShown(shown []byte, of Admission, now int64) error {
	return m.eachRestored(shown, of, now, func(r *restored) error {
		if r.shown == nil {
			return errors.New("no counters")
		}
		return m.nets[r.ID].raiseTo(r)
	})
}

// eachRestored reads a state, and defines and takes each of its nets.
func (m *Merger) eachRestored(kept []byte, of Admission, now int64, take func(*restored) error) error {
	nets, err := readState(kept)
	if err != nil {
		return err
	}
	for i := range nets {
		if of.Net != nil && !of.Net(nets[i].ID) {
			continue
		}
		err := m.defineRestored(&nets[i], of, now)
		if err == nil {
			err = take(&nets[i])
		}
		if err != nil {
			return fmt.Errorf("%w: net %q: %w", ErrState, nets[i].ID, err)
		}
	}
	return nil
}

func (m *Merger) defineRestored(r *restored, of Admission, now int64) error {
	def, err := ReadDefinition(r.definition, of.PNML)
	if err != nil {
		return err
	}
	places, transitions := m.net(r.ID).union.sizes()
	if _, err = m.define(r.definition.Digest, def, fromPeer, now); err != nil {
		return err
	}
	n := m.nets[r.ID]
	n.settled = n.settled || r.Settled
	n.ages.restore(r.Ages, n.known[r.definition.Digest], places, transitions)
	return nil
}

// raiseTo raises the floor of a net to what was shown of it.
func (n *net) raiseTo(r *restored) error {
	c := n.known[r.definition.Digest]
	if err := fits(r.shown, c); err != nil {
		return err
	}
	floor := n.rowsOf(r.shown, c)
	floor.Columns = r.shown.Rows.Columns & counterColumns
	if n.floor != nil {
		floor.Raise(n.floor)
	}
	n.floor, n.since, n.changed = floor, min(n.since, r.Since), true
	return nil
}

// raised returns the sums, raised to what the previous process showed. That
// process may have shown more than its last state holds, and what a source did
// after the state is lost if the source ended too.
func (n *net) raised() *stats.Rows {
	if n.floor == nil {
		return n.sums
	}
	rows := *n.sums
	rows.Places, rows.Transitions = slices.Clone(rows.Places), slices.Clone(rows.Transitions)
	if !rows.Raise(n.floor) {
		n.floor = nil // a sum never falls
		return n.sums
	}
	return &rows
}

// restoreNet takes the last snapshots of the sources again. The base is the sum
// minus these snapshots, so the sum is what it was, whichever sources could be
// taken.
func (m *Merger) restoreNet(r restored, of Admission) error {
	n := m.nets[r.ID]
	c := n.known[r.definition.Digest]
	if err := fits(r.sum, c); err != nil {
		return err
	}
	n.since = r.Since
	m.keptAt = max(m.keptAt, r.sum.SentAt)
	columns := r.Columns & counterColumns
	for _, h := range r.sources {
		if err := fits(h.msg, c); err != nil {
			return fmt.Errorf("source %q: %w", h.msg.Source, err)
		}
		if !of.Share.Has(r.ID, h.msg.Source) {
			columns |= h.msg.Rows.Columns & counterColumns
			continue
		}
		_, err := m.Take(h.msg, 0, h.received)
		s := n.sources[h.msg.Source]
		switch {
		case err != nil: // no room for it
			columns |= h.msg.Rows.Columns & counterColumns
			counted := max(h.counted, h.msg.Epoch)
			if s != nil {
				s.counted = max(s.counted, counted)
				continue
			}
			r.past = append(r.past, savedPast{Source: h.msg.Source, Epoch: h.epoch, Seq: uint64(h.seq), Counted: counted, Known: true})
		case h.marks&markAside == 0:
			s.resume(&h, c)
			s.counted, s.restarts = max(s.counted, n.before), 0
		}
	}
	for i := range r.sources {
		n.resumeAside(&r.sources[i])
	}
	for _, f := range r.Regions {
		n.fences[f.Region] = fence{Claim: f.Claim, owner: f.Owner, counted: f.Counted}
	}
	for _, p := range r.past {
		if n.sources[p.Source] == nil && of.Share.Has(r.ID, p.Source) {
			m.remember(n, p)
		}
	}
	n.base = n.rowsOf(r.sum, c)
	for _, s := range n.contributors() {
		if s.rows != nil {
			n.base.Merge(s.rows.Rows().Debt())
		}
	}
	n.base.Columns = columns
	n.addUp()
	if r.shown != nil {
		return n.raiseTo(&r)
	}
	return nil
}

// resume returns a source to its former state after its rows were taken again.
// What it did since is not known, so a full snapshot is requested.
func (s *source) resume(h *restoredSource, c *columns) {
	s.counted, s.digest = max(s.counted, h.counted), h.digest
	s.sentAt += h.messageAt - h.received // by the source's clock, approximately
	s.epoch, s.seq, s.messageAt, s.rowsAt, s.unread = h.epoch, uint64(h.seq), h.messageAt, h.rowsAt, h.marks&markUnread != 0
	s.recalled = true
	if !s.left {
		s.back = 0
	}
	s.first = s.messageAt - establishedAfter // the previous process showed it
	s.tenure = tenure{since: s.first, n: establishedMessages}
	if h.marks&markStale != 0 {
		s.state = Stale
	}
	if s.complete = s.complete && h.marks&markComplete != 0; s.complete {
		s.missing = newCover(c)
	}
}

// resumeAside returns an earlier process to its former state after its rows were
// taken again.
func (n *net) resumeAside(h *restoredSource) {
	s := n.sources[h.msg.Source]
	if h.marks&markAside == 0 || s == nil {
		return
	}
	if p := s.process(h.msg.Epoch); p != nil && p.aside != nil {
		p.seq, p.left, p.aside.goneAt = uint64(h.seq), h.marks&markLeft != 0, h.messageAt
	}
}

// remember records a source of which no rows are kept.
func (m *Merger) remember(n *net, p savedPast) {
	m.tombstones++
	n.past[p.Source] = past{epoch: p.Epoch, seq: p.Seq, counted: p.Counted, known: p.Known, tombstone: m.tombstones}
	m.forgotten = append(m.forgotten, tombstone{n.name, p.Source, m.tombstones})
}

// stateReader reads the records of a state.
type stateReader struct {
	rest    []byte
	decoder telemetry.Decoder
	nets    []restored
	more    bool                // the next record is a part, and not the last
	parts   *telemetry.Snapshot // the parts so far, joined
	kind    byte                // of the record of the parts
}

// readState reads a state. The error wraps ErrState.
func readState(state []byte) ([]restored, error) {
	r := &stateReader{rest: state}
	for n := 1; len(r.rest) > 0; n++ {
		if err := r.next(); err != nil {
			return nil, fmt.Errorf("%w: record %d: %w", ErrState, n, err)
		}
	}
	if r.more || r.parts != nil {
		return nil, fmt.Errorf("%w: ends within a source", ErrState)
	}
	return r.nets, nil
}

var (
	errCut      = errors.New("cut short")
	errParts    = errors.New("expected another part of the previous record")
	errNoNet    = errors.New("before the first net")
	errUnknown  = errors.New("unknown kind")
	errOtherNet = errors.New("belongs to another net")
)

// next reads one record.
func (r *stateReader) next() error {
	record := r.rest[0]
	if r.rest = r.rest[1:]; record == recordMore {
		r.more = true
		return nil
	}
	size, n := binary.Uvarint(r.rest)
	if n <= 0 || size > uint64(len(r.rest)-n) {
		return errCut
	}
	payload := r.rest[n : n+int(size)]
	r.rest = r.rest[n+int(size):]
	if r.parts != nil && record != r.kind || r.more && (record == recordNet || record == recordPast) {
		return errParts
	}
	if r.kind = record; record == recordNet {
		return r.net(payload)
	}
	if len(r.nets) == 0 {
		return errNoNet
	}
	net := &r.nets[len(r.nets)-1]
	r.decoder.Sums = record == recordSum || record == recordShown
	switch record {
	case recordSum, recordShown:
		msg, err := r.snapshot(net, payload)
		if msg != nil && record == recordSum {
			net.sum = msg
		} else if msg != nil {
			net.shown = msg
		}
		return err
	case recordSource, recordSilent:
		return r.source(net, payload)
	case recordPast:
		var p savedPast
		if err := json.Unmarshal(payload, &p); err != nil {
			return err
		}
		net.past = append(net.past, p)
		return telemetry.CheckName(p.Source)
	}
	return errUnknown
}

func (r *stateReader) net(payload []byte) error {
	head, text, _ := bytes.Cut(payload, []byte("\n"))
	var n restored
	if err := json.Unmarshal(head, &n.savedNet); err != nil {
		return err
	}
	n.definition = telemetry.Definition{Net: n.ID, Digest: telemetry.Digest(text), PNML: text}
	r.nets = append(r.nets, n)
	return telemetry.CheckName(n.ID)
}

func (r *stateReader) source(net *restored, payload []byte) error {
	size, at := binary.Uvarint(payload)
	if at <= 0 || size > uint64(len(payload)-at) {
		return errCut
	}
	h := restoredSource{savedSource: savedSource{digest: string(payload[at : at+int(size)])}}
	payload = payload[at+int(size):]
	for _, f := range h.fields(r.kind) {
		v, n := binary.Varint(payload)
		if n <= 0 {
			return errCut
		}
		*f, payload = min(max(v, 0), telemetry.MaxTime), payload[n:]
	}
	var err error
	if h.msg, err = r.snapshot(net, payload); h.msg != nil {
		net.sources = append(net.sources, h)
	}
	return err
}

// snapshot returns a full snapshot, or nil after a part that is not the last one.
func (r *stateReader) snapshot(net *restored, payload []byte) (*telemetry.Snapshot, error) {
	msg := &telemetry.Snapshot{}
	if err := r.decoder.Decode(payload, msg); err != nil {
		return nil, err
	}
	if msg.Net != net.ID {
		return nil, errOtherNet
	}
	if p := r.parts; p != nil {
		if p.Source != msg.Source {
			return nil, errParts
		}
		msg.Rows.Places = append(p.Rows.Places, msg.Rows.Places...)
		msg.Rows.Transitions = append(p.Rows.Transitions, msg.Rows.Transitions...)
		msg.Rows.Columns |= p.Rows.Columns
	}
	if r.parts = nil; r.more {
		r.parts, r.more = msg, false
		return nil, nil
	}
	msg.Full, msg.Digest, msg.PlaceIndex, msg.TransitionIndex = true, net.definition.Digest, nil, nil
	return msg, nil
}
