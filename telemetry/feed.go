// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"errors"
	"fmt"

	"github.com/pnagent/pnagent/stats"
)

// fullEvery is how often a message holds every row.
const fullEvery = 10

// feed makes the messages of one source about one net: it finds the rows that
// changed, numbers the messages and splits what does not fit one. It is pure;
// the Publisher around it has the clock and the connection.
type feed struct {
	head  Snapshot   // what all messages have in common
	size  [2]int     // places and transitions of the net
	next  stats.Rows // to be sent
	last  stats.Rows // sent before; the reader has them if inStep
	seq   uint64
	since int // messages since the last full one

	inStep bool

	enc Encoder
	buf []byte
	// The index of the rows that changed, and those rows.
	places, transitions []uint32
	changed             stats.Rows
}

// errTooLarge is the reason why rows were not sent.
var errTooLarge = errors.New("does not fit a message")

// blank returns the rows to fill in: zeros, of the net's size. They are new
// memory each time, so the caller may keep them.
func (f *feed) blank() *stats.Rows {
	f.next = *stats.NewRows(f.size[0], f.size[1])
	return &f.next
}

// send sends the rows that blank returned, as of now: those that changed, or
// all of them if full is set or the reader may lack some. Messages are at most
// limit bytes. After an error the next call sends all rows.
func (f *feed) send(now int64, full, bye bool, limit int, send func(payload []byte) error) error {
	if len(f.next.Places) != f.size[0] || len(f.next.Transitions) != f.size[1] {
		return fmt.Errorf("rows of %d places and %d transitions, for a net of %d and %d",
			len(f.next.Places), len(f.next.Transitions), f.size[0], f.size[1])
	}
	full = full || bye || !f.inStep || f.since >= fullEvery-1 || f.next.Columns != f.last.Columns
	s := f.head
	s.SentAt, s.Full, s.Bye = sentAt(now, &f.next), full, bye
	if full {
		s.Rows = f.next
	} else {
		f.findChanged()
		s.PlaceIndex, s.TransitionIndex, s.Rows = f.places, f.transitions, f.changed
	}
	f.inStep = false
	if err := f.sendWhole(&s, limit, send); err != nil {
		return fmt.Errorf("snapshot %d of net %q: %w", f.seq, s.Net, err)
	}
	f.inStep = true
	f.since++
	if full {
		f.since = 0
	}
	f.last, f.next = f.next, stats.Rows{}
	return nil
}

// sentAt returns now, or the time that a ladder was cut for if that is later.
// Sums of other sources are cut by their clocks, which may be ahead by a slot.
func sentAt(now int64, rows *stats.Rows) int64 {
	for i := range rows.Places {
		if l := &rows.Places[i].Ages; len(l.Slots) > 0 {
			now = max(now, l.At*stats.SlotWidth)
		}
	}
	return now
}

func (f *feed) findChanged() {
	f.places, f.transitions = f.places[:0], f.transitions[:0]
	places, transitions := f.changed.Places[:0], f.changed.Transitions[:0]
	for i := range f.next.Places {
		if p := &f.next.Places[i]; !p.Equal(&f.last.Places[i]) {
			f.places, places = append(f.places, uint32(i)), append(places, *p)
		}
	}
	for i := range f.next.Transitions {
		if t := &f.next.Transitions[i]; !t.Equal(&f.last.Transitions[i]) {
			f.transitions, transitions = append(f.transitions, uint32(i)), append(transitions, *t)
		}
	}
	f.changed = stats.Rows{Net: f.next.Net, Places: places, Transitions: transitions,
		Blocks: f.next.Blocks, Queues: f.next.Queues, Waiting: f.next.Waiting, Columns: f.next.Columns}
}

// sendWhole sends a snapshot as one message, or as several sparse ones.
func (f *feed) sendWhole(s *Snapshot, limit int, send func([]byte) error) error {
	fits, err := f.sendOne(s, limit, send)
	if fits || err != nil {
		return err
	}
	// Blocks are in every message: they must leave room for rows.
	bare := *s
	bare.Full, bare.PlaceIndex, bare.TransitionIndex = false, nil, nil
	bare.Rows.Places, bare.Rows.Transitions = nil, nil
	if f.buf, err = f.enc.Append(f.buf[:0], &bare); err != nil {
		return err
	}
	if len(f.buf) > limit/2 {
		return fmt.Errorf("%d blocks: %w: %d bytes, of at most half of %d", len(s.Rows.Blocks), errTooLarge, len(f.buf), limit)
	}
	parts := *s
	if s.Full {
		parts.Full, parts.PlaceIndex, parts.TransitionIndex = false, rising(f.size[0]), rising(f.size[1])
	}
	return f.sendHalves(&parts, limit, send)
}

// sendHalves sends each half of a sparse snapshot's rows, split again until it
// fits. A row that does not fit alone is left out and named in the error; the
// others are sent.
func (f *feed) sendHalves(s *Snapshot, limit int, send func([]byte) error) error {
	places, n := len(s.Rows.Places), len(s.Rows.Places)+len(s.Rows.Transitions)
	if n <= 1 {
		return fmt.Errorf("row of place %v or transition %v: %w of %d bytes", s.PlaceIndex, s.TransitionIndex, errTooLarge, limit)
	}
	var errs []error
	for _, half := range [2][2]int{{0, n / 2}, {n / 2, n}} {
		part := *s
		from, to := min(half[0], places), min(half[1], places)
		part.PlaceIndex, part.Rows.Places = s.PlaceIndex[from:to], s.Rows.Places[from:to]
		from, to = max(half[0]-places, 0), max(half[1]-places, 0)
		part.TransitionIndex, part.Rows.Transitions = s.TransitionIndex[from:to], s.Rows.Transitions[from:to]
		fits, err := f.sendOne(&part, limit, send)
		if !fits && err == nil {
			err = f.sendHalves(&part, limit, send)
		}
		if err != nil && !errors.Is(err, errTooLarge) {
			return err
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// sendOne sends a snapshot if it fits one message, and reports whether it did.
func (f *feed) sendOne(s *Snapshot, limit int, send func([]byte) error) (fits bool, err error) {
	s.Seq = f.seq + 1
	if f.buf, err = f.enc.Append(f.buf[:0], s); err != nil {
		return false, err
	}
	if len(f.buf) > limit {
		return false, nil
	}
	f.seq++
	return true, send(f.buf)
}

// rising returns 0, 1, 2 … n-1.
func rising(n int) []uint32 {
	out := make([]uint32, n)
	for i := range out {
		out[i] = uint32(i)
	}
	return out
}
