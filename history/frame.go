// SPDX-License-Identifier: Apache-2.0

package history

import (
	"encoding/binary"
	"fmt"

	"github.com/pnagent/pnagent/stats"
)

// Frame is what was kept of a net at one moment. A column that is not of
// Columns is not known; its numbers are zeros.
type Frame struct {
	At          int64 // microseconds since the Unix epoch
	Columns     stats.Columns
	Places      []Place
	Transitions []Transition
}

// Place is what is kept of a place.
type Place struct {
	Tokens    uint64
	Oldest    int64 // injection of the oldest token; 0 without one
	Instances uint64
	Arrivals  uint64 // cumulative
}

// Transition is what is kept of a transition.
type Transition struct {
	Firings      uint64 // cumulative
	Enabled      uint64
	EnabledSince int64 // 0 if it is enabled nowhere
	Running      uint64
	Blocked      uint64 // instances that the condition holds back which holds back most
	Failures     uint64 // cumulative
}

// reader goes through the frames of a block. The values are those of the frame
// that next has read.
type reader struct {
	rest    []byte
	at      int64
	columns stats.Columns
	values  values
}

func (b *block) reader() *reader { return &reader{rest: b.text} }

// next reads a frame. The bytes are those that encode wrote: others are a fault
// of this package.
func (d *reader) next() bool {
	if len(d.rest) == 0 {
		return false
	}
	d.at += int64(d.uvarint())
	d.columns = stats.Columns(d.uvarint())
	places, transitions := int(d.uvarint()), int(d.uvarint())
	for c := range d.values {
		n := places
		if c >= placeColumns {
			n = transitions
		}
		d.column(c, n)
	}
	return true
}

func (d *reader) column(c, n int) {
	v := d.values[c]
	for len(v) < n {
		v = append(v, 0)
	}
	v = v[:n]
	d.values[c] = v
	for at := -1; ; {
		step := d.uvarint()
		if step == 0 {
			return
		}
		at += int(step)
		v[at] += uint64(d.varint())
	}
}

func (d *reader) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		panic(fmt.Sprintf("history: a block that cannot be read, %d bytes before its end", len(d.rest)))
	}
	d.rest = d.rest[n:]
	return v
}

func (d *reader) varint() int64 {
	u := d.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// frame returns the frame that was read.
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

// At returns the newest frame of a net at or before a time, and the one before
// it, for rates; nil where there is none.
func (s *Store) At(net string, at int64) (f, before *Frame) {
	r := s.nets[net]
	if r == nil {
		return nil, nil
	}
	k := r.blockAt(at)
	if k < 0 {
		return nil, nil
	}
	d, read := r.blocks[k].reader(), 0
	for _, end := r.blocks[k].upTo(at); read < end; read++ {
		if read == end-1 && read > 0 {
			before = d.frame()
		}
		d.next()
	}
	f = d.frame()
	if before == nil && k > 0 {
		last := r.blocks[k-1].reader()
		for last.next() {
			continue
		}
		before = last.frame()
	}
	return f, before
}

// upTo returns the time of the newest frame of a block at or before a time, and
// how many frames there are up to it.
func (b *block) upTo(at int64) (found int64, frames int) {
	d := b.reader()
	for d.next() && d.at <= at {
		found, frames = d.at, frames+1
	}
	return found, frames
}
