// SPDX-License-Identifier: Apache-2.0

package stats

import "slices"

// ladderSum is a sum of ladders: of each slot, as the contributors cut it, how many
// tokens it has. The slots are cut for the latest of their times where they are read,
// because a slot that was subtracted has to be the one that was added.
type ladderSum struct {
	at    times     // of ladders that are not empty, negative
	slots []slotSum // by start
}

type slotSum struct {
	start int64
	n     wide
}

// replace replaces a ladder by another one, and reports whether they differ.
func (s *ladderSum) replace(old, next *Ladder) (changed bool) {
	from, to := timeOf(old), timeOf(next)
	if from != to {
		s.at.replace(-from, -to, spareLatest)
		changed = true
	}
	a, b := old.Slots, next.Slots
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for _, x := range a {
		s.slot(x.Start).subtract(x.N)
	}
	for _, x := range b {
		s.slot(x.Start).add(x.N)
	}
	return changed || len(a)+len(b) > 0
}

// timeOf returns the time of a ladder; 0 if it is empty.
func timeOf(l *Ladder) int64 {
	if len(l.Slots) == 0 {
		return 0
	}
	return l.At
}

// slot returns the sum of a slot.
func (s *ladderSum) slot(start int64) *wide {
	i, end := 0, len(s.slots)
	for i < end { // as in histogramSum.bucket
		if mid := (i + end) / 2; s.slots[mid].start < start {
			i = mid + 1
		} else {
			end = mid
		}
	}
	if i == len(s.slots) || s.slots[i].start != start {
		s.slots = slices.Insert(s.slots, i, slotSum{start: start})
	}
	return &s.slots[i].n
}

func (s *ladderSum) ladder() (l Ladder) {
	l.At = -s.at.least()
	s.slots = slices.DeleteFunc(s.slots, func(x slotSum) bool { return x.n.isZero() })
	var n wide
	for i, x := range s.slots {
		start := slotStart(x.start, l.At)
		n.join(x.n)
		if last := i == len(s.slots)-1; last || slotStart(s.slots[i+1].start, l.At) != start {
			l.Slots = append(l.Slots, Slot{Start: start, N: n.count()})
			n = wide{}
		}
	}
	return l
}

// histogramSum is a sum of histograms, in the coarsest of their schemas.
type histogramSum struct {
	schema    int8
	zero, sum wide
	buckets   []bucketSum // by index
}

type bucketSum struct {
	index int32
	n     wide
}

// replace replaces a histogram by another one, and reports whether they differ.
func (s *histogramSum) replace(old, next *Histogram) (changed bool) {
	if old.Zero != next.Zero || old.Sum != next.Sum {
		s.zero.subtract(old.Zero)
		s.zero.add(next.Zero)
		s.sum.subtract(old.Sum)
		s.sum.add(next.Sum)
		changed = true
	}
	a, b := old.Buckets, next.Buckets
	if len(a)+len(b) == 0 || len(a) == len(b) && &a[0] == &b[0] {
		return changed
	}
	for _, h := range []*Histogram{old, next} {
		s.coarsenFor(h)
	}
	switch {
	case len(b) == 0:
		changed = s.replaceBuckets(a, b, old.Schema) || changed
	case len(a) == 0 || old.Schema == next.Schema:
		changed = s.replaceBuckets(a, b, next.Schema) || changed
	default:
		s.replaceBuckets(a, nil, old.Schema)
		s.replaceBuckets(nil, b, next.Schema)
		changed = true
	}
	for len(s.buckets) > MaxBuckets && s.schema > MinSchema {
		s.coarsen(s.schema - 1)
	}
	return changed
}

// replaceBuckets replaces buckets of a schema by others of it, and reports whether they differ.
func (s *histogramSum) replaceBuckets(a, b []Bucket, schema int8) (changed bool) {
	at := 0 // where the last bucket is: the next one is not before it
	for i, j := 0, 0; i < len(a) || j < len(b); {
		var index int32
		var from, to uint64
		both := i < len(a) && j < len(b)
		switch {
		case both && a[i].Index == b[j].Index:
			index, from, to = a[i].Index, a[i].N, b[j].N
			i, j = i+1, j+1
		case j == len(b) || both && a[i].Index < b[j].Index:
			index, from = a[i].Index, a[i].N
			i++
		default:
			index, to = b[j].Index, b[j].N
			j++
		}
		if from != to {
			at = s.bucket(at, index, schema)
			n := &s.buckets[at].n
			n.subtract(from)
			n.add(to)
			changed = true
		}
	}
	return changed
}

// coarsenFor makes the sum as coarse as a histogram that it has.
func (s *histogramSum) coarsenFor(h *Histogram) {
	switch {
	case len(h.Buckets) == 0:
	case len(s.buckets) == 0:
		s.schema = h.Schema
	case s.schema > h.Schema:
		s.coarsen(h.Schema)
	}
}

func (s *histogramSum) coarsen(schema int8) {
	by := s.schema - schema
	out := s.buckets[:0]
	for _, b := range s.buckets {
		b.index = (b.index-1)>>by + 1
		if n := len(out); n > 0 && out[n-1].index == b.index {
			out[n-1].n.join(b.n)
		} else {
			out = append(out, b)
		}
	}
	s.schema, s.buckets = schema, out
}

// bucket returns where the sum of a bucket is, of a schema that is not coarser. It is not before
// position i.
func (s *histogramSum) bucket(i int, index int32, schema int8) int {
	index = (index-1)>>(schema-s.schema) + 1
	end := len(s.buckets)
	if i+1 < end && s.buckets[i+1].index == index { // as in most histograms whose buckets all changed
		return i + 1
	}
	for step := 1; i+step < end; step *= 2 { // it is often near
		if s.buckets[i+step].index >= index {
			end = i + step
			break
		}
	}
	for i < end { // slices.BinarySearchFunc takes three times as long, and this is called for each bucket of a message
		if mid := (i + end) / 2; s.buckets[mid].index < index {
			i = mid + 1
		} else {
			end = mid
		}
	}
	if i == len(s.buckets) || s.buckets[i].index != index {
		s.buckets = slices.Insert(s.buckets, i, bucketSum{index: index})
	}
	return i
}

func (s *histogramSum) histogram() Histogram {
	h := Histogram{Zero: s.zero.count(), Sum: s.sum.count()}
	filled := 0
	for i := range s.buckets {
		if !s.buckets[i].n.isZero() {
			filled++
		}
	}
	if filled == 0 {
		return h
	}
	h.Schema, h.Buckets = s.schema, make([]Bucket, 0, filled)
	for _, b := range s.buckets {
		if !b.n.isZero() {
			h.Buckets = append(h.Buckets, Bucket{Index: b.index, N: b.n.count()})
		}
	}
	return h
}
