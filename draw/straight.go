// SPDX-License-Identifier: Apache-2.0

package draw

import "math"

// besides is how far apart the arcs between the same two nodes are, at their
// middle.
const besides = 26

// widestBundle is how far apart the outermost of many of them are.
const widestBundle = 120

// straight draws those arcs that are wanted as lines from border to border.
// Several between the same two nodes are bent away from each other.
func (d *Drawing) straight(wanted func(arc int) bool) {
	between := map[[2]int][]int{}
	for i := range d.Arcs {
		if !wanted(i) {
			continue
		}
		pair := [2]int{min(d.Arcs[i].From, d.Arcs[i].To), max(d.Arcs[i].From, d.Arcs[i].To)}
		between[pair] = append(between[pair], i)
	}
	for pair, arcs := range between { // each on its own, so in any order
		step := min(besides, widestBundle/float64(len(arcs)))
		for k, i := range arcs {
			d.bend(&d.Arcs[i], pair, step*(float64(k)-float64(len(arcs)-1)/2))
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
