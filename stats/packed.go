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
// that are stuck, and the groups. Slowest is not kept.
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
	transitionNumbers = transitionCounts + 4
)

type stuckAt struct {
	place  int
	tokens []Token
	groups []Group
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
	r.Places, r.Transitions = make([]Place, p.ofPlaces.rows), make([]Transition, p.ofTransitions.rows)
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
	p.ofPlaces.grow(places)
	p.ofTransitions.grow(transitions)
}

// Size returns how many rows there are.
func (p *Packed) Size() (places, transitions int) { return p.ofPlaces.rows, p.ofTransitions.rows }

// Rest returns what is no row of a place or of a transition. The caller may replace its
// fields, but not what its lists hold.
func (p *Packed) Rest() *Rows { return &p.rest }

// PlaceAt sets into to the row of a place, using the memory of its ages and buckets again, and
// returns it. A row that is not there is zero.
func (p *Packed) PlaceAt(i int, into *Place) *Place {
	p.ofPlaces.cursor(i).place(into, p.begun, nil)
	into.Stuck, into.Groups = p.stuckIn(i), p.groupsIn(i)
	return into
}

func (p *Packed) placeWords(i int) (w words) {
	c := p.ofPlaces.cursor(i)
	c.numbers(w[:placeNumbers], placeCounts, p.begun)
	return w
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

func (p *Packed) groupsIn(place int) []Group { return p.GroupsIn(place) }

// GroupsIn returns the groups of tokens in a place. The list must not change.
func (p *Packed) GroupsIn(place int) []Group {
	at, found := p.stuckOf(place)
	if !found {
		return nil
	}
	return p.stuck[at].groups
}

// SetPlace replaces the row of a place. It keeps the lists of stuck tokens and groups, which must
// not change, and nothing else of the row's memory.
func (p *Packed) SetPlace(i int, r *Place) {
	var room [roomy]byte
	record, _ := p.appendPlace(room[:0], r)
	p.PutPlace(i, appendLadder(record, &r.Ages), r.Stuck, r.Groups)
}

// PackPlace appends the record of a row for PutPlace, or nothing if the row of the place has the
// same one and its stuck tokens and groups are the same, too, which the caller compares. If it appends one, it
// sets old to the row as it is, as PlaceAt does, but leaves out a Dwell that is the same, and reports that.
func (p *Packed) PackPlace(b []byte, i int, r, old *Place, sameLists bool) (_ []byte, sameDwell bool) {
	start := len(b)
	b, dwell := p.appendPlace(b, r)
	if rest, same := p.ofPlaces.after(i, b[start:]); same && sameLists && rest.hasAges(&r.Ages) {
		return b[:start], true
	}
	sameDwell = p.ofPlaces.cursor(i).place(old, p.begun, b[dwell:])
	old.Stuck, old.Groups = p.stuckIn(i), p.groupsIn(i)
	return appendLadder(b, &r.Ages), sameDwell
}

// PutPlace replaces the row of a place by the one that PackPlace wrote, and its stuck tokens and
// groups.
func (p *Packed) PutPlace(i int, record []byte, stuck []Token, groups []Group) {
	if p.notes != nil {
		p.notes.add(&p.notes.places, p.ofPlaces.rows, i, p.ofPlaces.cursor(i))
	}
	p.ofPlaces.set(i, record)
	switch at, found := p.stuckOf(i); {
	case found && len(stuck)+len(groups) == 0:
		p.stuck = slices.Delete(p.stuck, at, at+1)
	case found:
		p.stuck[at].tokens, p.stuck[at].groups = stuck, groups
	case len(stuck)+len(groups) > 0:
		p.stuck = slices.Insert(p.stuck, at, stuckAt{i, stuck, groups})
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
	p.ofTransitions.cursor(i).transition(into, p.begun, nil)
	return into
}

func (p *Packed) transitionWords(i int) (w words) {
	c := p.ofTransitions.cursor(i)
	c.numbers(w[:transitionNumbers], transitionCounts, p.begun)
	return w
}

// SetTransition replaces the row of a transition. It keeps nothing of the row's memory.
func (p *Packed) SetTransition(i int, r *Transition) {
	var room [roomy]byte
	record, _ := p.appendTransition(room[:0], r)
	p.PutTransition(i, record)
}

// PackTransition appends the record of a row, as PackPlace does.
func (p *Packed) PackTransition(b []byte, i int, r, old *Transition) (_ []byte, sameDuration bool) {
	start := len(b)
	b, duration := p.appendTransition(b, r)
	if _, same := p.ofTransitions.after(i, b[start:]); same {
		return b[:start], true
	}
	return b, p.ofTransitions.cursor(i).transition(old, p.begun, b[duration:])
}

// PutTransition replaces the row of a transition, as PutPlace does.
func (p *Packed) PutTransition(i int, record []byte) {
	if p.notes != nil {
		p.notes.add(&p.notes.transitions, p.ofTransitions.rows, i, p.ofTransitions.cursor(i))
	}
	p.ofTransitions.set(i, record)
}

// appendPlace appends the record of a place without its ages, and returns where its histogram begins.
func (p *Packed) appendPlace(b []byte, r *Place) (record []byte, histogram int) {
	b = p.appendNumbers(b, PlaceTable.numbers(r), placeCounts)
	b = binary.AppendUvarint(binary.AppendUvarint(b, r.Injected.Sec), r.Injected.Micro)
	return appendPackedHistogram(b, &r.Dwell), len(b)
}

// appendTransition appends the record of a transition, as appendPlace does.
func (p *Packed) appendTransition(b []byte, r *Transition) (record []byte, histogram int) {
	b = p.appendNumbers(b, TransitionTable.numbers(r), transitionCounts)
	return appendPackedHistogram(b, &r.Duration), len(b)
}

// appendNumbers appends numbers. Those behind the counts are times, of which 0 is none: they are
// distances, and 0 has the number of no distance, which has that of 0.
func (p *Packed) appendNumbers(b []byte, all []uint64, counts int) []byte {
	for _, v := range all[:counts] {
		b = appendUvarint(b, v)
	}
	for _, v := range all[counts:] {
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

// records are the records of rows, one behind the other, in pages of some rows each. A record that
// grows or shrinks moves those behind it in its page.
type records struct {
	rows  int
	pages []page
}

const pageRows = 64

type page struct {
	block []byte
	ends  []uint32 // of the record of each row in block; equal to the one before for a row of zeros
}

// grow adds rows of zeros, so that there are at least n.
func (r *records) grow(n int) {
	for r.rows < n {
		if r.rows%pageRows == 0 {
			r.pages = append(r.pages, page{ends: make([]uint32, 0, min(n-r.rows, pageRows))})
		}
		p := &r.pages[len(r.pages)-1]
		for ; r.rows < n && len(p.ends) < pageRows; r.rows++ {
			p.ends = append(p.ends, uint32(len(p.block)))
		}
	}
}

// cursor returns the record of a row; an empty one for a row of zeros, or that is not there.
func (r *records) cursor(i int) cursor {
	if i >= r.rows {
		return nil
	}
	p := &r.pages[i/pageRows]
	start, end := p.span(i % pageRows)
	return cursor(p.block[start:end])
}

func (p *page) span(i int) (start, end int) {
	if i > 0 {
		start = int(p.ends[i-1])
	}
	return start, int(p.ends[i])
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

// set replaces a record.
func (r *records) set(i int, record []byte) {
	p := &r.pages[i/pageRows]
	start, end := p.span(i % pageRows)
	if more := len(record) - (end - start); more != 0 {
		p.move(end, more)
		for j := i % pageRows; j < len(p.ends); j++ {
			p.ends[j] += uint32(more)
		}
	}
	copy(p.block[start:], record)
}

// move moves what begins somewhere in the block by some bytes. It replaces a block that is full, or
// far too large, by one with an eighth to spare.
func (p *page) move(from, by int) {
	size := len(p.block) + by
	to := p.block
	if size > cap(to) || size < cap(to)*3/4 {
		to = append(slices.Grow([]byte(nil), size+size/8), p.block[:min(from, from+by)]...)
	}
	to = to[:size]
	copy(to[from+by:], p.block[from:])
	p.block = to
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
