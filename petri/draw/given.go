// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"cmp"
	"math"
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// The conditions for using the positions of a file.
const (
	givenGap   = 14      // between two nodes
	minScale   = 0.01    // the limit of moving scattered positions together
	mostSpread = 4       // the limit of spreading crowded positions
	emptiest   = 600     // the largest size of a drawing for each node
	pairsMost  = 2000000 // pairs of nodes compared before positions count as crowded
)

// givenPositions returns the positions of the source, scaled so that no nodes
// overlap. It returns nil if a node has no position, if two are at one point, or if
// the positions are too crowded or too scattered for scaling.
func givenPositions(n *petri.Net, d *Drawing) []Point {
	if len(d.Nodes) == 0 {
		return nil
	}
	at := make([]Point, 0, len(d.Nodes))
	add := func(p *Point) {
		if p != nil && !math.IsInf(p.X-p.X, 0) && !math.IsNaN(p.X-p.X+p.Y-p.Y) {
			at = append(at, *p)
		}
	}
	for i := range n.Places {
		add(n.Places[i].At)
	}
	for i := range n.Transitions {
		add(n.Transitions[i].At)
	}
	if len(at) < len(d.Nodes) {
		return nil
	}
	needed, ok := spread(at, d.Nodes)
	if !ok {
		return nil
	}
	b := nothing()
	for _, p := range at {
		b.add(box{p.X, p.Y, p.X, p.Y})
	}
	extent, most := max(b.right-b.left, b.bottom-b.top, 1), emptiest*float64(len(at))
	scale := max(needed, minScale, min(1, most/extent))
	if extent*scale > mostSpread*most {
		return nil
	}
	for i, p := range at {
		at[i] = Point{X: (p.X - b.left) * scale, Y: (p.Y - b.top) * scale}
	}
	return at
}

// spread returns the least factor on all positions at which no nodes overlap, and
// whether that is within the limits.
func spread(at []Point, nodes []Node) (float64, bool) {
	order := make([]int, len(at))
	widest := 0.0
	for i := range order {
		order[i] = i
		b := nodes[i].footprint()
		widest = max(widest, b.right-b.left)
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(at[i].X, at[j].X) })
	needed, pairs := 0.0, 0
	for k, i := range order {
		for _, j := range order[k+1:] {
			if (at[j].X-at[i].X)*max(needed, minScale) >= widest+givenGap {
				break // the others are further to the right
			}
			if pairs++; pairs > pairsMost {
				return 0, false
			}
			needed = max(needed, apart(at, nodes, i, j))
			if needed > mostSpread {
				return 0, false
			}
		}
	}
	return needed, true
}

// apart returns the least factor at which two nodes do not overlap: they are side by
// side or one above the other. It is infinite for nodes at one point.
func apart(at []Point, nodes []Node, i, j int) float64 {
	a, b := nodes[i].footprint(), nodes[j].footprint() // around 0, 0
	wide := (a.right-a.left)/2 + (b.right-b.left)/2 + givenGap
	high := a.bottom - b.top + givenGap
	if at[j].Y < at[i].Y {
		high = b.bottom - a.top + givenGap
	}
	return min(wide/math.Abs(at[j].X-at[i].X), high/math.Abs(at[j].Y-at[i].Y))
}

// place sets the positions of the nodes.
func (d *Drawing) place(at []Point) {
	for i, p := range at {
		d.Nodes[i].X, d.Nodes[i].Y = p.X, p.Y
	}
}
