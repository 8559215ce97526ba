// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// Packed are rows in little memory: those of one source among many. The numbers of a row are
// words; its ages and its histogram are a record of varints in a block of all rows. So 100 rows
// take some kilobytes, a message that changes 24 of them touches a few lines of memory for
// each, and the garbage collector sees no pointers. What few rows have is apart: the tokens
// that are stuck. Slowest is not kept.
type Packed struct {
	rest          Rows // all but the rows of places and transitions
	places        []packedPlace
	transitions   []packedTransition
	ofPlaces      records   // ages and dwell
	ofTransitions records   // duration
	stuck         []stuckAt // by place
	notes         *Notes    // of rows that were replaced; nil without them
}

const placeNumbers = 6 // of PlaceTable

type packedPlace [placeNumbers + 2]uint64 // those, and Injected

type packedTransition [11]uint64 // the numbers of TransitionTable

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
	r.Places, r.Transitions = make([]Place, len(p.places)), make([]Transition, len(p.transitions))
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
	p.places, p.transitions = grown(p.places, places), grown(p.transitions, transitions)
	p.ofPlaces.at, p.ofTransitions.at = grown(p.ofPlaces.at, places), grown(p.ofTransitions.at, transitions)
}

// Size returns how many rows there are.
func (p *Packed) Size() (places, transitions int) { return len(p.places), len(p.transitions) }

// grown returns a list with zeros added, so that it has at least n elements.
func grown[T any](list []T, n int) []T {
	return append(list, make([]T, max(0, n-len(list)))...)
}

// Trim gives back memory after many rows were set.
func (p *Packed) Trim() {
	for _, r := range []*records{&p.ofPlaces, &p.ofTransitions} {
		if most := r.live + r.live/8; cap(r.block) > most {
			r.compact(r.live / 16)
		}
	}
}

// Rest returns what is no row of a place or of a transition. The caller may replace its
// fields, but not what its lists hold.
func (p *Packed) Rest() *Rows { return &p.rest }

// PlaceAt sets into to the row of a place, using the memory of its ages and buckets again, and
// returns it. A row that is not there is zero.
func (p *Packed) PlaceAt(i int, into *Place) *Place {
	slots, buckets := into.Ages.Slots[:0], into.Dwell.Buckets[:0]
	*into = Place{}
	if i >= len(p.places) {
		return into
	}
	PlaceTable.write(into, p.placeWords(i))
	into.Injected = TimeSum{Sec: p.places[i][placeNumbers], Micro: p.places[i][placeNumbers+1]}
	into.Ages.Slots, into.Dwell.Buckets = slots, buckets
	if c := p.ofPlaces.cursor(i); len(c) > 0 {
		c.ladder(&into.Ages)
		c.histogram(&into.Dwell)
	}
	into.Stuck = p.stuckIn(i)
	return into
}

func (p *Packed) placeWords(i int) (w words) {
	if i < len(p.places) {
		copy(w[:], p.places[i][:placeNumbers])
	}
	return w
}

func (p *Packed) agesAt(i int) int64 {
	if i >= len(p.places) {
		return 0
	}
	c := p.ofPlaces.cursor(i)
	if len(c) == 0 || c.next() == 0 {
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
	if p.notes != nil {
		p.notes.add(&p.notes.places, len(p.places), i, p.places[i][:], p.ofPlaces.cursor(i))
	}
	w := PlaceTable.read(r)
	n := copy(p.places[i][:placeNumbers], w[:])
	p.places[i][n], p.places[i][n+1] = r.Injected.Sec, r.Injected.Micro
	var room [roomy]byte
	p.ofPlaces.set(i, appendPackedHistogram(appendLadder(room[:0], &r.Ages), &r.Dwell))
	switch at, found := p.stuckOf(i); {
	case found && len(r.Stuck) == 0:
		p.stuck = slices.Delete(p.stuck, at, at+1)
	case found:
		p.stuck[at].tokens = r.Stuck
	case len(r.Stuck) > 0:
		p.stuck = slices.Insert(p.stuck, at, stuckAt{i, r.Stuck})
	}
}

func (p *Packed) stuckOf(place int) (at int, found bool) {
	return slices.BinarySearchFunc(p.stuck, place, func(s stuckAt, place int) int { return cmp.Compare(s.place, place) })
}

// TransitionAt sets into to the row of a transition, as PlaceAt does.
func (p *Packed) TransitionAt(i int, into *Transition) *Transition {
	buckets := into.Duration.Buckets[:0]
	*into = Transition{}
	if i >= len(p.transitions) {
		return into
	}
	TransitionTable.write(into, p.transitionWords(i))
	into.Duration.Buckets = buckets
	if c := p.ofTransitions.cursor(i); len(c) > 0 {
		c.histogram(&into.Duration)
	}
	return into
}

func (p *Packed) transitionWords(i int) (w words) {
	if i < len(p.transitions) {
		w = words(p.transitions[i])
	}
	return w
}

// SetTransition replaces the row of a transition. It keeps nothing of the row's memory.
func (p *Packed) SetTransition(i int, r *Transition) {
	if p.notes != nil {
		p.notes.add(&p.notes.transitions, len(p.transitions), i, p.transitions[i][:], p.ofTransitions.cursor(i))
	}
	p.transitions[i] = packedTransition(TransitionTable.read(r))
	var room [roomy]byte
	p.ofTransitions.set(i, appendPackedHistogram(room[:0], &r.Duration))
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
func spare(size int) int { return 4 + size/8 }

// cursor returns the record of a row; nil for a row of zeros.
func (r *records) cursor(i int) cursor {
	s := r.at[i]
	return cursor(r.block[s.start : s.start+s.size])
}

// set replaces a record. One that has no room moves to the end of the block. If the block is
// full, all records move to a new one without gaps.
func (r *records) set(i int, record []byte) {
	s := &r.at[i]
	if len(record) > int(s.size) {
		size := len(record) + spare(len(record))
		r.live += size - int(s.size)
		s.size = 0
		if len(r.block)+size > cap(r.block) {
			r.compact(max(r.live/4, size))
		}
		*s = span{start: uint32(len(r.block)), size: uint32(size)}
		r.block = r.block[:len(r.block)+size]
	}
	copy(r.block[s.start:], record)
}

// compact moves all records to a block in which there is room for more bytes.
func (r *records) compact(more int) {
	block := make([]byte, 0, r.live+more)
	for i := range r.at {
		if s := &r.at[i]; s.size > 0 {
			old := r.block[s.start : s.start+s.size]
			s.start = uint32(len(block))
			block = append(block, old...)
		}
	}
	r.block = block
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
	b = binary.AppendUvarint(b, h.Zero)
	b = binary.AppendUvarint(b, h.Sum)
	b = binary.AppendUvarint(b, uint64(len(h.Buckets)))
	prev := int32(0)
	for _, x := range h.Buckets {
		b = binary.AppendVarint(b, int64(x.Index-prev))
		b = binary.AppendUvarint(b, x.N)
		prev = x.Index
	}
	return b
}

// cursor is what is left to read of a record.
type cursor []byte

func (c *cursor) next() uint64 {
	if b := (*c)[0]; b < 0x80 {
		*c = (*c)[1:]
		return uint64(b)
	}
	v, n := binary.Uvarint(*c)
	*c = (*c)[n:]
	return v
}

// signed returns a number in zigzag form.
func (c *cursor) signed() int64 {
	v := c.next()
	return int64(v>>1) ^ -int64(v&1)
}

// ladder reads into an empty ladder.
func (c *cursor) ladder(l *Ladder) {
	n := c.next()
	if n == 0 {
		return
	}
	l.At = int64(c.next())
	prev := l.At
	for range n {
		prev += c.signed()
		l.Slots = append(l.Slots, Slot{Start: prev, N: c.next()})
	}
}

// histogram reads into an empty histogram.
func (c *cursor) histogram(h *Histogram) {
	h.Schema, h.Zero, h.Sum = int8(c.signed()), c.next(), c.next()
	prev := int32(0)
	for range c.next() {
		prev += int32(c.signed())
		h.Buckets = append(h.Buckets, Bucket{Index: prev, N: c.next()})
	}
}
