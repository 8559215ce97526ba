// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
)

// cursor is what is left to read of a record.
type cursor []byte

func (c *cursor) next() uint64 {
	v, at := number(*c, 0)
	*c = (*c)[at:]
	return v
}

// number reads the number at an index, and returns the index of the next one.
func number(c cursor, at int) (v uint64, next int) {
	if v = uint64(c[at]); v < 0x80 {
		return v, at + 1
	}
	return longNumber(c, at)
}

func longNumber(c cursor, at int) (v uint64, next int) {
	if second := uint64(c[at+1]); second < 0x80 {
		return second<<7 | uint64(c[at])&0x7f, at + 2
	}
	if at+8 <= len(c) {
		word := binary.LittleEndian.Uint64(c[at:])
		if ends := ^word & 0x8080808080808080; ends != 0 { // the highest bit of its last byte is the lowest one
			n := bits.TrailingZeros64(ends)/8 + 1
			return sevens(word & (ends ^ (ends - 1))), at + n
		}
	}
	v, n := binary.Uvarint(c[at:])
	return v, at + n
}

// sevens joins the lower seven bits of each byte, the first byte lowest.
func sevens(word uint64) uint64 {
	word = word&0x007f007f007f007f | word&0x7f007f007f007f00>>1
	word = word&0x00003fff00003fff | word&0x3fff00003fff0000>>2
	return word&0x0fffffff | word&0x0fffffff00000000>>4
}

func (c *cursor) skip(numbers int) {
	for range numbers {
		c.next()
	}
}

// numbers reads numbers, of which those behind the counts are times: see appendNumbers. They stay as
// they are without a record.
func (c *cursor) numbers(into []uint64, counts int, begun int64) {
	if len(*c) == 0 {
		return
	}
	b, at := *c, 0
	for i := range into {
		v := uint64(b[at])
		at++
		if v >= 0x80 { // as number does, without a call for most
			v, at = longNumber(b, at-1)
		}
		into[i] = v
	}
	*c = b[at:]
	for i, v := range into[counts:] {
		if v == 0 {
			continue
		}
		t := begun + unzigzag(v)
		if t == 0 {
			t = begun
		}
		into[counts+i] = uint64(t)
	}
}

// place reads into a row, using its memory again. It leaves out a Dwell that has the same bytes as dwell, unless that is
// nil, and reports whether it did.
func (c cursor) place(into *Place, begun int64, dwell []byte) (same bool) {
	slots, buckets := into.Ages.Slots[:0], into.Dwell.Buckets[:0]
	*into = Place{}
	into.Ages.Slots, into.Dwell.Buckets = slots, buckets
	if len(c) == 0 {
		return false
	}
	c.numbers(PlaceTable.numbers(into), placeCounts, begun)
	into.Injected = TimeSum{Sec: c.next(), Micro: c.next()}
	same = c.histogramBut(&into.Dwell, dwell)
	c.ladder(&into.Ages)
	return same
}

// transition reads into a row, as place does.
func (c cursor) transition(into *Transition, begun int64, duration []byte) (same bool) {
	buckets := into.Duration.Buckets[:0]
	*into = Transition{}
	into.Duration.Buckets = buckets
	if len(c) == 0 {
		return false
	}
	c.numbers(TransitionTable.numbers(into), transitionCounts, begun)
	return c.histogramBut(&into.Duration, duration)
}

// hasAges reports whether a ladder is that of a row.
func (c cursor) hasAges(l *Ladder) bool {
	if c[0] == 0 || len(l.Slots) == 0 {
		return int(c[0]) == len(l.Slots)
	}
	var own Ladder
	c.ladder(&own)
	return own.Equal(l)
}

// ladder reads into an empty ladder.
func (c *cursor) ladder(l *Ladder) {
	n := c.next()
	if n == 0 {
		return
	}
	l.At = int64(c.next())
	l.Slots = slices.Grow(l.Slots, int(n))[:n]
	prev, at := l.At, 0
	for i := range l.Slots {
		var distance, count uint64
		distance, at = number(*c, at)
		count, at = number(*c, at)
		prev += unzigzag(distance)
		l.Slots[i] = Slot{Start: prev, N: count}
	}
	*c = (*c)[at:]
}

// histogramBut reads into an empty histogram, unless it has the given bytes, and reports whether it has.
func (c *cursor) histogramBut(h *Histogram, known []byte) (same bool) {
	if known != nil && bytes.HasPrefix(*c, known) {
		*c = (*c)[len(known):]
		return true
	}
	c.histogram(h)
	return false
}

// histogram reads into an empty histogram.
func (c *cursor) histogram(h *Histogram) {
	schema, at := number(*c, 0)
	h.Schema = int8(unzigzag(schema))
	h.Zero, at = number(*c, at)
	h.Sum, at = number(*c, at)
	n, at := number(*c, at)
	h.Buckets = slices.Grow(h.Buckets, int(n))[:n]
	b, prev := *c, int32(0)
	for i := range h.Buckets {
		distance, count := uint64(b[at]), uint64(b[at+1])
		if distance|count < 0x80 { // as most
			at += 2
		} else {
			distance, at = number(b, at)
			count, at = number(b, at)
		}
		prev += int32(unzigzag(distance))
		h.Buckets[i] = Bucket{Index: prev, N: count}
	}
	*c = b[at:]
}

func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }
