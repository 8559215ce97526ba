// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"cmp"
	"slices"
)

// plan is how layered draws.
type plan struct {
	first  func(node int) bool // a node where what is drawn begins
	square bool                // arcs have level and upright lines only
	bands  []int               // by node: the band that it is in, from the top; nil for none
	leave  []float64           // by arc: see Line.Leave; nil for none
	aspect float64             // the ratio of width to height of what is large
}

// Box is a node of a diagram other than a net.
type Box struct {
	W, H  float64
	Round bool    // a circle; its label is below it
	Label string  // as Node.Label; only its size counts here
	Below float64 // free height below it
	Band  int     // see Boxes
	First bool    // it is where the diagram begins
}

// Line leads from a box to another one; both are indices.
type Line struct {
	From, To int
	// Leave is the height below the centre of From at which the line leaves it, if it is not 0.
	Leave float64
}

// Boxes lays out boxes and lines in layers, as [Net] does for a net without positions. All
// lines are level or upright, and none passes through a box; lines from a box to itself have no
// Points, nor have the longest of very many. With banded, each box is below all boxes of
// lower bands. Node i of the drawing is box i, and Arc i is line i.
func Boxes(boxes []Box, lines []Line, banded bool) *Drawing {
	d := &Drawing{}
	how := plan{square: true, aspect: Wide, first: func(node int) bool { return boxes[node].First }}
	for _, b := range boxes {
		d.Nodes = append(d.Nodes, Node{Place: b.Round, W: b.W, H: b.H, Label: b.Label, below: b.Below})
		if banded {
			how.bands = append(how.bands, b.Band)
		}
	}
	var arcs []Arc // without those to the same box, which have no layer
	var index []int
	for i, l := range lines {
		if l.From != l.To {
			arcs, index, how.leave = append(arcs, Arc{From: l.From, To: l.To}), append(index, i), append(how.leave, l.Leave)
		}
	}
	d.Arcs = arcs
	d.layered(how)
	d.fit()
	d.Arcs = make([]Arc, len(lines))
	for i, l := range lines {
		d.Arcs[i] = Arc{From: l.From, To: l.To}
	}
	for k, i := range index {
		d.Arcs[i].Points = arcs[k].Points
	}
	return d
}

// The width of a gap between columns with upright lines.
const (
	squareGap  = 22
	squareStep = 9 // for each upright line
)

// inclined returns the number of links from a column that are not level.
func (l *layout) inclined(c int) (count int) {
	for _, v := range l.columns[c] {
		for _, n := range l.out[v] {
			if l.y[n.to] != l.y[v] || len(l.out[v]) > 1 || len(l.in[n.to]) > 1 {
				count++
			}
		}
	}
	return count
}

// square replaces the inclined lines in the gaps between columns by an upright line each,
// side by side in an order in which few of them cross.
func (l *layout) square(ways [][]Point) {
	type step struct{ edge, at int }
	gaps := make([][]step, len(l.columns))
	for e, way := range ways {
		for k := 1; k+1 < len(way)-1; k += 2 {
			if way[k].Y != way[k+1].Y {
				c := l.column[l.edges[e].chain[k/2]]
				gaps[c] = append(gaps[c], step{e, k})
			}
		}
	}
	upright := make([]map[int]float64, len(ways)) // by edge and index: where the line is
	for c, steps := range gaps {
		begin := func(s step) float64 { return ways[s.edge][s.at].Y }
		end := func(s step) float64 { return ways[s.edge][s.at+1].Y }
		slices.SortStableFunc(steps, func(a, b step) int { return compareUpright(begin(a), end(a), begin(b), end(b)) })
		for k, s := range steps {
			left, right := l.x[c]+l.half[c], l.x[c+1]-l.half[c+1]
			if upright[s.edge] == nil {
				upright[s.edge] = map[int]float64{}
			}
			upright[s.edge][s.at] = left + (right-left)*float64(k+1)/float64(len(steps)+1)
		}
	}
	for e, way := range ways {
		var points []Point
		for k, p := range way {
			points = append(points, p)
			if x, ok := upright[e][k]; ok {
				points = append(points, Point{X: x, Y: p.Y}, Point{X: x, Y: way[k+1].Y})
			}
		}
		ways[e] = points
	}
}

// compareUpright compares two upright lines of a gap by where they begin and end: those that
// lead down are on the left, the lowest first, and then the others, the highest first.
func compareUpright(begin, end, otherBegin, otherEnd float64) int {
	switch down, below := end > begin, otherEnd > otherBegin; {
	case down && below:
		return cmp.Compare(otherBegin, begin)
	case !down && !below:
		return cmp.Compare(begin, otherBegin)
	case down:
		return -1
	}
	return 1
}

// band returns the band of a vertex: of a lane that of the edge's beginning.
func (l *layout) band(of []int, v int) int {
	if l.lane(v) {
		return of[v-len(l.nodes)]
	}
	return l.plan.bands[l.nodes[v]]
}

// laneBands returns the bands of the lanes.
func (l *layout) laneBands() []int {
	of := make([]int, len(l.column)-len(l.nodes))
	for e := range l.edges {
		for _, v := range l.edges[e].chain {
			if l.lane(v) {
				of[v-len(l.nodes)] = l.plan.bands[l.nodes[l.edges[e].from]]
			}
		}
	}
	return of
}

// sortBands puts the vertices of each column into the order of their bands.
func (l *layout) sortBands() {
	if l.plan.bands == nil {
		return
	}
	of := l.laneBands()
	for _, column := range l.columns {
		slices.SortStableFunc(column, func(v, w int) int { return l.band(of, v) - l.band(of, w) })
	}
	l.setOrder(l.columns)
}

// stackBands moves each band below those above it.
func (l *layout) stackBands() {
	if l.plan.bands == nil {
		return
	}
	of := l.laneBands()
	bands := map[int]*box{}
	var order []int
	for v := range l.y {
		k := l.band(of, v)
		if bands[k] == nil {
			b := nothing()
			bands[k] = &b
			order = append(order, k)
		}
		above, below := l.extent(v)
		bands[k].add(box{0, l.y[v] - above, 0, l.y[v] + below})
	}
	slices.Sort(order)
	by, bottom := map[int]float64{}, 0.0
	for i, k := range order {
		if i > 0 {
			by[k] = bottom + bandGap - bands[k].top
		}
		bottom = bands[k].bottom + by[k]
	}
	for v := range l.y {
		l.y[v] += by[l.band(of, v)]
	}
}

// bandGap is the free height between bands beside that of their boxes.
const bandGap = 16
