// SPDX-License-Identifier: Apache-2.0

package stats

import "slices"

// Raise raises each counter and each last time of r to that of floor if it is
// lower, and reports whether one was. It is for counters of which more was shown
// than is known. It ignores rows of floor beyond those of r. Raise changes the
// rows themselves, but no memory that their slices share with other rows, and
// keeps nothing of floor's memory.
func (r *Rows) Raise(floor *Rows) (raised bool) {
	for i := range min(len(r.Places), len(floor.Places)) {
		raised = r.Places[i].raise(&floor.Places[i]) || raised
	}
	for i := range min(len(r.Transitions), len(floor.Transitions)) {
		raised = r.Transitions[i].raise(&floor.Transitions[i]) || raised
	}
	raised = NetTable.raise(&r.Net, &floor.Net) || raised
	if raiseQueues(&r.Queues, floor.Queues) {
		raised = true
	}
	if r.Columns&floor.Columns != floor.Columns {
		r.Columns |= floor.Columns
		raised = true
	}
	return raised
}

// lift raises a number, and reports whether it was less.
func lift[N uint64 | int64](n *N, floor N) bool {
	if *n >= floor {
		return false
	}
	*n = floor
	return true
}

func (p *Place) raise(floor *Place) (raised bool) {
	raised = PlaceTable.raise(p, floor)
	return p.Dwell.raise(&floor.Dwell) || raised
}

func (t *Transition) raise(floor *Transition) (raised bool) {
	raised = TransitionTable.raise(t, floor)
	return t.Duration.raise(&floor.Duration) || raised
}

// raise raises each bucket, in the coarser schema of both.
func (h *Histogram) raise(floor *Histogram) (raised bool) {
	raised = lift(&h.Zero, floor.Zero)
	raised = lift(&h.Sum, floor.Sum) || raised
	if len(floor.Buckets) == 0 {
		return raised
	}
	low, own := Histogram{Schema: floor.Schema, Buckets: slices.Clone(floor.Buckets)}, Histogram{Schema: h.Schema, Buckets: slices.Clone(h.Buckets)}
	switch {
	case len(own.Buckets) == 0:
		own.Schema = low.Schema
	case own.Schema > low.Schema:
		own.coarsen(low.Schema)
	case own.Schema < low.Schema:
		low.coarsen(own.Schema)
	}
	less := false
	for _, b := range low.Buckets {
		i, found := slices.BinarySearchFunc(own.Buckets, b.Index, func(a Bucket, index int32) int { return int(a.Index) - int(index) })
		if !found {
			own.Buckets = slices.Insert(own.Buckets, i, Bucket{Index: b.Index})
		}
		less = lift(&own.Buckets[i].N, b.N) || less
	}
	if !less {
		return raised
	}
	own.Fit()
	h.Schema, h.Buckets = own.Schema, own.Buckets
	return true
}

// raiseQueues raises the counters of each priority.
func raiseQueues(queues *[]Queue, floor []Queue) (raised bool) {
	for _, f := range floor {
		i, found := slices.BinarySearchFunc(*queues, f.Priority, func(q Queue, p uint8) int { return int(q.Priority) - int(p) })
		switch {
		case !found:
			q := Queue{Priority: f.Priority}
			QueueTable.raise(&q, &f)
			*queues = slices.Insert(slices.Clone(*queues), i, q)
			raised = true
		default:
			q := (*queues)[i]
			if QueueTable.raise(&q, &f) {
				*queues = slices.Clone(*queues)
				(*queues)[i], raised = q, true
			}
		}
	}
	return raised
}
