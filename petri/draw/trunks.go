// SPDX-License-Identifier: Apache-2.0

package draw

// hub is an end that long edges have in common. Edges of different kinds have
// different hubs, because their lines look different.
type hub struct {
	vertex int
	leaves bool // the edges leave it; otherwise they lead to it
	tests  int
}

// join gives a long edge the lanes of its hub: of the end with more edges. trunks are
// the lanes of the hubs, by the distance from the hub. join returns the number of new
// lanes.
func (l *layout) join(e int, trunks map[hub][]int) (added int) {
	g := &l.edges[e]
	from, to := l.column[g.from], l.column[g.to]
	h := hub{vertex: g.from, leaves: true, tests: l.tests(e)}
	if l.degree[g.to] > l.degree[g.from] {
		h.vertex, h.leaves = g.to, false
	}
	lanes := trunks[h]
	for len(lanes) < to-from-1 {
		before, c := h.vertex, l.column[h.vertex]
		if len(lanes) > 0 {
			before = lanes[len(lanes)-1]
			c = l.column[before]
		}
		added++
		if h.leaves {
			lanes = append(lanes, l.newLane(c+1))
			l.link(before, lanes[len(lanes)-1])
		} else {
			lanes = append(lanes, l.newLane(c-1))
			l.link(lanes[len(lanes)-1], before)
		}
	}
	trunks[h] = lanes
	g.chain = append(make([]int, 0, to-from+1), g.from)
	if h.leaves {
		g.chain = append(g.chain, lanes[:to-from-1]...)
		l.link(g.chain[len(g.chain)-1], g.to)
	} else {
		for k := to - from - 2; k >= 0; k-- {
			g.chain = append(g.chain, lanes[k])
		}
		l.link(g.from, g.chain[1])
	}
	g.chain = append(g.chain, g.to)
	return added
}
