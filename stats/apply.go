// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

var (
	errChangesEnd  = errors.New("changes of rows: cut short")
	errChangesLong = errors.New("changes of rows: bytes after their end")
	errChangesRow  = errors.New("changes of rows: a row that is not there")
	errChangesMask = errors.New("changes of rows: an unknown column")
	errChangesList = errors.New("changes of rows: keys that do not rise")
)

// Apply makes the changes of rows that Changes wrote, and adds rows of zeros up to their numbers,
// which may be most at most. After an error some of the changes are made. Other programs may have
// written the changes: the rows are not checked.
func (r *Rows) Apply(changes []byte, most int) error {
	a := applying{b: changes}
	places, transitions := a.next(), a.next()
	if places > uint64(most) || transitions > uint64(most) {
		return fmt.Errorf("changes of rows: %d places and %d transitions, of at most %d", places, transitions, most)
	}
	r.Places, r.Transitions = grown(r.Places, int(places)), grown(r.Transitions, int(transitions))
	for i := a.row(-1, len(r.Places)); i >= 0; i = a.row(i, len(r.Places)) {
		a.place(&r.Places[i])
	}
	for i := a.row(-1, len(r.Transitions)); i >= 0; i = a.row(i, len(r.Transitions)) {
		a.transition(&r.Transitions[i])
	}
	if a.err == nil && len(a.b) > 0 {
		a.err = errChangesLong
	}
	return a.err
}

// grown returns a list with zeros added, so that it has at least n elements.
func grown[T any](list []T, n int) []T {
	return append(list, make([]T, max(0, n-len(list)))...)
}

// applying are the changes that are left to make.
type applying struct {
	b   []byte
	err error // the first
}

// fail notes an error, after which all numbers are 0.
func (a *applying) fail(err error) {
	if a.err == nil {
		a.err = err
	}
	a.b = nil
}

func (a *applying) next() uint64 {
	v, n := binary.Uvarint(a.b)
	if n <= 0 {
		a.fail(errChangesEnd)
		return 0
	}
	a.b = a.b[n:]
	return v
}

func (a *applying) signed() int64 {
	v := a.next()
	return int64(v>>1) ^ -int64(v&1)
}

func (a *applying) add(to *uint64) { *to += uint64(a.signed()) }

// row returns the row that follows the last one, or -1.
func (a *applying) row(last, size int) int {
	distance := a.next()
	switch {
	case distance == 0:
		return -1
	case distance > uint64(size-1-last):
		a.fail(errChangesRow)
		return -1
	}
	return last + int(distance)
}

func (a *applying) place(p *Place) {
	mask := a.next()
	if mask >= 2*maskPlace {
		a.fail(errChangesMask)
		return
	}
	if mask&maskPlace != 0 {
		*p = Place{Stuck: p.Stuck, Groups: p.Groups}
	}
	w := a.words(mask&(maskAges-1), placeAll(p))
	copy(PlaceTable.numbers(p), w[:])
	p.Injected = TimeSum{Sec: w[placeNumbers], Micro: w[placeNumbers+1]}
	if mask&maskAges != 0 {
		a.ladder(&p.Ages)
	}
	if mask&maskDwell != 0 {
		a.histogram(&p.Dwell)
	}
}

func (a *applying) transition(t *Transition) {
	mask := a.next()
	if mask >= maskOf(transitionNumbers) {
		a.fail(errChangesMask)
		return
	}
	if mask&maskWhole != 0 {
		*t = Transition{}
	}
	w := a.words(mask&^(maskDuration|maskWhole), TransitionTable.words(t))
	copy(TransitionTable.numbers(t), w[:])
	if mask&maskDuration != 0 {
		a.histogram(&t.Duration)
	}
}

func (a *applying) words(mask uint64, w words) words {
	for i := range w {
		if mask&maskOf(i) != 0 {
			a.add(&w[i])
		}
	}
	return w
}

func (a *applying) ladder(l *Ladder) {
	at := l.At + a.signed()
	from := cutFor(l, at, &Ladder{})
	*l = Ladder{At: at, Slots: a.list(from, at)}
}

func (a *applying) histogram(h *Histogram) {
	schema := a.signed()
	if schema < math.MinInt8 || schema > math.MaxInt8 {
		a.fail(errChangesList)
		return
	}
	var from []Slot
	if schema == 0 {
		from = slotsOf(nil, h)
	}
	h.Schema += int8(schema)
	a.add(&h.Zero)
	a.add(&h.Sum)
	h.Buckets = nil
	for _, s := range a.list(from, 0) {
		if s.Start != int64(int32(s.Start)) {
			a.fail(errChangesList)
			return
		}
		h.Buckets = append(h.Buckets, Bucket{int32(s.Start), s.N})
	}
}

// list returns a list of counts with its changes made.
func (a *applying) list(from []Slot, origin int64) []Slot {
	size := a.next()
	if size&1 != 0 {
		from = nil
	}
	var all []Slot
	for i := range size >> 1 {
		s := Slot{origin + a.signed(), uint64(a.signed())}
		if i > 0 && s.Start <= origin {
			a.fail(errChangesList)
		}
		if a.err != nil {
			return nil
		}
		all, origin = append(all, s), s.Start
	}
	return joined(nil, from, all, func(from, change uint64) uint64 { return from + change })
}
