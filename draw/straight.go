// SPDX-License-Identifier: Apache-2.0

package draw

import "math"

// How lines from node to node are bent, at their middle.
const (
	besides      = 26      // away from another between the same two nodes
	widestBundle = 120     // between the outermost of many such
	around       = 34      // away from a node in between, and further
	aroundMost   = 4       // times so far
	aroundPairs  = 4000000 // of arcs and nodes; of a larger net, lines pass behind nodes
)

// straight draws those arcs that are wanted as lines from border to border.
// Several between the same two nodes are bent away from each other, one alone is
// bent round nodes in its way.
func (d *Drawing) straight(wanted func(arc int) bool) {
	between := map[[2]int][]int{}
	for i := range d.Arcs {
		if !wanted(i) {
			continue
		}
		pair := [2]int{min(d.Arcs[i].From, d.Arcs[i].To), max(d.Arcs[i].From, d.Arcs[i].To)}
		between[pair] = append(between[pair], i)
	}
	evade := len(d.Arcs)*len(d.Nodes) <= aroundPairs
	for pair, arcs := range between { // each on its own, so in any order
		step := min(besides, widestBundle/float64(len(arcs)))
		for k, i := range arcs {
			d.bend(&d.Arcs[i], pair, step*(float64(k)-float64(len(arcs)-1)/2))
		}
		if evade && len(arcs) == 1 {
			d.evade(&d.Arcs[arcs[0]], pair)
		}
	}
}

// bend draws an arc whose middle is off the line between its two nodes.
func (d *Drawing) bend(a *Arc, pair [2]int, off float64) {
	from, to := &d.Nodes[a.From], &d.Nodes[a.To]
	if off == 0 {
		a.Points = []Point{from.border(Point{X: to.X, Y: to.Y}), to.border(Point{X: from.X, Y: from.Y})}
		return
	}
	p, q := &d.Nodes[pair[0]], &d.Nodes[pair[1]]
	dx, dy := q.X-p.X, q.Y-p.Y
	far := math.Hypot(dx, dy)
	mid := Point{X: (p.X+q.X)/2 - dy/far*off, Y: (p.Y+q.Y)/2 + dx/far*off}
	a.Points = []Point{from.border(mid), mid, to.border(mid)}
}

// evade bends an arc by as little as leads it past the most nodes.
func (d *Drawing) evade(a *Arc, pair [2]int) {
	best, least := a.Points, d.inTheWay(a)
	for k := 1; k <= aroundMost && least > 0; k++ {
		for _, off := range []float64{around * float64(k), -around * float64(k)} {
			d.bend(a, pair, off)
			if n := d.inTheWay(a); n < least {
				best, least = a.Points, n
			}
		}
	}
	a.Points = best
}

// inTheWay counts the nodes that an arc's lines touch, without its own two.
func (d *Drawing) inTheWay(a *Arc) (count int) {
	for i := range d.Nodes {
		if i == a.From || i == a.To {
			continue
		}
		for k := 1; k < len(a.Points); k++ {
			if d.Nodes[i].near(a.Points[k-1], a.Points[k]) {
				count++
				break
			}
		}
	}
	return count
}
