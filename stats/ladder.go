// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"math/bits"
	"slices"
	"sort"
)

// SlotWidth is the width of a ladder's finest slot, in microseconds.
const SlotWidth = 125_000

// Ladder counts the tokens that are present by the time when they were
// injected, in slots that are aligned to absolute time and grow coarser as
// they age: a slot is at most an eighth as wide as its tokens are old, and
// never finer than SlotWidth. Which slot a time belongs to depends on that
// time and At alone, so slots of different sources coincide and ladders add
// up exactly. The zero Ladder is empty.
//
// Widths double. A slot of width SlotWidth·2^j is merged with its neighbour
// when both lie before a boundary that moves with At, in steps of the doubled
// width, 16 widths behind it.
type Ladder struct {
	At    int64  // the time that the slots are cut for, in units of SlotWidth
	Slots []Slot // by Start, rising; no slot with N of 0
}

// Slot is one slot of a ladder.
type Slot struct {
	Start int64 // in units of SlotWidth since the Unix epoch
	N     uint64
}

const maxLevel = 40 // 2^40 slot widths are four thousand years

// boundary returns the time before which slots are coarser than level.
func boundary(level int, at int64) int64 {
	step := int64(2) << level
	b := at - int64(16)<<level
	if b < 0 {
		return 0
	}
	return b &^ (step - 1)
}

// level returns how coarse the slot of a time is: its width is 1<<level.
func level(start, at int64) int {
	age := at - start
	if age < 16 {
		return 0
	}
	j := bits.Len64(uint64(age)/16) - 1 // lower levels end before start
	for j < maxLevel && start < boundary(j, at) {
		j++
	}
	return j
}

// widthOf returns the width of the slot of a time, and the end of the slots of that width.
func widthOf(start, at int64) (width, end int64) {
	j := level(start, at)
	if j == 0 {
		return 1, math.MaxInt64
	}
	return 1 << j, boundary(j-1, at)
}

// Add counts n tokens injected at a time, seen at now, both in microseconds.
// A time after now counts as now.
func (l *Ladder) Add(injected, now int64, n uint64) {
	at := now / SlotWidth
	l.coarsen(max(at, l.At))
	one := Ladder{At: l.At, Slots: []Slot{{Start: slotStart(min(injected, now)/SlotWidth, l.At), N: n}}}
	l.Merge(&one)
}

// slotStart returns the start of the slot that a time belongs to.
func slotStart(t, at int64) int64 {
	t = max(t, 0)
	return t &^ (int64(1)<<level(t, at) - 1)
}

// Merge adds o to l. It keeps nothing of o's memory.
func (l *Ladder) Merge(o *Ladder) {
	if len(o.Slots) == 0 {
		return
	}
	if len(l.Slots) == 0 {
		at := max(l.At, o.At)
		l.At, l.Slots = o.At, append(l.Slots[:0], o.Slots...)
		l.coarsen(at)
		return
	}
	l.coarsen(max(l.At, o.At))
	l.Slots = mergeSlots(l.Slots, o, l.At)
}

// mergeSlots adds the slots of o, cut for at, to a, both sorted by start. It
// reuses a's memory if a has the slots of o.
func mergeSlots(a []Slot, o *Ladder, at int64) []Slot {
	i := 0
	for j, x := range o.Slots {
		start := x.Start
		if o.At != at {
			start = slotStart(start, at)
		}
		for i < len(a) && a[i].Start < start {
			i++
		}
		if i == len(a) || a[i].Start != start {
			rest := Ladder{At: o.At, Slots: slices.Clone(o.Slots[j:])}
			rest.coarsen(at)
			return insertSlots(a, i, rest.Slots)
		}
		a[i].N = Sum(a[i].N, x.N)
	}
	return a
}

// insertSlots merges b into a from index i on.
func insertSlots(a []Slot, i int, b []Slot) []Slot {
	out := append(make([]Slot, 0, len(a)+len(b)), a[:i]...)
	a = a[i:]
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Start < b[0].Start:
			out, a = append(out, a[0]), a[1:]
		case a[0].Start > b[0].Start:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, Slot{a[0].Start, Sum(a[0].N, b[0].N)}), a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// coarsen cuts the slots for a later time.
func (l *Ladder) coarsen(at int64) {
	if at <= l.At || len(l.Slots) == 0 {
		l.At = max(at, l.At)
		return
	}
	l.At = at
	out := l.Slots[:0]
	for _, s := range l.Slots {
		s.Start = slotStart(s.Start, at)
		if n := len(out); n > 0 && out[n-1].Start == s.Start {
			out[n-1].N = Sum(out[n-1].N, s.N)
		} else {
			out = append(out, s)
		}
	}
	l.Slots = out
}

// Shift moves every token by d microseconds, rounded to whole slot widths.
func (l *Ladder) Shift(d int64) {
	by := inSlots(d)
	if by == 0 || len(l.Slots) == 0 {
		return
	}
	moved := Ladder{At: l.At + by}
	for _, s := range l.Slots {
		one := Ladder{At: moved.At, Slots: []Slot{{Start: slotStart(s.Start+by, moved.At), N: s.N}}}
		moved.Merge(&one)
	}
	*l = moved
}

// inSlots returns a time in slot widths, rounded.
func inSlots(d int64) int64 {
	if d < 0 {
		return (d - SlotWidth/2) / SlotWidth
	}
	return (d + SlotWidth/2) / SlotWidth
}

// Tokens returns how many tokens the ladder counts.
func (l *Ladder) Tokens() uint64 {
	var n uint64
	for _, s := range l.Slots {
		n = Sum(n, s.N)
	}
	return n
}

// InjectedBefore returns how many tokens were injected at or before t
// microseconds. The tokens of a slot count as injected in its middle, so the
// result holds for a time at most a sixteenth of the age away.
func (l *Ladder) InjectedBefore(t int64) uint64 {
	var n uint64
	for _, s := range l.Slots {
		mid := s.Start*SlotWidth + SlotWidth<<level(s.Start, l.At)/2
		if mid > t {
			break
		}
		n = Sum(n, s.N)
	}
	return n
}

// Rungs numbers the slots of one moment, from the youngest, so that many tokens
// can be counted into an array.
type Rungs struct {
	at    int64
	bound [maxLevel + 1]int64 // bound[j]: times before it are coarser than level j
	base  [maxLevel + 1]int   // number of level j's youngest slot
	n     int
}

// NewRungs returns the slots as of now, in microseconds.
func NewRungs(now int64) *Rungs {
	r := &Rungs{at: now / SlotWidth}
	top := r.at + 1 // one past the youngest time
	for j := range r.bound {
		r.bound[j] = boundary(j, r.at)
		r.base[j] = r.n
		r.n += int((top - r.bound[j] + int64(1)<<j - 1) >> j)
		top = r.bound[j]
	}
	return r
}

// Len returns how many slots there are.
func (r *Rungs) Len() int { return r.n }

// Index returns the slot of a time in microseconds. A time after now counts as
// now, a time before the epoch as the epoch.
func (r *Rungs) Index(injected int64) int {
	t := max(min(injected/SlotWidth, r.at), 0)
	j := max(bits.Len64(uint64(r.at-t)/16), 1) - 1
	for j < maxLevel && t < r.bound[j] { // see level
		j++
	}
	top := r.at
	if j > 0 {
		top = r.bound[j-1] - 1
	}
	return r.base[j] + int(top>>j-t>>j)
}

// Ladder returns the ladder of the given counts, one for each slot.
func (r *Rungs) Ladder(counts []uint64) Ladder {
	l := Ladder{At: r.at}
	for i := len(counts) - 1; i >= 0; i-- {
		if counts[i] > 0 {
			l.Slots = append(l.Slots, Slot{Start: r.start(i), N: counts[i]})
		}
	}
	return l
}

// start is the inverse of Index.
func (r *Rungs) start(i int) int64 {
	j := sort.Search(len(r.base), func(j int) bool { return r.base[j] > i }) - 1
	top := r.at
	if j > 0 {
		top = r.bound[j-1] - 1
	}
	return (top>>j - int64(i-r.base[j])) << j
}
