// SPDX-License-Identifier: Apache-2.0

package history

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/stats"
)

// Frame is what is kept of a net at one moment: of Rows the numbers of placeNumbers and
// transitionNumbers, Blocked, and of Rates Arrivals and Transitions[i].Now. These are since the frame
// before, a second; merge.UnknownRate without one, of a new row, and of a counter that fell.
// A column outside Rows.Columns is not known; its numbers are zeros.
type Frame struct {
	At int64 // microseconds since the Unix epoch
	*merge.NetView
}

// counted are the counters of a frame from which the next one has rates.
type counted struct {
	at                int64
	arrivals, firings []uint64
}

// rates returns the rates of counters, from those of the frame before.
func rates(before, now []uint64, micros int64) []float64 {
	out := slices.Repeat([]float64{merge.UnknownRate}, len(now))
	for i := range min(len(now), len(before)) {
		out[i] = merge.RateBetween(before[i], now[i], micros)
	}
	return out
}

// reader reads the frames of a block. The values are those of the frame that next
// read last.
type reader struct {
	rest    []byte
	want    uint16 // columns to read, a bit each; the others are skipped
	at      int64
	columns stats.Columns
	values  values
}

// everything is every column.
const everything uint16 = 1<<columns - 1

func (b *block) reader(want uint16) *reader { return &reader{rest: b.text, want: want} }

// next reads a frame. It panics on bytes that encode did not write.
func (d *reader) next() bool {
	if len(d.rest) == 0 {
		return false
	}
	d.at += int64(d.uvarint())
	d.columns = stats.Columns(d.uvarint())
	places, transitions := int(d.uvarint()), int(d.uvarint())
	for c := range d.values {
		length := int(d.uvarint())
		if d.want&(1<<c) == 0 {
			d.rest = d.rest[length:]
			continue
		}
		d.column(c, rowsOf(c, places, transitions), len(d.rest)-length)
	}
	return true
}

// column reads a column of n rows that ends when left bytes remain.
func (d *reader) column(c, n, left int) {
	v := d.values[c]
	for len(v) < n {
		v = append(v, 0)
	}
	v = v[:n]
	d.values[c] = v
	for at := -1; len(d.rest) > left; {
		at += int(d.uvarint())
		by := d.uvarint()
		v[at] += by>>1 ^ -(by & 1) // zigzag, as in binary.AppendVarint
	}
}

func (d *reader) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		panic(fmt.Sprintf("history: invalid block, %d bytes before its end", len(d.rest)))
	}
	d.rest = d.rest[n:]
	return v
}

func (d *reader) counted() counted {
	return counted{d.at, slices.Clone(d.values[colArrivals]), slices.Clone(d.values[colFirings])}
}

// frame returns the frame that was read, if want was everything.
func (d *reader) frame(before counted) *Frame {
	v := &d.values
	rows := stats.NewRows(len(v[colTokens]), len(v[colFirings]))
	rows.Columns = d.columns
	for c := range placeNumbers {
		placeNumbers[c].Write(rows.Places, v[c])
	}
	for c := range transitionNumbers {
		transitionNumbers[c].Write(rows.Transitions, v[colFirings+c])
	}
	n := &merge.NetView{Rows: rows, Rates: &merge.Rates{Arrivals: rates(before.arrivals, v[colArrivals], d.at-before.at), Transitions: make([]merge.Rate, len(rows.Transitions))}}
	n.Blocked = v[colBlocked]
	for i, rate := range rates(before.firings, v[colFirings], d.at-before.at) {
		n.Rates.Transitions[i].Now = rate
	}
	return &Frame{d.at, n}
}

// youngest returns the counters of the last frame of a block.
func (b *block) youngest() counted {
	d := b.reader(1<<colArrivals | 1<<colFirings)
	for range b.frames {
		d.next()
	}
	return d.counted()
}
