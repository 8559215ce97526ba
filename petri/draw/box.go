// SPDX-License-Identifier: Apache-2.0

package draw

import "math"

// box is a rectangle.
type box struct{ left, top, right, bottom float64 }

// nothing returns the empty box.
func nothing() box {
	return box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
}

// add extends the box by another one.
func (b *box) add(o box) {
	b.left, b.top = min(b.left, o.left), min(b.top, o.top)
	b.right, b.bottom = max(b.right, o.right), max(b.bottom, o.bottom)
}

// footprint returns the bounds of a node: its shape, and its label if that is
// outside.
func (n *Node) footprint() box {
	b := box{n.X - n.W/2, n.Y - n.H/2, n.X + n.W/2, n.Y + n.H/2}
	if n.Place {
		w, h := LabelSize(n.Label)
		b.add(box{n.X - w/2, n.Y, n.X + w/2, b.bottom + LabelGap + h})
	}
	b.bottom += n.below
	return b
}

// border returns where the line from the centre of a node towards a point
// leaves the node.
func (n *Node) border(to Point) Point {
	dx, dy := to.X-n.X, to.Y-n.Y
	far := math.Hypot(dx, dy)
	if far == 0 {
		return Point{X: n.X + n.W/2, Y: n.Y}
	}
	if n.Place {
		r := n.W / 2
		return Point{X: n.X + dx/far*r, Y: n.Y + dy/far*r}
	}
	k := min(n.W/2/math.Abs(dx), n.H/2/math.Abs(dy)) // one of them may be infinite
	return Point{X: n.X + dx*k, Y: n.Y + dy*k}
}

// side returns the point of a node's border at a height above or below its
// centre, on the right side or on the left.
func (n *Node) side(dy float64, right bool) Point {
	dx := n.W / 2
	if n.Place {
		dx = math.Sqrt(max(0, dx*dx-dy*dy))
	}
	if !right {
		dx = -dx
	}
	return Point{X: n.X + dx, Y: n.Y + dy}
}

// clearance is the least distance between a line and another node.
const clearance = 4

// near reports whether the line from p to q comes near the node's shape.
func (n *Node) near(p, q Point) bool {
	from, to := 0.0, 1.0 // the part of the line that is within the shape's bounds
	for _, side := range [2][3]float64{{p.X - n.X, q.X - p.X, n.W/2 + clearance}, {p.Y - n.Y, q.Y - p.Y, n.H/2 + clearance}} {
		at, step, reach := side[0], side[1], side[2]
		if step == 0 {
			if math.Abs(at) > reach {
				return false
			}
			continue
		}
		in, out := (-reach-at)/step, (reach-at)/step
		from, to = max(from, min(in, out)), min(to, max(in, out))
	}
	return from < to
}
