// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// ErrState means that a state is invalid. Nothing of it is taken.
var ErrState = errors.New("invalid state of a collector")

// restored is a net as read from frames.
type restored struct {
	savedNet
	definition telemetry.Definition
	at         int64 // of the last frame; 0 in a state of an earlier release
	sum        *telemetry.Snapshot
	base, debt *telemetry.Snapshot // instead of the sum
	shown      *telemetry.Snapshot
	groups     map[string][]byte // records by source
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

// Restore continues where another process stopped, whose log has these frames, from the first one
// on. The sources are as they were then. Those that are not admitted are gone, because another
// collector receives them now, and their counters stay in the sums. No counter is less than it was
// shown. The error wraps ErrState; after an error the Merger must not be used.
func (m *Merger) Restore(frames [][]byte, of Admission, now int64) error {
	nets, err := readState(frames...)
	if err != nil {
		return err
	}
	for _, r := range nets {
		if of.Net != nil && !of.Net(r.ID) {
			continue
		}
		err := m.defineRestored(r, of, now)
		if err == nil {
			err = m.restoreNet(r, of)
		}
		if err != nil {
			return fmt.Errorf("%w: net %q: %w", ErrState, r.ID, err)
		}
	}
	m.traffic = Traffic{Rejected: make(map[string]uint64)}
	for _, reason := range Reasons() {
		m.traffic.Rejected[string(reason)] = 0
	}
	m.counted = true
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
	for _, msg := range []*telemetry.Snapshot{r.sum, r.base, r.debt, r.shown} {
		r.fit(msg, def)
	}
	for i := range r.sources {
		r.fit(r.sources[i].msg, def)
	}
	return nil
}

// fit adds the rows that the definition gained after a record was made.
func (r *restored) fit(msg *telemetry.Snapshot, def *petri.Net) {
	if msg != nil {
		grow(&msg.Rows, len(def.Places), len(def.Transitions))
		msg.Digest = r.definition.Digest
	}
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
func (m *Merger) restoreNet(r *restored, of Admission) error {
	n := m.nets[r.ID]
	c := n.known[r.definition.Digest]
	n.since = r.Since
	sum, err := n.total(r, c)
	switch {
	case err != nil:
		return err
	case sum == nil && r.shown == nil:
		return errors.New("no counters")
	case sum == nil:
		return n.raiseTo(r)
	}
	columns := r.Columns & counterColumns
	for _, h := range r.sources {
		if err := fits(h.msg, c); err != nil {
			return fmt.Errorf("source %q: %w", h.msg.Source, err)
		}
		if !of.Share.Has(r.ID, h.msg.Source) {
			columns |= h.msg.Rows.Columns & counterColumns
			continue
		}
		if h.marks&markUp != 0 { // not silent up to then, whatever of it was kept last
			h.messageAt = max(h.messageAt, r.at)
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
		if s := n.sources[p.Source]; s != nil {
			s.counted = max(s.counted, p.Counted)
		} else if of.Share.Has(r.ID, p.Source) {
			m.remember(n, p)
		}
	}
	n.base = sum
	for _, s := range n.contributors() {
		if s.rows != nil {
			n.base.Merge(s.rows.Rows().Debt())
		}
	}
	n.base.Columns = columns
	n.addUp()
	m.keptAt = max(m.keptAt, cmp.Or(r.at, r.timeOfSum()))
	if r.shown != nil {
		return n.raiseTo(r)
	}
	return nil
}

// timeOfSum returns when a state of an earlier release was made.
func (r *restored) timeOfSum() int64 {
	if r.sum == nil {
		return 0
	}
	return r.sum.SentAt
}

// total returns the counters of the net over all sources and processes, or nil if only those
// that were shown are known.
func (n *net) total(r *restored, c *columns) (*stats.Rows, error) {
	rowsOf := func(msg *telemetry.Snapshot) (*stats.Rows, error) {
		if err := fits(msg, c); err != nil {
			return nil, err
		}
		return n.rowsOf(msg, c), nil
	}
	if r.sum != nil || r.base == nil {
		if r.sum == nil {
			return nil, nil
		}
		return rowsOf(r.sum)
	}
	total, err := rowsOf(r.base)
	if err == nil && r.debt != nil {
		var debt *stats.Rows
		if debt, err = rowsOf(r.debt); err == nil {
			total.Merge(debt.Debt())
		}
	}
	for i := range r.sources {
		if err != nil {
			return nil, err
		}
		h := &r.sources[i]
		var rows *stats.Rows
		if rows, err = rowsOf(h.msg); err == nil {
			var own clock
			own.observe(h.msg.SentAt, h.received)
			total.MergeShifted(countersOf(rows), own.shift)
		}
	}
	return total, err
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

// stateReader reads the records of frames.
type stateReader struct {
	rest    []byte
	decoder telemetry.Decoder
	at      int64
	nets    map[string]*restored
	net     *restored           // to which the next records belong
	more    bool                // the next record is a part, and not the last
	parts   *telemetry.Snapshot // the parts so far, joined
	kind    byte                // of the record of the parts
}

// readState reads the frames of a log, and returns its nets by name. The error wraps ErrState.
func readState(frames ...[]byte) ([]*restored, error) {
	r := &stateReader{nets: make(map[string]*restored)}
	for i, frame := range frames {
		r.net = nil
		if err := r.records(frame); err != nil {
			return nil, fmt.Errorf("%w: frame %d: %w", ErrState, i+1, err)
		}
	}
	nets := slices.SortedFunc(maps.Values(r.nets), func(a, b *restored) int { return strings.Compare(a.ID, b.ID) })
	for _, n := range nets {
		if err := r.ungroup(n); err != nil {
			return nil, fmt.Errorf("%w: net %q: %w", ErrState, n.ID, err)
		}
	}
	return nets, nil
}

// records reads records that end where a record does.
func (r *stateReader) records(all []byte) error {
	r.rest = all
	for n := 1; len(r.rest) > 0; n++ {
		if err := r.next(); err != nil {
			return fmt.Errorf("record %d: %w", n, err)
		}
	}
	if r.more || r.parts != nil {
		return errEnds
	}
	return nil
}

// ungroup reads the groups of a net. The orphans come first: their owners may have put them away.
func (r *stateReader) ungroup(n *restored) error {
	r.net, n.at = n, r.at
	for _, name := range slices.Sorted(maps.Keys(n.groups)) {
		if err := r.records(n.groups[name]); err != nil {
			return fmt.Errorf("source %q: %w", name, err)
		}
	}
	if n.groups != nil {
		slices.SortStableFunc(n.sources, func(a, b restoredSource) int { return int(b.marks&markOrphan - a.marks&markOrphan) })
	}
	return nil
}

var (
	errCut      = errors.New("cut short")
	errParts    = errors.New("expected another part of the previous record")
	errEnds     = errors.New("ends within a source")
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
	payload, err := r.cut(&r.rest)
	if err != nil {
		return err
	}
	inParts := record != recordNet && record != recordPast && record != recordTime && record != recordOf && record != recordHead && record != recordGroup && record != recordDropped
	if r.parts != nil && record != r.kind || r.more && !inParts {
		return errParts
	}
	switch r.kind = record; record {
	case recordNet:
		return r.defined(payload)
	case recordTime:
		at, n := binary.Varint(payload)
		if n <= 0 {
			return errCut
		}
		r.at = min(max(at, 0), telemetry.MaxTime)
		return nil
	case recordOf:
		if r.net = r.nets[string(payload)]; r.net == nil {
			return errNoNet
		}
		return nil
	case recordDropped:
		delete(r.nets, string(payload))
		return nil
	}
	if r.net == nil {
		return errNoNet
	}
	return r.ofNet(record, payload)
}

// cut returns the bytes behind their length, and removes both.
func (r *stateReader) cut(from *[]byte) ([]byte, error) {
	size, n := binary.Uvarint(*from)
	if n <= 0 || size > uint64(len(*from)-n) {
		return nil, errCut
	}
	out := (*from)[n : n+int(size)]
	*from = (*from)[n+int(size):]
	return out, nil
}

// ofNet reads a record of the present net.
func (r *stateReader) ofNet(record byte, payload []byte) error {
	net := r.net
	switch record {
	case recordHead:
		net.savedNet = savedNet{}
		if err := json.Unmarshal(payload, &net.savedNet); err != nil {
			return err
		}
		if net.ID != net.definition.Net {
			return errOtherNet
		}
	case recordSum, recordBase, recordDebt, recordShown, recordShownNow:
		return r.sums(record, payload)
	case recordGroup:
		name, err := r.cut(&payload)
		if err != nil {
			return err
		}
		if net.groups == nil {
			net.groups = make(map[string][]byte)
		}
		if net.groups[string(name)] = payload; len(payload) == 0 {
			delete(net.groups, string(name))
		}
	case recordSource, recordSilent:
		return r.source(net, payload)
	case recordPast:
		var p savedPast
		if err := json.Unmarshal(payload, &p); err != nil {
			return err
		}
		net.past = append(net.past, p)
		return telemetry.CheckName(p.Source)
	default:
		return errUnknown
	}
	return nil
}

// sums reads a record of counters over many sources.
func (r *stateReader) sums(record byte, payload []byte) error {
	r.decoder.Sums = true
	msg, err := r.snapshot(r.net, payload)
	r.decoder.Sums = false
	if msg == nil {
		return err
	}
	if record != recordShownNow && !complete(msg) {
		return errParts
	}
	switch record {
	case recordSum:
		r.net.sum = whole(msg)
	case recordBase:
		r.net.base, r.net.debt = whole(msg), nil
	case recordDebt:
		r.net.debt = whole(msg)
	case recordShown:
		r.net.shown = whole(msg)
	case recordShownNow:
		return r.net.showNow(msg)
	}
	return nil
}

// showNow replaces the rows of the shown counters that a snapshot names.
func (r *restored) showNow(msg *telemetry.Snapshot) error {
	if r.shown == nil {
		return errNotShown
	}
	rows := r.shown.Rows
	for i := range min(len(msg.PlaceIndex), len(msg.Rows.Places)) {
		at := int(msg.PlaceIndex[i])
		grow(&rows, at+1, 0)
		rows.Places[at] = msg.Rows.Places[i]
	}
	for i := range min(len(msg.TransitionIndex), len(msg.Rows.Transitions)) {
		at := int(msg.TransitionIndex[i])
		grow(&rows, 0, at+1)
		rows.Transitions[at] = msg.Rows.Transitions[i]
	}
	msg.Rows.Places, msg.Rows.Transitions = rows.Places, rows.Transitions
	msg.Rows.Columns |= rows.Columns // a message has no column of rows that it does not name
	r.shown = whole(msg)
	return nil
}

var errNotShown = errors.New("changes counters that were not shown before")

// complete reports whether a snapshot of all rows has no gap.
func complete(msg *telemetry.Snapshot) bool {
	for _, index := range [][]uint32{msg.PlaceIndex, msg.TransitionIndex} {
		for i, at := range index {
			if int(at) != i {
				return false
			}
		}
	}
	return true
}

// whole makes a snapshot a full one, whose rows are all there.
func whole(msg *telemetry.Snapshot) *telemetry.Snapshot {
	msg.Full, msg.PlaceIndex, msg.TransitionIndex = true, nil, nil
	return msg
}

// defined reads the definition of a net. What is known of it stays, but for a state of an earlier
// release: there it is of the counters that were shown.
func (r *stateReader) defined(payload []byte) error {
	head, text, _ := bytes.Cut(payload, []byte("\n"))
	var saved savedNet
	if err := json.Unmarshal(head, &saved); err != nil {
		return err
	}
	n := r.nets[saved.ID]
	if n == nil {
		n = &restored{}
		r.nets[saved.ID] = n
	} else if n.sum != nil {
		saved.Columns, saved.Regions = n.Columns, n.Regions
	}
	n.savedNet = saved
	n.definition = telemetry.Definition{Net: saved.ID, Digest: telemetry.Digest(text), PNML: text}
	r.net = n
	return telemetry.CheckName(saved.ID)
}

func (r *stateReader) source(net *restored, payload []byte) error {
	digest, err := r.cut(&payload)
	if err != nil {
		return err
	}
	h := restoredSource{savedSource: savedSource{digest: string(digest)}}
	for _, f := range h.fields(r.kind) {
		v, n := binary.Varint(payload)
		if n <= 0 {
			return errCut
		}
		*f, payload = min(max(v, 0), telemetry.MaxTime), payload[n:]
	}
	h.msg, err = r.snapshot(net, payload)
	switch {
	case h.msg == nil:
		return err
	case !complete(h.msg):
		return errParts
	}
	whole(h.msg).Digest = net.definition.Digest
	net.sources = append(net.sources, h)
	return nil
}

// snapshot returns a snapshot, or nil after a part that is not the last one.
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
		msg.Rows.Places, msg.PlaceIndex = append(p.Rows.Places, msg.Rows.Places...), append(p.PlaceIndex, msg.PlaceIndex...)
		msg.Rows.Transitions, msg.TransitionIndex = append(p.Rows.Transitions, msg.Rows.Transitions...), append(p.TransitionIndex, msg.TransitionIndex...)
		msg.Rows.Columns |= p.Rows.Columns
	}
	if r.parts = nil; r.more {
		r.parts, r.more = msg, false
		return nil, nil
	}
	return msg, nil
}
