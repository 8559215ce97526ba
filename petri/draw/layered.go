// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"cmp"
	"math"
	"slices"
)

// The free space of a layered drawing, in pixels.
const (
	columnGap  = 44  // between two columns, at least
	steepness  = 6   // the ratio of the height of the arcs of a gap to its width
	widestGap  = 400 // the greatest width of a gap
	stub       = 14  // the level part of an arc at a node
	rowGap     = 22  // between two nodes of a column
	laneGap    = 14  // between two arcs that pass a column
	portGap    = 11  // between two arcs at a node, if there is room
	portMargin = 10  // the part of a box's side without arcs
	tallest    = 120 // the greatest height of a box that grows with its arcs
	packingGap = 36  // between unconnected parts
)

// layered lays out each connected part of the net, and packs the parts.
func (d *Drawing) layered(how plan) {
	if !how.square {
		d.growBoxes()
	}
	parts := d.parts()
	if how.bands != nil && len(parts) > 1 {
		parts = []part{merged(parts)}
	}
	boxes := make([]box, len(parts))
	layouts := make([]*layout, len(parts))
	for i, part := range parts {
		l := newLayout(d, part, how)
		l.breakCycles()
		layouts[i] = l.shaped(how.aspect, shapeVisits*len(part.nodes)/len(d.Nodes))
		boxes[i] = layouts[i].draw()
	}
	for i, at := range pack(boxes, how.aspect) {
		layouts[i].move(at.X-boxes[i].left, at.Y-boxes[i].top)
	}
	d.straight(func(arc int) bool { return d.Arcs[arc].Points == nil })
}

// growBoxes makes transitions high enough for the arcs on their sides.
func (d *Drawing) growBoxes() {
	in, out := make([]int, len(d.Nodes)), make([]int, len(d.Nodes))
	for i := range d.Arcs {
		out[d.Arcs[i].From]++
		in[d.Arcs[i].To]++
	}
	for v := range d.Nodes {
		if n := &d.Nodes[v]; !n.Place {
			n.H = max(n.H, min(portGap*float64(max(in[v], out[v]))+portMargin, tallest))
		}
	}
}

// part is a connected part of the net: its nodes and arcs, in the order of the net.
type part struct{ nodes, arcs []int }

// merged returns all parts as one.
func merged(parts []part) (all part) {
	for _, p := range parts {
		all.nodes, all.arcs = append(all.nodes, p.nodes...), append(all.arcs, p.arcs...)
	}
	return all
}

// parts returns the parts, in the order of their first nodes.
func (d *Drawing) parts() []part {
	leader := make([]int, len(d.Nodes))
	for i := range leader {
		leader[i] = i
	}
	find := func(v int) int {
		for leader[v] != v {
			leader[v] = leader[leader[v]]
			v = leader[v]
		}
		return v
	}
	for i := range d.Arcs {
		a, b := find(d.Arcs[i].From), find(d.Arcs[i].To)
		leader[max(a, b)] = min(a, b)
	}
	number := map[int]int{}
	var all []part
	for v := range d.Nodes {
		k, seen := number[find(v)]
		if !seen {
			k = len(all)
			number[find(v)] = k
			all = append(all, part{})
		}
		all[k].nodes = append(all[k].nodes, v)
	}
	for i := range d.Arcs {
		k := number[find(d.Arcs[i].From)]
		all[k].arcs = append(all[k].arcs, i)
	}
	return all
}

// pack puts boxes into rows, the highest first, and returns their corners.
func pack(boxes []box, aspect float64) []Point {
	wide, area := 0.0, 0.0
	order := make([]int, len(boxes))
	for i, b := range boxes {
		order[i] = i
		wide = max(wide, b.right-b.left)
		area += (b.right - b.left + packingGap) * (b.bottom - b.top + packingGap)
	}
	wide = max(wide, math.Sqrt(area*aspect))
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Compare(boxes[j].bottom-boxes[j].top, boxes[i].bottom-boxes[i].top)
	})
	at := make([]Point, len(boxes))
	x, y, high := 0.0, 0.0, 0.0
	for _, i := range order {
		w, h := boxes[i].right-boxes[i].left, boxes[i].bottom-boxes[i].top
		if x > 0 && x+w > wide {
			x, y, high = 0, y+high+packingGap, 0
		}
		at[i] = Point{X: x, Y: y}
		x += w + packingGap
		high = max(high, h)
	}
	return at
}

// layout is the state of a layered drawing of one part. A vertex is a node of the
// part or, from len(nodes) on, a lane: the passage of a long arc through a column.
type layout struct {
	d      *Drawing
	plan   plan
	nodes  []int // vertex to index in d.Nodes
	tokens []bool
	degree []int // by vertex: its edges
	prints []box // by vertex that is no lane: its footprint around its centre
	edges  []edge

	column  []int    // by vertex
	columns [][]int  // the vertices of each column, from top to bottom
	row     []int    // by vertex: its index in its column
	in, out [][]link // by vertex: the links from the previous column and to the next one
	links   int      // the number of links
	before  ends     // of the column that crossing is about
	after   ends
	placed  []placed  // a buffer of sortColumn
	groups  []group   // a buffer of settle
	y       []float64 // by vertex: its centre
	x       []float64 // by column: its centre, from the beginning of its strip
	half    []float64 // by column: half its width
	shared  bool      // long edges of the same vertex share their lanes
	strips  []strip
	strip   []int // by column: its strip
}

// edge is an arc, from left to right.
type edge struct {
	from, to int
	arc      int       // in d.Arcs
	turned   bool      // the arc has the opposite direction
	chain    []int     // the vertices on its way; nil for a straight line
	tracks   []float64 // where it leads from one strip to the next
}

// link connects two vertices in neighbouring columns.
type link struct{ to, id int }

func newLayout(d *Drawing, p part, how plan) *layout {
	l := &layout{d: d, plan: how, prints: make([]box, len(p.nodes)), nodes: p.nodes, tokens: make([]bool, len(p.nodes)), column: make([]int, len(p.nodes))}
	vertex := make(map[int]int, len(p.nodes))
	for v, node := range p.nodes {
		vertex[node] = v
		l.tokens[v] = how.first(node)
		n := d.Nodes[node]
		n.X, n.Y = 0, 0
		l.prints[v] = n.footprint()
	}
	l.degree = make([]int, len(p.nodes))
	for _, a := range p.arcs {
		l.degree[vertex[d.Arcs[a].From]]++
		l.degree[vertex[d.Arcs[a].To]]++
		l.edges = append(l.edges, edge{from: vertex[d.Arcs[a].From], to: vertex[d.Arcs[a].To], arc: a})
	}
	return l
}

// lane reports whether a vertex is a passage of an arc.
func (l *layout) lane(v int) bool { return v >= len(l.nodes) }

// node returns the node of a vertex that is not a lane.
func (l *layout) node(v int) *Node { return &l.d.Nodes[l.nodes[v]] }

// extent returns the extent of a vertex above and below its centre, including half of
// the gap.
func (l *layout) extent(v int) (above, below float64) {
	if l.lane(v) {
		return laneGap / 2, laneGap / 2
	}
	above, below = rowGap/2-l.prints[v].top, l.prints[v].bottom+rowGap/2
	if l.back(l.column[v]) {
		above, below = below, above
	}
	return above, below
}
