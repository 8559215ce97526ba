// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// A state is a list of records: a byte for the kind, the length of the payload as
// a varint, the payload. The definition of a net comes first, then its sum, then
// its sources. Rows are in the order of that definition, in the format of the
// wire. Rows that do not fit one message are several records of sparse ones; the
// last is the one without recordMore.
//
// Config.Shown has only recordNet and recordShown of each net.
const (
	recordNet    = 'n' // savedNet as JSON, a newline, PNML
	recordSum    = 's' // counters of the net over all sources and processes: a snapshot
	recordShown  = 'v' // counters of the net as they were shown, if that is more: a snapshot
	recordSource = 'r' // savedSource, and the last rows of the source: a snapshot
	recordPast   = 'p' // savedPast as JSON
	recordSilent = 'q' // as recordSource, see Merger.Silent
	recordMore   = '+' // before a record with a part of the rows, unless it is the last part
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
)

// fields returns the numbers of a record.
func (s *savedSource) fields(record byte) []*int64 {
	f := []*int64{&s.received, &s.counted, &s.epoch, &s.seq, &s.messageAt, &s.rowsAt, &s.marks}
	if record == recordSilent {
		f = append(f, &s.silence, &s.rowsSilence)
	}
	return f
}

// appendTo appends the part of a record before its rows.
func (s *savedSource) appendTo(out []byte, record byte) []byte {
	out = append(binary.AppendUvarint(out, uint64(len(s.digest))), s.digest...)
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

// Saver makes states, and keeps what does not change between them.
type Saver struct {
	snapshots   snapshots             // of sums and shown counters
	definitions map[string]definition // by net
	size        int                   // of the last state
	savedAt     int64                 // when that was
	saved       uint64                // Merger.revision of the last state that was kept; 0 before
	kept        uint64                // the same of the last state or shown counters
}

// snapshots appends records of snapshots.
type snapshots struct {
	enc    telemetry.Encoder
	record []byte
}

// saveRate is the average number of bytes of states per second. The states of 800
// sources with 100 rows each are made every second, those of 10,000 every 12
// seconds.
const saveRate = 4 << 20

// restEvery is the time between two states while nothing changes, in microseconds. A state
// also holds until when its sources were silent: after the process was killed, they count as
// silent for at most this much less.
const restEvery = 60e6

// Due reports whether to make a whole state, and not only what is shown.
func (k *Saver) Due(m *Merger, now int64) bool {
	passed := now - k.savedAt
	return passed >= int64(k.size)*1e6/saveRate && (m.revision != k.saved || passed >= restEvery)
}

// Changed reports whether something changed since the last state or shown counters that were
// kept.
func (k *Saver) Changed(m *Merger) bool { return k.kept != m.revision }

// Note notes that a state was kept.
func (k *Saver) Note(kept *Saving, whole bool) {
	k.kept = kept.of
	if whole {
		k.saved = kept.of
	}
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

// source appends a source: the rows set aside for it, and its last rows.
func (k *snapshots) source(out []byte, n *net, s *source, d definition) (_ []byte, err error) {
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
		if out, err = k.rows(out, recordSource, kept.appendTo(nil, recordSource), msg); err != nil {
			return out, err
		}
	}
	msg, kept := s.last(n, d.digest)
	return k.rows(out, recordSource, kept.appendTo(nil, recordSource), msg)
}

func appendPast(out []byte, p savedPast) []byte {
	text, _ := json.Marshal(p) // strings and numbers never fail
	return appendRecord(out, recordPast, text)
}

// last returns the last rows of the source as one message, and what else is kept
// of it.
func (s *source) last(n *net, digest string) (*telemetry.Snapshot, savedSource) {
	s.rows.Grow(n.union.sizes())
	msg := &telemetry.Snapshot{Source: s.name, Net: n.name, Digest: digest, Region: s.region, Fence: s.fence, Since: s.since, State: s.standing, Remnants: s.told,
		Epoch: s.rowsEpoch, Seq: 1, SentAt: s.rowsAt - s.clock.least(), Interval: time.Duration(s.interval) * time.Microsecond,
		Full: true, Bye: s.left, Rows: *s.rows.Rows()}
	msg.Rows.Columns = s.columns
	if s.left {
		msg.Rows.Columns |= stats.ColOldest // the last injection stays
	}
	for i := range msg.Rows.Places { // as a Publisher does
		if l := &msg.Rows.Places[i].Ages; len(l.Slots) > 0 {
			msg.SentAt = max(msg.SentAt, l.At*stats.SlotWidth)
		}
	}
	msg.SentAt = max(msg.SentAt, 1)
	kept := savedSource{digest: s.digest, received: msg.SentAt + s.clock.least(), counted: s.countedUpTo(), epoch: s.epoch, seq: int64(s.seq), messageAt: s.messageAt, rowsAt: s.rowsAt}
	if s.complete {
		kept.marks |= markComplete
	}
	if s.unread {
		kept.marks |= markUnread
	}
	if s.state == Stale {
		kept.marks |= markStale
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

// partOf returns the rows from … to of a full snapshot, places first: the snapshot
// itself if that is all, or a sparse one.
func partOf(msg *telemetry.Snapshot, from, to int) *telemetry.Snapshot {
	places := len(msg.Rows.Places)
	if from == 0 && to == places+len(msg.Rows.Transitions) {
		return msg
	}
	part := *msg
	part.Full = false
	a, b := min(from, places), min(to, places)
	part.PlaceIndex, part.Rows.Places = indices(a, b), msg.Rows.Places[a:b]
	a, b = max(from-places, 0), max(to-places, 0)
	part.TransitionIndex, part.Rows.Transitions = indices(a, b), msg.Rows.Transitions[a:b]
	return &part
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
