// SPDX-License-Identifier: Apache-2.0

package draw

import "slices"

// edgesFrom returns the edges that leave each vertex, in order.
func (l *layout) edgesFrom() [][]int {
	out := make([][]int, len(l.nodes))
	for e := range l.edges {
		out[l.edges[e].from] = append(out[l.edges[e].from], e)
	}
	return out
}

// tightenings is the maximum number of passes of assignColumns.
const tightenings = 12

// assignColumns puts each vertex as far to the left as its edges allow, which are
// at least one column long. Then it moves each vertex to the right while that
// shortens more edges than it lengthens.
func (l *layout) assignColumns() {
	order := l.topological()
	in, out := make([][]int, len(l.nodes)), l.edgesFrom()
	for e := range l.edges {
		in[l.edges[e].to] = append(in[l.edges[e].to], e)
	}
	for _, v := range order {
		for _, e := range out[v] {
			to := l.edges[e].to
			l.column[to] = max(l.column[to], l.column[v]+1)
		}
	}
	for range tightenings {
		moved := false
		for _, v := range slices.Backward(order) {
			if len(out[v]) <= len(in[v]) {
				continue
			}
			to := l.column[l.edges[out[v][0]].to] - 1
			for _, e := range out[v] {
				to = min(to, l.column[l.edges[e].to]-1)
			}
			moved = moved || to != l.column[v]
			l.column[v] = to
		}
		if !moved {
			break
		}
	}
	l.closeColumns()
}

// closeColumns removes empty columns.
func (l *layout) closeColumns() {
	used := make([]bool, slices.Max(l.column)+1)
	for _, c := range l.column {
		used[c] = true
	}
	number := make([]int, len(used))
	count := 0
	for c := range used {
		number[c] = count
		if used[c] {
			count++
		}
	}
	for v, c := range l.column {
		l.column[v] = number[c]
	}
}

// topological returns the vertices in an order in which all edges lead forwards.
func (l *layout) topological() []int {
	out := l.edgesFrom()
	waits := make([]int, len(l.nodes))
	for e := range l.edges {
		waits[l.edges[e].to]++
	}
	var order []int
	for v, n := range waits {
		if n == 0 {
			order = append(order, v)
		}
	}
	for k := 0; k < len(order); k++ {
		for _, e := range out[order[k]] {
			to := l.edges[e].to
			if waits[to]--; waits[to] == 0 {
				order = append(order, to)
			}
		}
	}
	return order
}

// lanesMost bounds the lanes of a part. The longest arcs beyond it are straight
// lines behind the nodes.
const lanesMost = 60000

// divide gives long edges their lanes, the shorter edges first if there are too many, and
// links vertices in neighbouring columns. Lanes that are not shared are in the order of the
// edges, on which the first order of a column depends.
func (l *layout) divide() {
	order := make([]int, len(l.edges))
	for e := range order {
		order[e] = e
	}
	span := func(e int) int { return l.column[l.edges[e].to] - l.column[l.edges[e].from] }
	slices.SortStableFunc(order, func(a, b int) int { return span(a) - span(b) })
	l.in, l.out = make([][]link, len(l.nodes)), make([][]link, len(l.nodes))
	trunks := map[hub][]int{}
	room := lanesMost
	for k, e := range order {
		if room -= span(e) - 1; room < 0 {
			order = order[:k]
			break
		}
		if l.shared && span(e) > 1 {
			room += span(e) - 1 - l.join(e, trunks)
		} else if l.shared {
			l.chain(e)
		}
	}
	if !l.shared {
		slices.Sort(order)
		for _, e := range order {
			l.chain(e)
		}
	}
}

// chain gives an edge lanes of its own.
func (l *layout) chain(e int) {
	g := &l.edges[e]
	g.chain = append(make([]int, 0, l.column[g.to]-l.column[g.from]+1), g.from)
	for c := l.column[g.from] + 1; c < l.column[g.to]; c++ {
		g.chain = append(g.chain, l.newLane(c))
	}
	g.chain = append(g.chain, g.to)
	for k, v := range g.chain[1:] {
		l.link(g.chain[k], v)
	}
}

// newLane returns a new vertex of a column.
func (l *layout) newLane(c int) int {
	l.column = append(l.column, c)
	l.in, l.out = append(l.in, nil), append(l.out, nil)
	return len(l.column) - 1
}

// link links two vertices. Of the links of a lane, that with its next lane is the
// first one.
func (l *layout) link(from, to int) {
	l.out[from] = append(l.out[from], link{to, l.links})
	l.in[to] = append(l.in[to], link{from, l.links})
	if l.lane(from) && l.lane(to) {
		out, in := l.out[from], l.in[to]
		out[0], out[len(out)-1] = out[len(out)-1], out[0]
		in[0], in[len(in)-1] = in[len(in)-1], in[0]
	}
	l.links++
}
