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
	for _, i := range n.places.list {
		rows[i] = stats.Place{}
		rows[i].Merge(&n.base.Places[i])
	}
	for _, s := range contributors {
		if s.rows == nil {
			continue
		}
		for _, i := range n.places.list {
			if int(i) < len(s.rows.Places) {
				addPlace(&rows[i], &s.rows.Places[i], s.clock.shift)
			}
		}
	}
	for _, i := range n.places.list {
		rows[i].Slowest = n.slowPlaces.of(i)
		if n.owes {
			dropEmpty(&rows[i].Dwell)
		}
	}
}

func (n *net) sumTransitions(rows []stats.Transition, contributors []*source) {
	for _, i := range n.transitions.list {
		rows[i] = stats.Transition{}
		rows[i].Merge(&n.base.Transitions[i])
	}
	for _, s := range contributors {
		if s.rows == nil {
			continue
		}
		for _, i := range n.transitions.list {
			if int(i) < len(s.rows.Transitions) {
				addTransition(&rows[i], &s.rows.Transitions[i], s.clock.shift)
			}
		}
	}
	for _, i := range n.transitions.list {
		rows[i].Slowest = n.slowTransitions.of(i)
		if n.owes {
			dropEmpty(&rows[i].Duration)
		}
	}
}

// addPlace adds a row by a source's clock to one by the collector's.
func addPlace(sum, row *stats.Place, shift int64) {
	if shift == 0 {
		sum.Merge(row)
		return
	}
	moved := *row // Shift replaces its ladder and its tokens
	moved.Shift(shift)
	sum.Merge(&moved)
}

func addTransition(sum, row *stats.Transition, shift int64) {
	if shift == 0 {
		sum.Merge(row)
		return
	}
	moved := *row
	moved.Shift(shift)
	sum.Merge(&moved)
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

// dropEmpty drops buckets whose count became zero by net.owe.
func dropEmpty(h *stats.Histogram) {
	h.Buckets = slices.DeleteFunc(h.Buckets, func(b stats.Bucket) bool { return b.N == 0 })
}
