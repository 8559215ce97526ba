// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"encoding/binary"
	"iter"
	"slices"
)

// Notes are rows of a [Packed] as they were when [Packed.Note] was called, of those that were
// replaced since. The zero Notes have no room.
type Notes struct {
	// Room is how many bytes of rows they keep. A row without room is written as a whole.
	Room int

	block               []byte
	places, transitions []int32 // by row: 0 for one that was not replaced, noRoom, or 1 + its offset in block
}

const noRoom = -1

// Note begins notes. They replace those that began before.
func (p *Packed) Note(n *Notes) {
	n.block = n.block[:0]
	if cap(n.block) > n.Room {
		n.block = nil
	}
	clear(n.places)
	clear(n.transitions)
	p.notes = n
}

// Notes returns the notes that began last, or nil.
func (p *Packed) Notes() *Notes { return p.notes }

// Places returns the places that were replaced, in order.
func (n *Notes) Places() iter.Seq[int] { return noted(n.places) }

func noted(rows []int32) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, at := range rows {
			if at != 0 && !yield(i) {
				return
			}
		}
	}
}

// add notes the record of a row that is replaced. list is that of places or transitions, of which
// there are size.
func (n *Notes) add(list *[]int32, size, row int, record []byte) {
	if len(*list) < size {
		*list = grown(*list, size)
	}
	at := &(*list)[row]
	if *at != 0 {
		return
	}
	if len(record) == 0 {
		record = zeros[:]
	}
	after := len(n.block) + len(record)
	if after > n.Room {
		*at = noRoom
		return
	}
	if after > cap(n.block) { // append would take more than there is room for
		n.block = append(make([]byte, 0, min(max(2*cap(n.block), after), n.Room)), n.block...)
	}
	*at = int32(1 + len(n.block))
	n.block = append(n.block, record...)
}

// cursor returns the row that was replaced, or nil without one.
func (n *Notes) cursor(list []int32, row int) cursor {
	if row >= len(list) || list[row] <= 0 {
		return nil
	}
	return cursor(n.block[list[row]-1:])
}

// Changes writes how rows changed, in few bytes, for [Rows.Apply]. It has all of a row but the
// tokens that are stuck and the slowest instances. It is for one goroutine.
//
//	numbers of places and of transitions, as varints
//	of each place that changed, and of 0 as their end:
//	    1 + the distance to the previous one
//	    mask  of the numbers that changed, in the order of PlaceTable, then Injected, Ages, Dwell
//	    the differences of the numbers
//	    the differences of the time of Ages, and of its slots
//	    the differences of Schema, Zero and Sum of Dwell, and of its buckets
//	of each transition likewise, with Duration
//
// A difference is a signed varint, modulo 2^64. Those of slots and buckets are twice their number,
// and for each the distance of its key to the previous one, and of its count. If the number is odd,
// they are those to an empty list.
type Changes struct {
	b             []byte
	last          int  // the last row that was written, + 1
	any           bool // a row was written
	places        [2]Place
	transitions   [2]Transition
	cut           Ladder
	from, to, all []Slot // of slots, or of buckets
}

// Whole appends all rows of p.
func (c *Changes) Whole(b []byte, p *Packed) []byte {
	c.begin(b, p.ofPlaces.rows, p.ofTransitions.rows)
	for i := range p.ofPlaces.rows {
		c.places[0] = Place{}
		c.place(i, &c.places[0], p.PlaceAt(i, &c.places[1]))
	}
	c.end()
	for i := range p.ofTransitions.rows {
		c.transitions[0] = Transition{}
		c.transition(i, &c.transitions[0], p.TransitionAt(i, &c.transitions[1]))
	}
	return c.end()
}

// Noted appends the rows of p that were replaced since its notes began, and begins them again.
func (c *Changes) Noted(b []byte, p *Packed) []byte {
	n := p.notes
	c.begin(b, p.ofPlaces.rows, p.ofTransitions.rows)
	for i := range n.Places() {
		c.place(i, n.place(i, &c.places[0], p.begun), p.PlaceAt(i, &c.places[1]))
	}
	c.end()
	for i := range noted(n.transitions) {
		c.transition(i, n.transition(i, &c.transitions[0], p.begun), p.TransitionAt(i, &c.transitions[1]))
	}
	p.Note(n)
	return c.end()
}

// Between appends the rows of next that differ from those of last, and reports whether there are any.
func (c *Changes) Between(b []byte, last, next *Rows) (_ []byte, any bool) {
	c.begin(b, len(next.Places), len(next.Transitions))
	for i := range next.Places {
		c.place(i, last.PlaceAt(i, &c.places[0]), &next.Places[i])
	}
	c.end()
	for i := range next.Transitions {
		c.transition(i, last.TransitionAt(i, &c.transitions[0]), &next.Transitions[i])
	}
	return c.end(), c.any
}

func (c *Changes) begin(b []byte, places, transitions int) {
	c.b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(places)), uint64(transitions))
	c.last, c.any = 0, false
}

// end ends the places, or the transitions.
func (c *Changes) end() []byte {
	c.b, c.last = append(c.b, 0), 0
	return c.b
}

// The bits of a mask that stand for no number, and for a row that is written as a whole: before
// its differences it is set to zeros. The first numbers of a transition have the bits below these, and
// numbers that later releases added have those above, so that what earlier ones wrote is read.
const (
	firstNumbers = 11
	maskAges     = 1 << (placeNumbers + 2)
	maskDwell    = 2 * maskAges
	maskPlace    = 4 * maskAges
	maskDuration = 1 << firstNumbers
	maskWhole    = 2 * maskDuration
)

// place writes a place; from nil, as a whole.
func (c *Changes) place(row int, from, to *Place) {
	var mask uint64
	if from == nil {
		c.places[0] = Place{}
		from, mask = &c.places[0], maskPlace
	}
	if from.Ages.At != to.Ages.At || !slices.Equal(from.Ages.Slots, to.Ages.Slots) {
		mask |= maskAges
	}
	if !from.Dwell.Equal(&to.Dwell) {
		mask |= maskDwell
	}
	if !c.row(row, placeAll(from), placeAll(to), mask) {
		return
	}
	if mask&maskAges != 0 {
		c.ladder(&from.Ages, &to.Ages)
	}
	if mask&maskDwell != 0 {
		c.histogram(&from.Dwell, &to.Dwell)
	}
}

// placeAll returns the numbers of a place, then Injected.
func placeAll(p *Place) words {
	w := PlaceTable.words(p)
	w[placeNumbers], w[placeNumbers+1] = p.Injected.Sec, p.Injected.Micro
	return w
}

func (c *Changes) transition(row int, from, to *Transition) {
	var mask uint64
	if from == nil {
		c.transitions[0] = Transition{}
		from, mask = &c.transitions[0], maskWhole
	}
	if !from.Duration.Equal(&to.Duration) {
		mask |= maskDuration
	}
	if c.row(row, TransitionTable.words(from), TransitionTable.words(to), mask) && mask&maskDuration != 0 {
		c.histogram(&from.Duration, &to.Duration)
	}
}

// row writes the numbers of a row, and reports whether the row changed.
func (c *Changes) row(row int, from, to words, mask uint64) bool {
	for i := range to {
		if from[i] != to[i] {
			mask |= maskOf(i)
		}
	}
	if mask == 0 {
		return false
	}
	c.b = binary.AppendUvarint(binary.AppendUvarint(c.b, uint64(row+1-c.last)), mask)
	c.last, c.any = row+1, true
	for i := range to {
		if from[i] != to[i] {
			c.difference(from[i], to[i])
		}
	}
	return true
}

// maskOf returns the bit of a number of a row.
func maskOf(number int) uint64 {
	if number < firstNumbers {
		return 1 << number
	}
	return 2 * maskWhole << (number - firstNumbers)
}

func (c *Changes) difference(from, to uint64) { c.b = binary.AppendVarint(c.b, int64(to-from)) }

// ladder writes the differences to a ladder that is cut for the time of the next one.
func (c *Changes) ladder(from, to *Ladder) {
	c.difference(uint64(from.At), uint64(to.At))
	c.list(cutFor(from, to.At, &c.cut), to.Slots, to.At)
}

// cutFor returns the slots of a ladder at a later time.
func cutFor(l *Ladder, at int64, into *Ladder) []Slot {
	if len(l.Slots) == 0 || at <= l.At {
		return l.Slots
	}
	l.CutFor(at, into)
	return into.Slots
}

func (c *Changes) histogram(from, to *Histogram) {
	c.difference(uint64(from.Schema), uint64(to.Schema))
	c.difference(from.Zero, to.Zero)
	c.difference(from.Sum, to.Sum)
	c.from = c.from[:0]
	if from.Schema == to.Schema {
		c.from = slotsOf(c.from, from)
	}
	c.to = slotsOf(c.to[:0], to)
	c.list(c.from, c.to, 0)
}

// slotsOf appends the buckets of a histogram as slots.
func slotsOf(all []Slot, h *Histogram) []Slot {
	for _, x := range h.Buckets {
		all = append(all, Slot{int64(x.Index), x.N})
	}
	return all
}

// list writes the differences of a list, or all of it if that is less. The first key is written
// as the distance to origin.
func (c *Changes) list(from, to []Slot, origin int64) {
	c.all = joined(c.all[:0], from, to, func(from, to uint64) uint64 { return to - from })
	all, size := c.all, uint64(len(c.all))<<1
	if len(all) > len(to) {
		all, size = to, uint64(len(to))<<1|1
	}
	c.b = binary.AppendUvarint(c.b, size)
	for _, s := range all {
		c.b = binary.AppendVarint(binary.AppendVarint(c.b, s.Start-origin), int64(s.N))
		origin = s.Start
	}
}

// joined appends what of makes of the counts of each key of two lists, but for those of which it
// makes 0.
func joined(all, a, b []Slot, of func(a, b uint64) uint64) []Slot {
	for len(a)+len(b) > 0 {
		var s Slot
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Start < b[0].Start:
			s, a = Slot{a[0].Start, of(a[0].N, 0)}, a[1:]
		case len(a) == 0 || b[0].Start < a[0].Start:
			s, b = Slot{b[0].Start, of(0, b[0].N)}, b[1:]
		default:
			s, a, b = Slot{a[0].Start, of(a[0].N, b[0].N)}, a[1:], b[1:]
		}
		if s.N != 0 {
			all = append(all, s)
		}
	}
	return all
}

// place returns a place as it was, or nil if that is not known.
func (n *Notes) place(row int, into *Place, begun int64) *Place {
	c := n.cursor(n.places, row)
	if c == nil {
		return nil
	}
	c.place(into, begun, nil)
	return into
}

func (n *Notes) transition(row int, into *Transition, begun int64) *Transition {
	c := n.cursor(n.transitions, row)
	if c == nil {
		return nil
	}
	c.transition(into, begun, nil)
	return into
}
