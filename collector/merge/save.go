// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// A frame is a list of records: a byte for the kind, the length of the payload as a varint, the
// payload. Rows are in the order of the net's definition of then: as stats.Changes writes them, or
// as a snapshot in the format of the wire. Rows that do not fit one message are several records of
// sparse ones; the last is the one without recordMore. Each record of a net replaces the former one
// of its kind, and a record of a group that of the same source; changes add to it.
const (
	recordTime         = 't' // when the frame was made, as a varint
	recordNet          = 'n' // savedNet as JSON, a newline, PNML
	recordOf           = 'o' // the name of the net that the next records belong to
	recordHead         = 'h' // savedNet as JSON
	recordBase         = 'b' // counters of the processes that have ended: a snapshot
	recordDebt         = 'd' // counters to subtract from the base: a snapshot
	recordShownRows    = 'i' // counters of the net as they were shown: columns, rest, and all rows
	recordShownChanges = 'j' // columns, rest, and how the rows changed since the last record
	recordGroup        = 'g' // the name of a source as a length and a text, and its records
	recordChanges      = 'c' // a name, differences of savedSource, columns, rest, and how the rows of the source changed
	recordDropped      = 'x' // nothing is kept of the net any more

	// The records of a group. Those of a source that is not kept any more are none.
	recordRows   = 'a' // savedSource, columns, rest, and all rows
	recordRest   = 'e' // in the rest, which is a list of records: a snapshot without numbers of rows
	recordSource = 'r' // savedSource, and its last rows, of a process set aside: a snapshot
	recordPast   = 'p' // savedPast as JSON
	recordSilent = 'q' // as recordSource, see Merger.Silent
	recordMore   = '+' // before a record with a part of the rows, unless it is the last part

	// In states of earlier releases what belongs to a net follows its recordNet, without groups.
	recordSum   = 's' // counters of the net over all sources and processes: a snapshot
	recordShown = 'v' // counters of the net as they were shown: a snapshot
)

// savedNet is what is kept of a net besides its rows.
type savedNet struct {
	ID      string        `json:"id"`
	Since   int64         `json:"since"`
	Columns stats.Columns `json:"columns"`      // of the counters of sources that are gone
	At      int64         `json:"at,omitempty"` // when Merger.Silent was called
	Ages    []savedAge    `json:"ages,omitempty"`
	Settled bool          `json:"settled,omitempty"`

	Regions []savedRegion `json:"regions,omitempty"`
}

// savedRegion is the owner of a region.
type savedRegion struct {
	Region string `json:"region"`
	telemetry.Claim
	Owner   string `json:"owner"`
	Counted int64  `json:"counted,omitempty"`
}

// savedSource is what is kept of a source besides its rows: the digest of its own
// definition as a length and a text, then varints.
type savedSource struct {
	digest                                                  string
	received, counted, epoch, seq, messageAt, rowsAt, marks int64
	silence, rowsSilence                                    int64 // of recordSilent: time since the last message, and since one was taken into the rows
	rowsEpoch, lag                                          int64 // of recordRows, instead of received: how far its clock is behind, and more
}

// The marks of a source. A record with markAside is an earlier process of the
// source in the next record: see process.aside.
const (
	markComplete = 1 << iota
	markUnread
	markStale
	markOrphan
	markAside
	markLeft // it sent its bye message; only of rows set aside
	markUp   // it was up: it was not silent when the last frame was made
)

// fields returns the numbers of a record.
func (s *savedSource) fields(record byte) []*int64 {
	f := []*int64{&s.received, &s.counted, &s.epoch, &s.seq, &s.messageAt, &s.rowsAt, &s.marks}
	if record == recordSilent {
		f = append(f, &s.silence, &s.rowsSilence)
	}
	return f
}

// ofRows returns the numbers of recordRows, and of recordChanges.
func (s *savedSource) ofRows() []*int64 {
	return []*int64{&s.counted, &s.epoch, &s.seq, &s.messageAt, &s.rowsAt, &s.marks, &s.rowsEpoch, &s.lag}
}

// before returns the part of a record before its rows.
func (s *savedSource) before(record byte) []byte {
	out := append(binary.AppendUvarint(nil, uint64(len(s.digest))), s.digest...)
	for _, f := range s.fields(record) {
		out = binary.AppendVarint(out, *f)
	}
	return out
}

// savedPast is a source of which no rows are kept.
type savedPast struct {
	Source  string `json:"source"`
	Epoch   int64  `json:"epoch"`
	Seq     uint64 `json:"seq"`
	Counted int64  `json:"counted"`
	Known   bool   `json:"known,omitempty"` // rows of it were shown
}

// sumColumns are the columns of a net's sum that continue in the next process:
// counters, and the last times.
const sumColumns = counterColumns | stats.ColOldest

// sumName is the source name in a net's sum.
const sumName = "sum"

// snapshots appends records of rows.
type snapshots struct {
	enc     telemetry.Encoder
	changes stats.Changes
	// The memory of what is made for each source.
	record, parts, whole []byte
	index                []uint32
	places               []stats.Place
}

// definition is a union of definitions as PNML.
type definition struct {
	of     *petri.Net
	pnml   []byte
	digest string
}

func (k *Saver) define(n *net) (definition, error) {
	d := k.definitions[n.name]
	if d.of == n.union.def {
		return d, nil
	}
	var text bytes.Buffer
	if err := pnml.Write(&text, n.union.def); err != nil {
		return d, err
	}
	d = definition{of: n.union.def, pnml: text.Bytes(), digest: telemetry.Digest(text.Bytes())}
	if k.definitions == nil {
		k.definitions = make(map[string]definition)
	}
	k.definitions[n.name] = d
	return d, nil
}

// source appends a source: the rows set aside for it, and its last rows or that there are none. It
// begins to note in have how they change, unless that is nil.
func (k *snapshots) source(out []byte, n *net, s *source, d definition, have *sourceLog) (_ []byte, err error) {
	for i := range s.processes {
		p := &s.processes[i]
		if p.aside == nil {
			continue
		}
		msg, kept := p.aside.last(n, d.digest)
		msg.Bye = true
		msg.Rows.Columns |= stats.ColOldest
		kept.seq, kept.messageAt, kept.marks = int64(p.seq), max(p.aside.goneAt, p.run.last), markAside
		if p.left {
			kept.marks |= markLeft
		}
		if out, err = k.rows(out, recordSource, kept.before(recordSource), msg); err != nil {
			return out, err
		}
	}
	if s.rows == nil {
		return appendPast(out, savedPast{Source: s.name, Epoch: s.epoch, Seq: s.seq, Counted: s.countedUpTo(), Known: s.wasShown()}), nil
	}
	if have == nil {
		have = &sourceLog{}
	} else {
		s.rows.Note(&have.notes)
	}
	payload := append(binary.AppendUvarint(k.whole[:0], uint64(len(s.digest))), s.digest...)
	places, _ := s.rows.Size()
	payload, err = k.kept(payload, n, s, d, have, func(yield func(int) bool) {
		for i := range places {
			if len(s.rows.StuckIn(i))+len(s.rows.GroupsIn(i)) > 0 && !yield(i) {
				return
			}
		}
	})
	k.whole = k.changes.Whole(payload, s.rows)
	return appendRecord(out, recordRows, k.whole), err
}

// changed appends how a source changed since its last record.
func (k *snapshots) changed(out []byte, n *net, s *source, d definition, have *sourceLog) ([]byte, error) {
	out, err := k.kept(out, n, s, d, have, have.notes.Places())
	return k.changes.Noted(out, s.rows), err
}

// kept appends what is kept of a source besides the numbers of its rows, with the tokens that are
// stuck in some places, and their groups.
func (k *snapshots) kept(out []byte, n *net, s *source, d definition, have *sourceLog, places iter.Seq[int]) ([]byte, error) {
	msg, kept := s.rest(n, d.digest)
	numbers := have.saved.ofRows()
	for i, f := range kept.ofRows() {
		out = binary.AppendVarint(out, *f-*numbers[i])
	}
	have.saved = kept
	if s.columns&(stats.ColStuck|stats.ColGroups) != 0 {
		k.index, k.places = k.index[:0], k.places[:0]
		for i := range places {
			k.index, k.places = append(k.index, uint32(i)), append(k.places, stats.Place{Stuck: s.rows.StuckIn(i), Groups: s.rows.GroupsIn(i)})
		}
		msg.PlaceIndex, msg.Rows.Places = k.index, k.places
	}
	return k.rest(out, msg)
}

// rest appends what recordRows has of a snapshot behind its numbers, but for the rows.
func (k *snapshots) rest(out []byte, msg *telemetry.Snapshot) (_ []byte, err error) {
	out = binary.AppendUvarint(out, uint64(msg.Rows.Columns))
	msg.Full, msg.Epoch, msg.Seq, msg.SentAt = false, 1, 1, 1
	msg.Rows.Columns &= stats.ColInstances | stats.ColBlocks | stats.ColQueues | stats.ColWaiting | stats.ColStuck | stats.ColGroups
	k.parts, err = k.rows(k.parts[:0], recordRest, nil, msg)
	return append(binary.AppendUvarint(out, uint64(len(k.parts))), k.parts...), err
}

func appendPast(out []byte, p savedPast) []byte {
	text, _ := json.Marshal(p) // strings and numbers never fail
	return appendRecord(out, recordPast, text)
}

// last returns the last rows of the source as one message, and what else is kept
// of it.
func (s *source) last(n *net, digest string) (*telemetry.Snapshot, savedSource) {
	msg, kept := s.rest(n, digest)
	columns := msg.Rows.Columns
	msg.Rows = *s.rows.Rows()
	msg.Rows.Columns = columns
	kept.sent(msg)
	return msg, kept
}

// sent sets when the last rows of a source were sent and received. They are sent no earlier than the
// ages of their tokens are of, as by a Publisher.
func (s *savedSource) sent(msg *telemetry.Snapshot) {
	msg.SentAt = max(s.rowsAt-s.lag, 1)
	for i := range msg.Rows.Places {
		if l := &msg.Rows.Places[i].Ages; len(l.Slots) > 0 {
			msg.SentAt = max(msg.SentAt, l.At*stats.SlotWidth)
		}
	}
	s.received = msg.SentAt + s.lag
}

// rest returns the last rows of the source as one message, without rows of places and transitions,
// and what else is kept of it.
func (s *source) rest(n *net, digest string) (*telemetry.Snapshot, savedSource) {
	s.rows.Grow(n.union.sizes())
	msg := &telemetry.Snapshot{Source: s.name, Net: n.name, Digest: digest, Region: s.region, Fence: s.fence, Since: s.since, State: s.standing, Remnants: s.told,
		Epoch: s.rowsEpoch, Seq: 1, Interval: time.Duration(s.interval) * time.Microsecond, Full: true, Bye: s.left, Rows: *s.rows.Rest()}
	msg.Rows.Columns = s.columns
	if s.left {
		msg.Rows.Columns |= stats.ColOldest // the last injection stays
	}
	kept := savedSource{digest: s.digest, counted: s.countedUpTo(), epoch: s.epoch, seq: int64(s.seq), messageAt: s.messageAt, rowsAt: s.rowsAt,
		rowsEpoch: s.rowsEpoch, lag: s.clock.least()}
	if s.complete {
		kept.marks |= markComplete
	}
	if s.unread {
		kept.marks |= markUnread
	}
	if s.orphan {
		kept.marks |= markOrphan
	}
	switch {
	case s.state == Stale:
		kept.marks |= markStale
	case s.state == Up && !s.orphan:
		kept.marks |= markUp
	}
	return msg, kept
}

// countersOf returns the counters of rows.
func countersOf(rows *stats.Rows) *stats.Rows {
	out := *rows
	out.Places, out.Transitions = slices.Clone(rows.Places), slices.Clone(rows.Transitions)
	out.Withdraw(stats.AllColumns)
	out.Columns = rows.Columns & sumColumns
	for i := range out.Places {
		out.Places[i].Slowest = stats.Slowest{}
	}
	for i := range out.Transitions {
		out.Transitions[i].Slowest = stats.Slowest{}
	}
	return &out
}

// rows appends a snapshot, in parts if it is too large for a message.
func (k *snapshots) rows(out []byte, record byte, meta []byte, msg *telemetry.Snapshot) ([]byte, error) {
	full := len(msg.Rows.Places) + len(msg.Rows.Transitions)
	parts := [][2]int{{0, full}}
	for len(parts) > 0 {
		from, to := parts[0][0], parts[0][1]
		payload, err := k.enc.Append(append(k.record[:0], meta...), partOf(msg, from, to))
		if err != nil {
			return out, err
		}
		k.record = payload
		switch {
		case len(payload)-len(meta) <= telemetry.MaxMessage:
			if parts = parts[1:]; len(parts) > 0 {
				out = append(out, recordMore)
			}
			out = appendRecord(out, record, payload)
		case to-from <= 1:
			return out, fmt.Errorf("row %d of source %q: %w", from, msg.Source, telemetry.TooLarge)
		default:
			half := (from + to) / 2
			parts = append([][2]int{{from, half}, {half, to}}, parts[1:]...)
		}
	}
	return out, nil
}

// partOf returns the rows from … to of a snapshot, places first: the snapshot itself if
// that is all, or a sparse one.
func partOf(msg *telemetry.Snapshot, from, to int) *telemetry.Snapshot {
	places := len(msg.Rows.Places)
	if from == 0 && to == places+len(msg.Rows.Transitions) {
		return msg
	}
	part := *msg
	part.Full = false
	a, b := min(from, places), min(to, places)
	part.PlaceIndex, part.Rows.Places = indicesOf(msg.PlaceIndex, a, b), msg.Rows.Places[a:b]
	a, b = max(from-places, 0), max(to-places, 0)
	part.TransitionIndex, part.Rows.Transitions = indicesOf(msg.TransitionIndex, a, b), msg.Rows.Transitions[a:b]
	return &part
}

// indicesOf returns the indices of the rows from … to of a snapshot; nil stands for all rows.
func indicesOf(all []uint32, from, to int) []uint32 {
	if all != nil {
		return all[from:to]
	}
	return indices(from, to)
}

func indices(from, to int) []uint32 {
	out := make([]uint32, 0, to-from)
	for i := from; i < to; i++ {
		out = append(out, uint32(i))
	}
	return out
}

func appendRecord(out []byte, record byte, payload ...[]byte) []byte {
	n := 0
	for _, p := range payload {
		n += len(p)
	}
	out = binary.AppendUvarint(append(out, record), uint64(n))
	for _, p := range payload {
		out = append(out, p...)
	}
	return out
}
