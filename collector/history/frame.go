// SPDX-License-Identifier: Apache-2.0

package history

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/stats"
)

// Frame is what is kept of a net at one moment. A column outside Columns is not
// known; its numbers are zeros.
type Frame struct {
	At          int64 // microseconds since the Unix epoch
	Columns     stats.Columns
	Places      []Place
	Transitions []Transition
	// Arrivals of tokens by place and Firings by transition are rates since the frame
	// before, a second; merge.UnknownRate without one, of a new row, and of a counter
	// that fell.
	Arrivals, Firings []float64
}

// since sets the rates from the frame before; nil for none.
func (f *Frame) since(before *Frame) {
	if before == nil {
		before = &Frame{}
	}
	unknown := []float64{merge.UnknownRate}
	f.Arrivals, f.Firings = slices.Repeat(unknown, len(f.Places)), slices.Repeat(unknown, len(f.Transitions))
	micros := f.At - before.At
	for i := range min(len(f.Places), len(before.Places)) {
		f.Arrivals[i] = merge.RateBetween(before.Places[i].Arrivals, f.Places[i].Arrivals, micros)
	}
	for i := range min(len(f.Transitions), len(before.Transitions)) {
		f.Firings[i] = merge.RateBetween(before.Transitions[i].Firings, f.Transitions[i].Firings, micros)
	}
}

// Place is what is kept of a place.
type Place struct {
	Tokens    uint64
	Oldest    int64 // injection of the oldest token; 0 if there is none
	Instances uint64
	Arrivals  uint64 // cumulative
}

// Transition is what is kept of a transition.
type Transition struct {
	Firings      uint64 // cumulative
	Enabled      uint64
	EnabledSince int64 // 0 if it is enabled nowhere
	Running      uint64
	Blocked      uint64 // instances blocked by the condition that blocks most of them
	Failures     uint64 // cumulative
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

// frame returns the frame that was read, if want was everything.
func (d *reader) frame() *Frame {
	f := &Frame{At: d.at, Columns: d.columns, Places: make([]Place, len(d.values[colTokens])), Transitions: make([]Transition, len(d.values[colFirings]))}
	v := &d.values
	for i := range f.Places {
		f.Places[i] = Place{v[colTokens][i], int64(v[colOldest][i]), v[colInstances][i], v[colArrivals][i]}
	}
	for i := range f.Transitions {
		f.Transitions[i] = Transition{v[colFirings][i], v[colEnabled][i], int64(v[colSince][i]), v[colRunning][i], v[colBlocked][i], v[colFailures][i]}
	}
	return f
}

// youngest returns the last frame of a block.
func (b *block) youngest() *Frame {
	d := b.reader(everything)
	for range b.frames {
		d.next()
	}
	return d.frame()
}
