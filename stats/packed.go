// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Packed are rows in little memory: those of one source among many. A row is a record of varints
// in a block of all rows: its numbers, its histogram, its ages. So 100 rows take some kilobytes, a
// message touches a line or two of memory for each of its rows, those that did not change have the
// same bytes, and the garbage collector sees no pointers. What few rows have is apart: the tokens
// that are stuck. Slowest is not kept.
type Packed struct {
	Filled Columns // of all that was set; the caller maintains it

	rest          Rows  // all but the rows of places and transitions
	begun         int64 // from which times are written as distances: the first of them
	ofPlaces      records
	ofTransitions records
	stuck         []stuckAt // by place
	notes         *Notes    // of rows that were replaced; nil without them
}

// The numbers of PlaceTable and TransitionTable: the counts, then the moments.
const (
	placeCounts       = 4
	placeNumbers      = placeCounts + 2
	transitionCounts  = 8
	transitionNumbers = transitionCounts + 3
)

type stuckAt struct {
	place  int
	tokens []Token
}

// NewPacked returns rows of zeros for a net of the given size.
func NewPacked(places, transitions int) *Packed {
	p := &Packed{}
	p.Grow(places, transitions)
	return p
}

// Rows returns the rows. They share only lists with p that never change.
func (p *Packed) Rows() *Rows {
	r := p.rest
	r.Places, r.Transitions = make([]Place, len(p.ofPlaces.at)), make([]Transition, len(p.ofTransitions.at))
	for i := range r.Places {
		p.PlaceAt(i, &r.Places[i])
	}
	for i := range r.Transitions {
		p.TransitionAt(i, &r.Transitions[i])
	}
	return &r
}

// Grow adds rows of zeros, so that there are at least that many.
func (p *Packed) Grow(places, transitions int) {
	p.ofPlaces.at, p.ofTransitions.at = grown(p.ofPlaces.at, places), grown(p.ofTransitions.at, transitions)
}

// Size returns how many rows there are.
func (p *Packed) Size() (places, transitions int) { return len(p.ofPlaces.at), len(p.ofTransitions.at) }

// grown returns a list with zeros added, so that it has at least n elements.
func grown[T any](list []T, n int) []T {
	return append(list, make([]T, max(0, n-len(list)))...)
}

// Trim gives back memory after many rows were set.
func (p *Packed) Trim() {
	for _, r := range []*records{&p.ofPlaces, &p.ofTransitions} {
		if most := r.live + r.live/8; cap(r.block) > most {
			r.move(r.block, make([]byte, 0, r.live+r.live/16))
		}
	}
}

// Rest returns what is no row of a place or of a transition. The caller may replace its
// fields, but not what its lists hold.
func (p *Packed) Rest() *Rows { return &p.rest }

// PlaceAt sets into to the row of a place, using the memory of its ages and buckets again, and
// returns it. A row that is not there is zero.
func (p *Packed) PlaceAt(i int, into *Place) *Place {
	p.ofPlaces.cursor(i).place(into, p.begun)
	into.Stuck = p.stuckIn(i)
	return into
}

func (p *Packed) placeWords(i int) words {
	c := p.ofPlaces.cursor(i)
	return c.words(placeCounts, placeNumbers, p.begun)
}

func (p *Packed) agesAt(i int) int64 {
	c := p.ofPlaces.cursor(i)
	if len(c) == 0 {
		return 0
	}
	c.skip(placeNumbers + 2 + 3)
	c.skip(int(2 * c.next()))
	if c.next() == 0 {
		return 0
	}
	return int64(c.next())
}

func (p *Packed) stuckIn(place int) []Token { return p.StuckIn(place) }

// StuckIn returns the tokens that are stuck in a place. The list must not change.
func (p *Packed) StuckIn(place int) []Token {
	at, found := p.stuckOf(place)
	if !found {
		return nil
	}
	return p.stuck[at].tokens
}

// SetPlace replaces the row of a place. It keeps the list of stuck tokens, which must not
// change, and nothing else of the row's memory.
func (p *Packed) SetPlace(i int, r *Place) {
	var room [roomy]byte
	p.PutPlace(i, appendLadder(p.appendPlace(room[:0], r), &r.Ages), r.Stuck)
}

// PackPlace appends the record of a row for PutPlace, or nothing if the row of the place has the
// same one and its stuck tokens are the same, too, which the caller compares.
func (p *Packed) PackPlace(b []byte, i int, r *Place, sameStuck bool) []byte {
	start := len(b)
	b = p.appendPlace(b, r)
	if rest, same := p.ofPlaces.after(i, b[start:]); same && sameStuck && rest.hasAges(&r.Ages) {
		return b[:start]
	}
	return appendLadder(b, &r.Ages)
}

// PutPlace replaces the row of a place by the one that PackPlace wrote, and its stuck tokens.
func (p *Packed) PutPlace(i int, record []byte, stuck []Token) {
	if p.notes != nil {
		p.notes.add(&p.notes.places, len(p.ofPlaces.at), i, p.ofPlaces.cursor(i))
	}
	p.ofPlaces.set(i, record)
	switch at, found := p.stuckOf(i); {
	case found && len(stuck) == 0:
		p.stuck = slices.Delete(p.stuck, at, at+1)
	case found:
		p.stuck[at].tokens = stuck
	case len(stuck) > 0:
		p.stuck = slices.Insert(p.stuck, at, stuckAt{i, stuck})
	}
}

func (p *Packed) stuckOf(place int) (at int, found bool) {
	for at < len(p.stuck) && p.stuck[at].place < place { // few places have some
		at++
	}
	return at, at < len(p.stuck) && p.stuck[at].place == place
}

// TransitionAt sets into to the row of a transition, as PlaceAt does.
func (p *Packed) TransitionAt(i int, into *Transition) *Transition {
	p.ofTransitions.cursor(i).transition(into, p.begun)
	return into
}

func (p *Packed) transitionWords(i int) words {
	c := p.ofTransitions.cursor(i)
	return c.words(transitionCounts, transitionNumbers, p.begun)
}

// SetTransition replaces the row of a transition. It keeps nothing of the row's memory.
func (p *Packed) SetTransition(i int, r *Transition) {
	var room [roomy]byte
	p.PutTransition(i, p.appendTransition(room[:0], r))
}

// PackTransition appends the record of a row, as PackPlace does.
func (p *Packed) PackTransition(b []byte, i int, r *Transition) []byte {
	start := len(b)
	b = p.appendTransition(b, r)
	if _, same := p.ofTransitions.after(i, b[start:]); same {
		return b[:start]
	}
	return b
}

// PutTransition replaces the row of a transition, as PutPlace does.
func (p *Packed) PutTransition(i int, record []byte) {
	if p.notes != nil {
		p.notes.add(&p.notes.transitions, len(p.ofTransitions.at), i, p.ofTransitions.cursor(i))
	}
	p.ofTransitions.set(i, record)
}

// appendPlace appends the record of a place without its ages.
func (p *Packed) appendPlace(b []byte, r *Place) []byte {
	b = p.appendWords(b, placeWords(r), placeCounts, placeNumbers)
	b = binary.AppendUvarint(binary.AppendUvarint(b, r.Injected.Sec), r.Injected.Micro)
	return appendPackedHistogram(b, &r.Dwell)
}

func (p *Packed) appendTransition(b []byte, r *Transition) []byte {
	return appendPackedHistogram(p.appendWords(b, transitionWords(r), transitionCounts, transitionNumbers), &r.Duration)
}

// appendWords appends n numbers. Those behind the counts are times, of which 0 is none: they are
// distances, and 0 has the number of no distance, which has that of 0.
func (p *Packed) appendWords(b []byte, w words, counts, n int) []byte {
	for _, v := range w[:counts] {
		b = appendUvarint(b, v)
	}
	for _, v := range w[counts:n] {
		at := int64(v)
		switch {
		case at == 0:
			b = append(b, 0)
			continue
		case p.begun == 0:
			p.begun = at
		}
		if at == p.begun {
			at = 0
		}
		b = binary.AppendVarint(b, at-p.begun)
	}
	return b
}

// appendUvarint is binary.AppendUvarint, for numbers of which most are small.
func appendUvarint(b []byte, v uint64) []byte {
	if v < 0x80 {
		return append(b, byte(v))
	}
	return binary.AppendUvarint(b, v)
}

// roomy is the size of most records, and more, in bytes.
const roomy = 512

// records are the records of a block, each with some bytes to spare.
type records struct {
	block []byte
	at    []span // by row
	live  int    // bytes of block that spans hold
}

type span struct{ start, size uint32 }

// spare is by how much a record that grows is larger than needed: ages and buckets come and go.
func spare(size int) int { return 3 + size/16 }

// cursor returns the record of a row; an empty one for a row of zeros, or that is not there.
func (r *records) cursor(i int) cursor {
	if i >= len(r.at) {
		return nil
	}
	s := r.at[i]
	return cursor(r.block[s.start : s.start+s.size])
}

// after returns what follows the beginning of the record of a row, and whether it begins so.
func (r *records) after(i int, begin []byte) (rest cursor, same bool) {
	c := r.cursor(i)
	if len(c) > 0 {
		return c[min(len(begin), len(c)):], bytes.HasPrefix(c, begin)
	}
	return zeros[:], !slices.ContainsFunc(begin, func(b byte) bool { return b != 0 })
}

// zeros is no shorter than the record of a row of zeros.
var zeros [20]byte

// set replaces a record. One that has no room moves to the end of the block. If the block is
// full, all records move together first.
func (r *records) set(i int, record []byte) {
	s := &r.at[i]
	if len(record) > int(s.size) {
		size := len(record) + spare(len(record))
		r.live += size - int(s.size)
		s.size = 0
		if len(r.block)+size > cap(r.block) {
			r.compact(size)
		}
		*s = span{start: uint32(len(r.block)), size: uint32(size)}
		r.block = r.block[:len(r.block)+size]
	}
	copy(r.block[s.start:], record)
}

// compact moves all records together, so that there is room for one more of a size: in their block,
// or in a new one if that would be full again soon.
func (r *records) compact(size int) {
	var old [16 * roomy]byte
	if r.live+max(r.live/16, size) <= cap(r.block) && len(r.block) <= len(old) {
		r.move(append(old[:0], r.block...), r.block[:0])
	} else {
		r.move(r.block, make([]byte, 0, r.live+max(r.live/8, size)))
	}
}

// move moves all records from a block to the beginning of another one.
func (r *records) move(from, to []byte) {
	for i := range r.at {
		if s := &r.at[i]; s.size > 0 {
			record := from[s.start : s.start+s.size]
			s.start = uint32(len(to))
			to = append(to, record...)
		}
	}
	r.block = to
}

// appendLadder appends a ladder: the number of its slots, its time, the first start before
// that, the distances of the others, and their counts.
func appendLadder(b []byte, l *Ladder) []byte {
	b = binary.AppendUvarint(b, uint64(len(l.Slots)))
	if len(l.Slots) == 0 {
		return b
	}
	b = binary.AppendUvarint(b, uint64(l.At))
	prev := l.At
	for _, s := range l.Slots {
		b = binary.AppendVarint(b, s.Start-prev)
		b = binary.AppendUvarint(b, s.N)
		prev = s.Start
	}
	return b
}

// appendPackedHistogram appends a histogram: its numbers, then the distances and counts of its
// buckets.
func appendPackedHistogram(b []byte, h *Histogram) []byte {
	b = binary.AppendVarint(b, int64(h.Schema))
	b = appendUvarint(b, h.Zero)
	b = appendUvarint(b, h.Sum)
	b = appendUvarint(b, uint64(len(h.Buckets)))
	prev := int32(0)
	for _, x := range h.Buckets {
		d := int64(x.Index - prev)
		b = appendUvarint(b, uint64(d)<<1^uint64(d>>63))
		b = appendUvarint(b, x.N)
		prev = x.Index
	}
	return b
}

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
	v, n := binary.Uvarint(c[at:])
	return v, at + n
}

func (c *cursor) skip(numbers int) {
	for range numbers {
		c.next()
	}
}

// words reads n numbers, of which those behind the counts are times: see appendWords. They are 0
// without a record.
func (c *cursor) words(counts, n int, begun int64) (w words) {
	if len(*c) == 0 {
		return w
	}
	at := 0
	for i := range w[:n] {
		w[i], at = number(*c, at)
	}
	*c = (*c)[at:]
	for i := counts; i < n; i++ {
		if v := w[i]; v != 0 {
			if w[i] = uint64(begun + unzigzag(v)); w[i] == 0 {
				w[i] = uint64(begun)
			}
		}
	}
	return w
}

// place reads into a row, using its memory again.
func (c cursor) place(into *Place, begun int64) {
	slots, buckets := into.Ages.Slots[:0], into.Dwell.Buckets[:0]
	*into = Place{}
	into.Ages.Slots, into.Dwell.Buckets = slots, buckets
	if len(c) == 0 {
		return
	}
	setPlaceWords(into, c.words(placeCounts, placeNumbers, begun))
	into.Injected = TimeSum{Sec: c.next(), Micro: c.next()}
	c.histogram(&into.Dwell)
	c.ladder(&into.Ages)
}

// transition reads into a row, using its memory again.
func (c cursor) transition(into *Transition, begun int64) {
	buckets := into.Duration.Buckets[:0]
	*into = Transition{}
	into.Duration.Buckets = buckets
	if len(c) == 0 {
		return
	}
	setTransitionWords(into, c.words(transitionCounts, transitionNumbers, begun))
	c.histogram(&into.Duration)
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

// histogram reads into an empty histogram.
func (c *cursor) histogram(h *Histogram) {
	h.Schema, h.Zero, h.Sum = int8(unzigzag(c.next())), c.next(), c.next()
	n := int(c.next())
	h.Buckets = slices.Grow(h.Buckets, n)[:n]
	prev, at := int32(0), 0
	for i := range h.Buckets {
		var distance, count uint64
		distance, at = number(*c, at)
		count, at = number(*c, at)
		prev += int32(unzigzag(distance))
		h.Buckets[i] = Bucket{Index: prev, N: count}
	}
	*c = (*c)[at:]
}

func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }
