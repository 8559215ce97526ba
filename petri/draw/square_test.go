// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Random diagrams: no boxes overlap, lines are level or upright, touch no box but their own, and
// bands are below each other.
func TestBoxesAreClearOfEachOtherAndOfLines(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		boxes := make([]Box, 1+random.IntN(20))
		for i := range boxes {
			boxes[i] = Box{W: 30 + random.Float64()*200, H: 30 + random.Float64()*100, Below: float64(random.IntN(2)) * 40, Band: random.IntN(3), First: random.IntN(4) == 0}
			if random.IntN(3) == 0 {
				boxes[i].Round, boxes[i].W, boxes[i].H, boxes[i].Label = true, 36, 36, "some words\nbelow it"
			}
		}
		lines := make([]Line, random.IntN(30))
		for i := range lines {
			lines[i] = Line{From: random.IntN(len(boxes)), To: random.IntN(len(boxes))}
			if b := boxes[lines[i].From]; random.IntN(4) == 0 && b.Below > 0 && !b.Round {
				lines[i].Leave = b.H/2 + 20
			}
		}
		banded := random.IntN(2) == 0
		d := Boxes(boxes, lines, banded)
		clearOfEachOther(t, boxes, d, banded)
		for i := range d.Arcs {
			clearOfBoxes(t, lines[i], d, i)
		}
		if t.Failed() {
			t.Fatalf("boxes %+v, lines %+v", boxes, lines)
		}
	}
}

func clearOfEachOther(t *testing.T, boxes []Box, d *Drawing, banded bool) {
	t.Helper()
	for i := range d.Nodes {
		a := d.Nodes[i].footprint()
		for k := range d.Nodes[:i] {
			b := d.Nodes[k].footprint()
			if a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom {
				t.Errorf("boxes %d and %d overlap", k, i)
			}
			if banded && boxes[k].Band < boxes[i].Band && b.bottom > a.top || banded && boxes[i].Band < boxes[k].Band && a.bottom > b.top {
				t.Errorf("boxes %d and %d are not in their bands", k, i)
			}
		}
	}
}

func clearOfBoxes(t *testing.T, l Line, d *Drawing, i int) {
	t.Helper()
	points := d.Arcs[i].Points
	if l.From == l.To {
		if points != nil {
			t.Errorf("line %d from a box to itself has points", i)
		}
		return
	}
	if leave := points[0].Y - d.Nodes[l.From].Y; l.Leave != 0 && math.Abs(leave-l.Leave) > 0.2 {
		t.Errorf("line %d leaves its box at %g; expected %g", i, leave, l.Leave)
	}
	for k := 1; k < len(points); k++ {
		p, q := points[k-1], points[k]
		if p.X != q.X && math.Abs(p.Y-q.Y) > 0.11 {
			t.Errorf("line %d is inclined: %v", i, points)
		}
		for v := range d.Nodes {
			n := &d.Nodes[v]
			if v != l.From && v != l.To && min(p.X, q.X) < n.X+n.W/2 && max(p.X, q.X) > n.X-n.W/2 && min(p.Y, q.Y) < n.Y+n.H/2 && max(p.Y, q.Y) > n.Y-n.H/2 {
				t.Errorf("line %d passes through box %d", i, v)
			}
		}
	}
}
