// SPDX-License-Identifier: Apache-2.0

package stats

import "slices"

// Valid reports whether Add and Merge could have made the ladder: slots rising and
// filled, none after At, and each the one that its time belongs to at At. It is
// for received ladders: slots with other bounds do not add up.
func (l *Ladder) Valid() bool {
	prev, width, end := int64(-1), int64(0), int64(0) // end of the slots of a width
	for _, s := range l.Slots {
		if s.N == 0 || s.Start <= prev || s.Start > l.At {
			return false
		}
		if s.Start >= end {
			width, end = widthOf(s.Start, l.At)
		}
		if s.Start&(width-1) != 0 {
			return false
		}
		prev = s.Start
	}
	return true
}

// CutFor writes the ladder as of a later time (in units of SlotWidth) into
// another, reusing the other's memory.
func (l *Ladder) CutFor(at int64, into *Ladder) {
	into.At = l.At
	into.Slots = append(into.Slots[:0], l.Slots...)
	into.coarsen(at)
}

// IndexRange returns the first and the last bucket of a schema: they hold a
// microsecond and 2^30 seconds.
func IndexRange(schema int8) (first, last int32) {
	by := MaxSchema - schema
	return (firstIndex-1)>>by + 1, (lastIndex-1)>>by + 1
}

// Valid reports whether Observe and Merge could have made the histogram: a schema
// in range, and at most MaxBuckets buckets, rising, filled and between a
// microsecond and 2^30 seconds.
func (h *Histogram) Valid() bool {
	if h.Schema < MinSchema || h.Schema > MaxSchema || len(h.Buckets) > MaxBuckets {
		return false
	}
	next, last := IndexRange(h.Schema)
	for _, b := range h.Buckets {
		if b.N == 0 || b.Index < next || b.Index > last {
			return false
		}
		next = b.Index + 1
	}
	return true
}

// ValidQueues reports whether MergeQueues can add up these rows: their priorities
// rise and are below Priorities.
func ValidQueues(queues []Queue) bool {
	for i := range queues {
		if queues[i].Priority >= Priorities || i > 0 && queues[i].Priority <= queues[i-1].Priority {
			return false
		}
	}
	return true
}

// Equal reports whether two rows are equal. Ladders are compared as of the later
// of their two times: a row does not change because time passes.
func (p *Place) Equal(o *Place) bool {
	return PlaceTable.equal(p, o) &&
		p.Injected == o.Injected && p.Ages.Equal(&o.Ages) && p.Dwell.Equal(&o.Dwell) && p.Slowest == o.Slowest &&
		slices.EqualFunc(p.Stuck, o.Stuck, func(a, b Token) bool { return a.Compare(&b) == 0 }) && SameGroups(p.Groups, o.Groups)
}

// Equal reports whether two rows are equal.
func (t *Transition) Equal(o *Transition) bool {
	return TransitionTable.equal(t, o) && t.Duration.Equal(&o.Duration) && t.Slowest == o.Slowest
}

// Equal reports whether two histograms count the same durations in the same
// buckets.
func (h *Histogram) Equal(o *Histogram) bool {
	return h.Schema == o.Schema && h.Zero == o.Zero && h.Sum == o.Sum && slices.Equal(h.Buckets, o.Buckets)
}

// Equal reports whether two ladders are the same at the later of their two
// times.
func (l *Ladder) Equal(o *Ladder) bool {
	if l.At > o.At {
		l, o = o, l
	}
	if l.At == o.At {
		return slices.Equal(l.Slots, o.Slots)
	}
	rest := l.Slots
	for _, s := range o.Slots {
		var n uint64
		for len(rest) > 0 && slotStart(rest[0].Start, o.At) == s.Start {
			n, rest = n+rest[0].N, rest[1:]
		}
		if n != s.N {
			return false
		}
	}
	return len(rest) == 0
}
