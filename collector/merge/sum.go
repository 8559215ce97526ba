// SPDX-License-Identifier: Apache-2.0

package merge

import "github.com/pnagent/pnagent/stats"

// sum returns the rows of the net over all its sources. Rows that did not change
// since the last tick share memory with the last sum.
func (n *net) sum() *stats.Rows {
	rows := n.live.Rows(n.sums, n.contributions)
	for _, i := range n.live.Places.List {
		rows.Places[i].Slowest = n.slowPlaces.of(i)
	}
	for _, i := range n.live.Transitions.List {
		rows.Transitions[i].Slowest = n.slowTransitions.of(i)
	}
	rows.Columns = n.base.Columns
	for _, s := range n.contributors() {
		if s.rows != nil {
			rows.Columns |= s.columns
		}
	}
	n.noteSaturated(rows)
	if len(n.live.Places.List)+len(n.live.Transitions.List) > 0 {
		n.unchecked = len(rows.Places) + len(rows.Transitions)
	}
	n.live.Places.Clear()
	n.live.Transitions.Clear()
	return rows
}

// contributions calls yield for all rows that are in the sums, with the shift of their
// times.
func (n *net) contributions(yield func(stats.Contributor, int64) bool) {
	if !yield(n.base, 0) {
		return
	}
	for _, s := range n.contributors() {
		if s.rows != nil && !yield(s.rows, s.clock.shift) {
			return
		}
	}
}

// addUp adds up all rows of the net again.
func (n *net) addUp() {
	places, transitions := n.union.sizes()
	n.live, n.sums, n.changed = stats.Sums{}, nil, true
	n.live.Grow(places, transitions)
	for rows, shift := range n.contributions {
		n.live.Add(rows, shift)
	}
	n.live.Places.AddAll(places)
	n.live.Transitions.AddAll(transitions)
}
