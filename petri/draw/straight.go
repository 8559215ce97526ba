// SPDX-License-Identifier: Apache-2.0

package draw

import "math"

// How far lines between nodes bend, at their middle.
const (
	besides      = 26      // away from another between the same two nodes
	widestBundle = 120     // between the outermost of many such
	around       = 34      // away from a node in between, and further
	aroundMost   = 4       // times so far
	aroundPairs  = 4000000 // of arcs and nodes; in a larger net, lines pass behind nodes
)

// straight draws the wanted arcs as lines from border to border. Several arcs between
// the same two nodes bend away from each other; a single one bends around nodes.
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
			d.avoidNodes(&d.Arcs[arcs[0]], pair)
		}
	}
}

// bend draws an arc with its middle at a distance from the straight line.
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

// avoidNodes bends an arc as little as it can to avoid the most nodes.
func (d *Drawing) avoidNodes(a *Arc, pair [2]int) {
	best, least := a.Points, d.nodesTouched(a)
	for k := 1; k <= aroundMost && least > 0; k++ {
		for _, off := range []float64{around * float64(k), -around * float64(k)} {
			d.bend(a, pair, off)
			if n := d.nodesTouched(a); n < least {
				best, least = a.Points, n
			}
		}
	}
	a.Points = best
}

// nodesTouched counts the other nodes that an arc's lines touch.
func (d *Drawing) nodesTouched(a *Arc) (count int) {
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
