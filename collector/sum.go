// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"slices"

	"github.com/pnagent/pnagent/stats"
)

// sum returns the rows of the net over all its sources. Rows that did not change
// since the last tick share memory with the last sum.
func (n *net) sum() *stats.Rows {
	places, transitions := n.union.sizes()
	rows := stats.NewRows(places, transitions)
	if n.sums != nil {
		copy(rows.Places, n.sums.Places)
		copy(rows.Transitions, n.sums.Transitions)
	}
	contributors := n.contributors()
	n.sumPlaces(rows.Places, contributors)
	n.sumTransitions(rows.Transitions, contributors)
	rows.Columns, rows.Net = n.base.Columns, n.base.Net
	rows.Queues = stats.MergeQueues(nil, n.base.Queues)
	for _, s := range contributors {
		if s.rows != nil {
			rows.Columns |= s.columns
			rows.Net.Merge(&s.rows.Net)
			rows.Blocks = stats.MergeBlocks(rows.Blocks, s.rows.Blocks)
			rows.Queues = addQueues(rows.Queues, s.rows.Queues, s.clock.shift)
			rows.Waiting = stats.Sum(rows.Waiting, s.rows.Waiting)
		}
	}
	n.noteSaturated(rows)
	n.places.clear()
	n.transitions.clear()
	return rows
}

func (n *net) sumPlaces(rows []stats.Place, contributors []*source) {
	sumRows(n.places.list, rows, n.base.Places, contributors, func(r *stats.Rows) []stats.Place { return r.Places })
	for _, i := range n.places.list {
		rows[i].Slowest = n.slowPlaces.of(i)
		if n.owes {
			dropEmpty(&rows[i].Dwell)
		}
	}
}

func (n *net) sumTransitions(rows []stats.Transition, contributors []*source) {
	sumRows(n.transitions.list, rows, n.base.Transitions, contributors, func(r *stats.Rows) []stats.Transition { return r.Transitions })
	for _, i := range n.transitions.list {
		rows[i].Slowest = n.slowTransitions.of(i)
		if n.owes {
			dropEmpty(&rows[i].Duration)
		}
	}
}

// rowOf is a row of a place or of a transition.
type rowOf[T any] interface {
	*T
	Merge(*T)
	Shift(int64)
}

// sumRows sets the changed rows to the base and the rows of all contributors.
func sumRows[T any, P rowOf[T]](changed []int32, rows, base []T, contributors []*source, of func(*stats.Rows) []T) {
	var none, moved T
	for _, i := range changed {
		rows[i] = none
		P(&rows[i]).Merge(&base[i])
	}
	for _, s := range contributors {
		if s.rows == nil {
			continue
		}
		own := of(s.rows)
		for _, i := range changed {
			if int(i) < len(own) {
				addRow[T, P](&rows[i], &own[i], &moved, s.clock.shift)
			}
		}
	}
}

// addRow adds a row by a source's clock to one by the collector's. moved is memory
// for the row by the collector's clock.
func addRow[T any, P rowOf[T]](sum, row, moved *T, shift int64) {
	if shift != 0 {
		*moved = *row // Shift replaces its ladder and its tokens
		P(moved).Shift(shift)
		row = moved
	}
	P(sum).Merge(row)
}

// addQueues adds rows by a source's clock to those by the collector's.
func addQueues(sum, rows []stats.Queue, shift int64) []stats.Queue {
	if shift != 0 {
		rows = slices.Clone(rows)
		for i := range rows {
			rows[i].Shift(shift)
		}
	}
	return stats.MergeQueues(sum, rows)
}

// dropEmpty drops buckets whose count became zero by net.deduct.
func dropEmpty(h *stats.Histogram) {
	h.Buckets = slices.DeleteFunc(h.Buckets, func(b stats.Bucket) bool { return b.N == 0 })
}
