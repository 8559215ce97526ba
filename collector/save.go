// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// A state is a list of records: a byte that says what it is, the length of the
// payload as a varint, the payload. A net's definition comes first, then its
// sum, then its sources. Rows are in the order of that definition. Their form is
// that of the wire; where they do not fit one message, there are several
// records of sparse ones, and the last is the one without recordMore.
//
// What was shown, see Config.Shown, has of each net recordNet and recordShown
// alone.
const (
	recordNet    = 'n' // savedNet as JSON, a newline, PNML
	recordSum    = 's' // counters of the net over all that was ever heard: a snapshot
	recordShown  = 'v' // counters of the net as they were shown, where that is more: a snapshot
	recordSource = 'r' // savedSource, and all that the source said last: a snapshot
	recordPast   = 'p' // savedPast as JSON
	recordSilent = 'q' // as recordSource, see Merger.Silent
	recordMore   = '+' // before another one of the same: a part of its rows
)

// savedNet is what is kept of a net beside its rows.
type savedNet struct {
	ID      string        `json:"id"`
	Since   int64         `json:"since"`
	Columns stats.Columns `json:"columns"`      // of what was counted by those that are gone
	At      int64         `json:"at,omitempty"` // of Merger.Silent: when it was called

	Regions []savedRegion `json:"regions,omitempty"`
}

// savedRegion is who has a region.
type savedRegion struct {
	Region  string `json:"region"`
	Fence   uint64 `json:"fence"`
	Owner   string `json:"owner"`
	Counted int64  `json:"counted,omitempty"`
}

// savedSource is what is kept of a source beside its rows: the digest of its own
// definition as a length and a text, then varints.
type savedSource struct {
	digest                                              string
	received, counted, epoch, seq, heard, rowsAt, marks int64
	silence, rowsSilence                                int64 // of recordSilent: how long nothing was heard, and taken into the rows
}

// The marks of a source.
const (
	markComplete = 1 << iota
	markUnread
	markStale
	markOrphan
)

// fields are the numbers of a record.
func (s *savedSource) fields(record byte) []*int64 {
	f := []*int64{&s.received, &s.counted, &s.epoch, &s.seq, &s.heard, &s.rowsAt, &s.marks}
	if record == recordSilent {
		f = append(f, &s.silence, &s.rowsSilence)
	}
	return f
}

// appendTo appends what comes before the rows in a record.
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
}

// sumColumns are those of a net's sum that go on after it: counters, and the
// last times.
const sumColumns = counterColumns | stats.ColOldest

// sumName stands in for the name of a source in a net's sum.
const sumName = "sum"

// saver makes states. It keeps what does not change from one to the next.
type saver struct {
	enc         telemetry.Encoder
	definitions map[string]definition // by net
	record      []byte
	size        int   // of the last state
	savedAt     int64 // when that was
}

// saveRate is how many bytes a second, on average, the states of a collector
// take: those of 800 sources with 100 rows each are made every second, those of
// 10,000 every 12 seconds.
const saveRate = 4 << 20

// due reports whether a state is to be made, and not only what is shown.
func (k *saver) due(now int64) bool { return now-k.savedAt >= int64(k.size)*1e6/saveRate }

// definition is a union of definitions as PNML.
type definition struct {
	of     *petri.Net
	pnml   []byte
	digest string
}

// save returns the state as of the last tick. A net that is no valid net, see
// Net.Published, is not in it, and told in the error.
func (k *saver) save(m *Merger) ([]byte, error) {
	out, err := k.nets(make([]byte, 0, k.size+k.size/8), m, k.net)
	k.size, k.savedAt = len(out), m.view.At
	return out, err
}

// shown returns what the last tick shows, without the sources.
func (k *saver) shown(m *Merger) ([]byte, error) { return k.nets(nil, m, k.shownNet) }

// nets appends each net.
func (k *saver) nets(out []byte, m *Merger, one func([]byte, *net, definition, int64) ([]byte, error)) ([]byte, error) {
	var errs []error
	for _, name := range m.names() {
		n := m.nets[name]
		if n.shown == nil {
			continue
		}
		d, err := k.define(n)
		if err == nil {
			out, err = one(out, n, d, m.view.At)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("net %q: %w", name, err))
		}
	}
	return out, errors.Join(errs...)
}

// shownNet appends what is shown of a net.
func (k *saver) shownNet(out []byte, n *net, d definition, now int64) ([]byte, error) {
	head, err := json.Marshal(savedNet{ID: n.name, Since: n.since})
	if err != nil {
		return out, err
	}
	whole := len(out)
	out = appendRecord(out, recordNet, head, []byte("\n"), d.pnml)
	if out, err = k.counters(out, recordShown, n, d, n.shown.Rows, now); err != nil {
		return out[:whole], err
	}
	return out, nil
}

// counters appends those of rows.
func (k *saver) counters(out []byte, record byte, n *net, d definition, rows *stats.Rows, now int64) ([]byte, error) {
	return k.rows(out, record, nil, &telemetry.Snapshot{Source: sumName, Net: n.name, Digest: d.digest, Epoch: 1, Seq: 1, SentAt: now,
		Interval: time.Second, Full: true, Rows: *countersOf(rows)})
}

func (k *saver) define(n *net) (definition, error) {
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

// net appends a net, all of it or nothing.
func (k *saver) net(out []byte, n *net, d definition, now int64) ([]byte, error) {
	kept := savedNet{ID: n.name, Since: n.since, Columns: n.base.Columns & counterColumns}
	for region, f := range n.fences {
		kept.Regions = append(kept.Regions, savedRegion{Region: region, Fence: f.fence, Owner: f.owner, Counted: f.counted})
	}
	head, err := json.Marshal(kept)
	if err != nil {
		return out, err
	}
	whole := len(out)
	out = appendRecord(out, recordNet, head, []byte("\n"), d.pnml)
	if out, err = k.counters(out, recordSum, n, d, n.sums, now); err != nil {
		return out[:whole], err
	}
	if n.floor != nil {
		if out, err = k.counters(out, recordShown, n, d, n.shown.Rows, now); err != nil {
			return out[:whole], err
		}
	}
	for _, s := range slices.Concat(n.orphans, n.order) {
		if s.rows == nil {
			out = appendPast(out, savedPast{Source: s.name, Epoch: s.epoch, Seq: s.seq, Counted: s.countedUpTo()})
			continue
		}
		msg, kept := s.said(n, d.digest)
		if out, err = k.rows(out, recordSource, kept.appendTo(nil, recordSource), msg); err != nil {
			return out[:whole], err
		}
	}
	for name, p := range n.past {
		out = appendPast(out, savedPast{Source: name, Epoch: p.epoch, Seq: p.seq, Counted: p.counted})
	}
	return out, nil
}

func appendPast(out []byte, p savedPast) []byte {
	text, _ := json.Marshal(p) // of a string and numbers: never fails
	return appendRecord(out, recordPast, text)
}

// said returns all that the source said last as one message, and what else is
// known of it.
func (s *source) said(n *net, digest string) (*telemetry.Snapshot, savedSource) {
	grow(s.rows, len(n.union.def.Places), len(n.union.def.Transitions))
	msg := &telemetry.Snapshot{Source: s.name, Net: n.name, Digest: digest, Region: s.region, Fence: s.fence, Since: s.since, State: s.standing,
		Epoch: s.rowsEpoch, Seq: 1, SentAt: s.rowsAt - s.clock.least(), Interval: time.Duration(s.interval) * time.Microsecond,
		Full: true, Bye: s.left, Rows: *s.rows}
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
	kept := savedSource{digest: s.digest, received: msg.SentAt + s.clock.least(), counted: s.countedUpTo(), epoch: s.epoch, seq: int64(s.seq), heard: s.heard, rowsAt: s.rowsAt}
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

// countersOf returns those of rows.
func countersOf(rows *stats.Rows) *stats.Rows {
	out := stats.NewRows(len(rows.Places), len(rows.Transitions))
	for i := range rows.Places {
		p := &rows.Places[i]
		out.Places[i] = stats.Place{Arrivals: p.Arrivals, Departures: p.Departures, LastInjection: p.LastInjection, Dwell: p.Dwell}
	}
	for i := range rows.Transitions {
		t := &rows.Transitions[i]
		out.Transitions[i] = stats.Transition{Firings: t.Firings, Failures: t.Failures, Retries: t.Retries, Cancels: t.Cancels,
			Timeouts: t.Timeouts, Late: t.Late, LastFiring: t.LastFiring, Duration: t.Duration}
	}
	out.Net = stats.Net{Created: rows.Net.Created, Finished: rows.Net.Finished, Failed: rows.Net.Failed}
	out.Queues = stats.MergeQueues(nil, rows.Queues)
	withdrawQueues(out.Queues)
	out.Columns = rows.Columns & sumColumns
	return out
}

// rows appends a snapshot, in parts if it is too large for a message.
func (k *saver) rows(out []byte, record byte, meta []byte, msg *telemetry.Snapshot) ([]byte, error) {
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

// partOf returns the rows from … to of a full snapshot, places first: itself if
// that is all, or a sparse one.
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
