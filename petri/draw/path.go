// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"cmp"
	"math"
	"slices"
)

// assignGaps computes the positions of the columns. A gap is wider if its arcs are
// steep.
func (l *layout) assignGaps() {
	climb := make([]float64, len(l.columns)) // by column: from it to the next
	l.half = make([]float64, len(l.columns))
	l.x = make([]float64, len(l.columns))
	for v := range l.column {
		c := l.column[v]
		if !l.lane(v) {
			b := l.prints[v]
			l.half[c] = max(l.half[c], (b.right-b.left)/2+stub)
		}
		for _, n := range l.out[v] {
			climb[c] = max(climb[c], math.Abs(l.y[n.to]-l.y[v]))
		}
	}
	for c := range l.x {
		if c == 0 || l.strip[c] != l.strip[c-1] {
			l.x[c] = l.half[c]
			continue
		}
		gap := min(columnGap+max(0, climb[c-1]-columnGap)/steepness, widestGap)
		if l.plan.square {
			gap = min(squareGap+squareStep*float64(l.inclined(c-1)), widestGap)
		}
		l.x[c] = l.x[c-1] + l.half[c-1] + gap + l.half[c]
	}
}

// draw adds the part's nodes and arcs to the drawing, around some origin, and returns
// their bounds.
func (l *layout) draw() box {
	b := nothing()
	for v := range l.nodes {
		n := l.node(v)
		at := l.at(v, l.x[l.column[v]], 0)
		n.X, n.Y = at.X, at.Y
		b.add(n.footprint())
	}
	leave, arrive := l.ports()
	l.assignTracks(leave, arrive)
	ways := make([][]Point, len(l.edges))
	for e := range l.edges {
		if g := &l.edges[e]; g.chain != nil {
			ways[e] = l.way(g, leave[e], arrive[e])
		}
	}
	if l.plan.square {
		l.square(ways)
	}
	for e := range l.edges {
		g := &l.edges[e]
		if g.chain == nil {
			continue
		}
		points := level(ways[e])
		for _, p := range points {
			b.add(box{p.X, p.Y, p.X, p.Y})
		}
		if g.turned {
			slices.Reverse(points)
		}
		l.d.Arcs[g.arc].Points = points
	}
	return b
}

// move moves the nodes and arcs of the part.
func (l *layout) move(dx, dy float64) {
	for v := range l.nodes {
		n := l.node(v)
		n.X, n.Y = n.X+dx, n.Y+dy
	}
	for e := range l.edges {
		points := l.d.Arcs[l.edges[e].arc].Points
		for k := range points {
			points[k].X += dx
			points[k].Y += dy
		}
	}
}

// ports returns the distances from the centres of its nodes at which each edge leaves
// and arrives. The edges of a side are in the order of their other ends, so that
// they do not cross.
func (l *layout) ports() (leave, arrive []float64) {
	leave, arrive = make([]float64, len(l.edges)), make([]float64, len(l.edges))
	right, left := make([][]int, len(l.nodes)), make([][]int, len(l.nodes))
	for e := range l.edges {
		if g := &l.edges[e]; g.chain != nil {
			right[g.from], left[g.to] = append(right[g.from], e), append(left[g.to], e)
		}
	}
	for v := range l.nodes {
		l.spreadPorts(v, right[v], leave, func(g *edge) int { return g.chain[1] })
		l.spreadPorts(v, left[v], arrive, func(g *edge) int { return g.chain[len(g.chain)-2] })
	}
	return leave, arrive
}

// spreadPorts places the edges on one side of a vertex.
func (l *layout) spreadPorts(v int, edges []int, port []float64, towards func(*edge) int) {
	if l.plan.leave != nil {
		edges = slices.DeleteFunc(edges, func(e int) bool { // those that have a port
			at := l.plan.leave[l.edges[e].arc]
			if at != 0 && l.nodes[v] == l.d.Arcs[l.edges[e].arc].From {
				port[e] = at
				return true
			}
			return false
		})
	}
	if len(edges) == 0 {
		return
	}
	slices.SortStableFunc(edges, func(a, b int) int {
		return cmp.Compare(l.row[towards(&l.edges[a])], l.row[towards(&l.edges[b])])
	})
	number := make([]int, len(edges)) // edges that share a lane have the same port
	for k := 1; k < len(edges); k++ {
		number[k] = number[k-1]
		if to := towards(&l.edges[edges[k]]); !l.lane(to) || to != towards(&l.edges[edges[k-1]]) {
			number[k]++
		}
	}
	n, last := l.node(v), number[len(edges)-1]
	side := n.H - portMargin
	if n.Place {
		side = n.H * 0.7
	}
	step := min(portGap, side/float64(last+1))
	for k, e := range edges {
		port[e] = step * (float64(number[k]) - float64(last)/2)
	}
}

// way returns the points of an edge from its beginning to its end: level at both
// nodes and through the columns between, inclined in the gaps, upright between strips.
func (l *layout) way(g *edge, leave, arrive float64) []Point {
	points := []Point{l.side(g.from, leave, true)}
	tracks := g.tracks
	for k, v := range g.chain {
		c, dy := l.column[v], 0.0
		switch k {
		case 0:
			dy = leave
		case len(g.chain) - 1:
			dy = arrive
		}
		if k > 0 {
			enter := l.at(v, l.x[c]-l.half[c], dy)
			if l.strip[c] != l.strip[l.column[g.chain[k-1]]] {
				points = append(points, Point{X: tracks[0], Y: points[len(points)-1].Y}, Point{X: tracks[0], Y: enter.Y})
				tracks = tracks[1:]
			}
			points = append(points, enter)
		}
		if k < len(g.chain)-1 {
			points = append(points, l.at(v, l.x[c]+l.half[c], dy))
		}
	}
	return append(points, l.side(g.to, arrive, false))
}

// level removes the points in the middle of a level line.
func level(points []Point) []Point {
	kept := points[:1]
	for k := 1; k < len(points)-1; k++ {
		if before := kept[len(kept)-1].Y; points[k].Y != before || points[k+1].Y != before {
			kept = append(kept, points[k])
		}
	}
	return append(kept, points[len(points)-1])
}
