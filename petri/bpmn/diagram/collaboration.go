// SPDX-License-Identifier: Apache-2.0

package diagram

import (
	"math"
	"slices"
)

// collaboration lays out the pools of a collaboration, one below the other, with the message flows between
// them. It reports false if none of them has flow nodes. It notes the processes in pooled.
func (f *File) collaboration(e *elem, pooled map[string]bool) (Diagram, bool) {
	p := &pools{File: f, of: map[string]int{}, index: map[string]int{}}
	for _, k := range e.Kids {
		if named(k, modelSpace, "participant") && p.first(k) {
			p.add(k, pooled)
		}
	}
	if !p.filled {
		return Diagram{}, false
	}
	d := Diagram{Plane: e.Attr("id"), Name: f.nameOf(e), Edges: p.edges}
	for i := range p.heads {
		p.heads[i].W = p.width
		p.of[p.heads[i].Element] = i
		for k := range p.inner[i] {
			if s := &p.inner[i][k]; s.Kind == "lane" { // all pools are as wide as the widest
				s.W = padding + p.width - s.X
			}
		}
		d.Shapes = append(d.Shapes, p.heads[i])
		d.Shapes = append(d.Shapes, p.inner[i]...)
	}
	p.shapes = d.Shapes
	for i := range p.shapes {
		p.index[p.shapes[i].Element] = i
	}
	var flows []*elem
	for _, k := range e.Kids {
		if named(k, modelSpace, "messageFlow") && p.first(k) {
			flows = append(flows, k)
		}
	}
	p.tight = len(flows)*len(p.shapes) > comparisons
	for i, k := range flows {
		if points := p.message(k, float64(i+1)/float64(len(flows)+1)); points != nil {
			d.Edges = append(d.Edges, f.newEdge(k, points))
		}
	}
	return d, true
}

// comparisons bounds those of message flows and shapes.
const comparisons = 1_000_000

// pools are the pools of a collaboration while it is laid out.
type pools struct {
	*File
	width, y float64
	filled   bool // one has flow nodes
	heads    []Shape
	inner    [][]Shape // by pool
	edges    []Edge
	of       map[string]int // the pool of each element
	shapes   []Shape
	index    map[string]int // of each element's shape
	tight    bool           // there is no time to look for free ways
}

// add adds the pool of a participant below the others.
func (p *pools) add(e *elem, pooled map[string]bool) {
	head := p.newShape(e)
	head.Bounds = Bounds{padding, p.y + padding, 0, blackBox}
	c := content{w: 6 * taskWidth}
	process := p.byID[ref(e, "processRef")]
	if process != nil && process.Name.Local == "process" && hasNodes(process.elem) && !pooled[ref(e, "processRef")] {
		pooled[ref(e, "processRef")] = true
		p.filled = true
		c = p.scope(process.elem)
		head.H = c.h
		c.move(padding+bandWidth, head.Y)
	}
	for i := range c.shapes {
		p.of[c.shapes[i].Element] = len(p.heads)
	}
	p.width = max(p.width, c.w+bandWidth)
	p.heads, p.inner = append(p.heads, head), append(p.inner, c.shapes)
	p.edges = append(p.edges, c.edges...)
	p.y += head.H + poolGap
}

// message returns the way of a message flow, or nil if it has no ends: level in the gap
// beside the pool where it begins, at a part of its height.
func (p *pools) message(e *elem, part float64) []Point {
	from, okFrom := p.of[ref(e, "sourceRef")]
	to, okTo := p.of[ref(e, "targetRef")]
	if !okFrom || !okTo || from == to {
		return nil
	}
	head := &p.heads[from]
	y := head.Y + head.H + poolGap*part
	if to < from {
		y = head.Y - poolGap*part
	}
	source, target := p.shape(ref(e, "sourceRef")), p.shape(ref(e, "targetRef"))
	begin, end := p.reach(source, y, part), p.reach(target, y, part)
	switch last, first := &begin[len(begin)-1], &end[len(end)-1]; {
	case source.Kind == "participant" && target.Kind != "participant":
		begin[0].X, last.X = first.X, first.X
	case target.Kind == "participant":
		end[0].X, first.X = last.X, last.X
	}
	slices.Reverse(end)
	return slices.Compact(append(begin, end...))
}

func (p *pools) shape(id string) *Shape { return &p.shapes[p.index[id]] }

// reach returns a way from the border of a shape to a height outside of its pool: the first of some that
// touches no other shape, or straight. Those of an activity are side by side, by a part of its width.
func (p *pools) reach(s *Shape, y, part float64) []Point {
	m := s.middle()
	edge := s.Y + s.H
	if y < s.Y {
		edge = s.Y
	}
	x := m.X
	if isActivity(s.Kind) {
		x = math.Round(s.X + s.W*(0.2+0.6*part))
	}
	ways := [][]Point{{{X: x, Y: edge}, {X: x, Y: y}}}
	for _, out := range []float64{8, 18, 28, 48, 68, 98, 128} {
		ways = append(ways,
			[]Point{{X: s.X + s.W, Y: m.Y}, {X: s.X + s.W + out, Y: m.Y}, {X: s.X + s.W + out, Y: y}},
			[]Point{{X: s.X, Y: m.Y}, {X: s.X - out, Y: m.Y}, {X: s.X - out, Y: y}})
	}
	for _, way := range ways {
		if p.tight || !p.touches(s, way) {
			return way
		}
	}
	return ways[0]
}

// touches reports whether a way from a shape touches another one that does not enclose it.
func (p *pools) touches(s *Shape, way []Point) bool {
	for i := range p.shapes {
		o := &p.shapes[i]
		if o.Element == s.Element || o.Kind == "participant" || o.Kind == "lane" || o.encloses(&s.Bounds) {
			continue
		}
		for k := 1; k < len(way); k++ {
			if o.crossed(way[k-1], way[k]) {
				return true
			}
		}
	}
	return false
}

func (b *Bounds) encloses(o *Bounds) bool {
	return b.X <= o.X && b.Y <= o.Y && o.X+o.W <= b.X+b.W && o.Y+o.H <= b.Y+b.H
}

// crossed reports whether a level or upright line has points inside the bounds.
func (b *Bounds) crossed(p, q Point) bool {
	const edge = 0.2 // coordinates are rounded
	return min(p.X, q.X) < b.X+b.W-edge && max(p.X, q.X) > b.X+edge && min(p.Y, q.Y) < b.Y+b.H-edge && max(p.Y, q.Y) > b.Y+edge
}
