// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry/wire"
)

// Encoder encodes snapshots. It reuses its buffers; the zero Encoder is ready.
// It is for one goroutine.
type Encoder struct {
	columns columns
	cut     stats.Ladder
	binary  []byte // of the JSON lane
	err     error  // of a text
}

// Append appends the snapshot's protobuf form to dst. Fields are in the order of their
// numbers, as protobuf libraries write them.
func (e *Encoder) Append(dst []byte, s *Snapshot) ([]byte, error) {
	e.err = nil
	err := e.check(s)
	out := dst
	if err == nil {
		out, err = e.append(dst, s)
	}
	if err == nil {
		err = e.err
	}
	if err != nil {
		return dst, fmt.Errorf("encode snapshot of %q: %w", s.Net, err)
	}
	return out, nil
}

// AppendJSON appends the snapshot's form in the JSON lane to dst.
func (e *Encoder) AppendJSON(dst []byte, s *Snapshot) ([]byte, error) {
	var err error
	e.binary, err = e.Append(e.binary[:0], s)
	if err != nil {
		return dst, err
	}
	out, err := wire.AppendJSON(dst, "Snapshot", e.binary, false)
	if err != nil {
		return dst, fmt.Errorf("encode snapshot of %q: %w", s.Net, err)
	}
	return out, nil
}

// check rejects a snapshot that a Decoder would read differently.
func (e *Encoder) check(s *Snapshot) error {
	places, transitions := len(s.Rows.Places), len(s.Rows.Transitions)
	switch {
	case places > MaxRows || transitions > MaxRows:
		return fmt.Errorf("%w: %d places and %d transitions, of at most %d", TooMany, places, transitions, MaxRows)
	case s.Full && (len(s.PlaceIndex) > 0 || len(s.TransitionIndex) > 0):
		return fmt.Errorf("%w: a full snapshot has no index", BadIndex)
	case !s.Full && (len(s.PlaceIndex) != places || len(s.TransitionIndex) != transitions):
		return fmt.Errorf("%w: %d places and %d transitions with an index of %d and %d",
			BadIndex, places, transitions, len(s.PlaceIndex), len(s.TransitionIndex))
	case s.Full && places > 0 && s.Rows.Columns&placeColumns&^(stats.ColStuck|stats.ColGroups) == 0 && s.Rows.Columns&placeColumns != 0:
		return fmt.Errorf("%w: stuck tokens alone do not give the number of places", BadColumns)
	case !stats.ValidQueues(s.Rows.Queues):
		return fmt.Errorf("%w: priorities of queues rise and are below %d", BadIndex, stats.Priorities)
	}
	return checkRegion(s)
}

func (e *Encoder) append(b []byte, s *Snapshot) ([]byte, error) {
	var err error
	r := &s.Rows
	b = e.text(b, fieldSource, s.Source)
	b = appendNumber(b, fieldEpoch, s.Epoch)
	b = appendNumber(b, fieldSeq, s.Seq)
	b = appendNumber(b, fieldSentAt, s.SentAt)
	b = appendNumber(b, fieldInterval, s.Interval.Microseconds())
	b = e.text(b, fieldNet, s.Net)
	b = e.text(b, fieldDigest, s.Digest)
	b = e.text(b, fieldRegion, s.Region)
	b = appendNumber(b, fieldFence, s.Fence)
	b = appendTrue(b, fieldFull, s.Full)
	if len(r.Places) > 0 {
		b, err = e.appendPlaces(b, s)
	}
	if len(r.Transitions) > 0 {
		b = e.appendTransitions(b, s)
	}
	if r.Columns.Has(stats.ColInstances) {
		var start int
		b, start = beginField(b, fieldRow)
		b = endField(appendRow(b, netNumbers, &r.Net), start)
	}
	if r.Columns.Has(stats.ColBlocks) {
		b = appendBlocks(b, r.Blocks)
	}
	b = appendTrue(b, fieldBye, s.Bye)
	if r.Columns.Has(stats.ColQueues) {
		b = appendQueues(b, r.Queues)
	}
	if r.Columns.Has(stats.ColWaiting) {
		b = appendKnown(b, fieldWaiting, r.Waiting)
	}
	b = appendNumber(b, fieldSince, s.Since)
	b = e.appendRegion(b, s.State)
	b = appendRefused(b, s.Refused)
	return e.appendRemnants(b, s.Remnants), err
}

func (e *Encoder) appendPlaces(b []byte, s *Snapshot) ([]byte, error) {
	var err error
	rows, c := s.Rows.Places, s.Rows.Columns
	b, start := beginField(b, fieldPlaces)
	b = appendIndex(b, fieldIndex, s.PlaceIndex)
	b = appendColumns(b, placeNumbers, rows, c, fieldIndex, fieldAges)
	if c.Has(stats.ColAges) {
		b, err = e.appendAges(b, rows, s.SentAt/stats.SlotWidth)
	}
	d := dwells(rows)
	if c.Has(stats.ColDwell) {
		b = e.appendHistograms(b, &d)
	}
	if c&(stats.ColStuck|stats.ColGroups) != 0 {
		b = e.appendStuck(b, s)
	}
	if c.Has(stats.ColDwell) {
		b = e.appendSlowest(b, &d, s.PlaceIndex)
	}
	if err != nil {
		return nil, err
	}
	return endField(b, start), nil
}

func (e *Encoder) appendTransitions(b []byte, s *Snapshot) []byte {
	rows, c := s.Rows.Transitions, s.Rows.Columns
	b, start := beginField(b, fieldTransitions)
	b = appendIndex(b, fieldIndex, s.TransitionIndex)
	b = appendColumns(b, transitionNumbers, rows, c, fieldIndex, fieldDurations)
	d := durationsOf(rows)
	if c.Has(stats.ColDuration) {
		b = e.appendHistograms(b, &d)
	}
	b = appendColumns(b, transitionNumbers, rows, c, fieldDurations, d.slowNum)
	if c.Has(stats.ColDuration) {
		b = e.appendSlowest(b, &d, s.TransitionIndex)
	}
	b = appendColumns(b, transitionNumbers, rows, c, d.slowNum, 1<<29-1)
	return endField(b, start)
}
