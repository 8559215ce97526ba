// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/pnagent/pnagent/stats"
)

// fieldAges is the field of the ladders of places.
const fieldAges = 10

// The fields of ladders.
const (
	ladderLen = 1 + iota
	ladderStart
	ladderCount
)

// appendAges appends the ladders of some places, cut for at.
func (e *Encoder) appendAges(b []byte, rows []stats.Place, at int64) ([]byte, error) {
	c := &e.columns
	c.reset()
	for i := range rows {
		l := &rows[i].Ages
		if len(l.Slots) > 0 && l.At > at {
			return nil, fmt.Errorf("%w: age ladder %d cut for a time after sent_at", BadValue, i)
		}
		if l.At < at {
			l.CutFor(at, &e.cut)
			l = &e.cut
		}
		c[ladderLen] = appendVarint(c[ladderLen], uint64(len(l.Slots)))
		last := int64(0)
		for _, slot := range l.Slots {
			c[ladderStart] = appendVarint(c[ladderStart], protowire.EncodeZigZag(slot.Start-last))
			c[ladderCount] = appendVarint(c[ladderCount], slot.N)
			last = slot.Start
		}
	}
	return c.append(b, fieldAges), nil
}

// readAges sets the ladders, which are cut for at. They are empty if the column is absent.
func (t *table) readAges(rows []stats.Place, at int64) error {
	f := t.f[fieldAges].fields
	if f[ladderLen].count == 0 {
		if f[ladderStart].count+f[ladderCount].count > 0 {
			return fmt.Errorf("%w: start and count without len", BadColumns)
		}
		for i := range rows {
			rows[i].Ages = stats.Ladder{Slots: rows[i].Ages.Slots[:0]}
		}
		return nil
	}
	lens, err := t.readLens(&f[ladderLen], f[ladderStart].count, f[ladderCount].count)
	if err != nil {
		return err
	}
	starts, counts := t.d.unpacked(1, &f[ladderStart]), t.d.unpacked(2, &f[ladderCount])
	for i, v := range lens {
		n, l := int(uint32(v)), &rows[i].Ages
		l.At, l.Slots = at, resize(l.Slots, n)
		begin := int64(0)
		for j := range l.Slots {
			begin += protowire.DecodeZigZag(starts[j])
			l.Slots[j] = stats.Slot{Start: begin, N: counts[j]}
			if counts[j] > MaxCount {
				return fmt.Errorf("%w: count of row %d beyond %d", BadValue, i, uint64(MaxCount))
			}
		}
		if !l.Valid() {
			return fmt.Errorf("%w: slots of row %d: filled, rising and as cut for sent_at", BadValue, i)
		}
		starts, counts = starts[n:], counts[n:]
	}
	*t.known |= stats.ColAges
	return nil
}
