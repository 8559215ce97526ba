// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"cmp"
	"math"
	"slices"
)

// The space between strips, in pixels.
const (
	stripGap = 30 // between two strips
	trackGap = 8  // between two arcs that lead from one strip to the next
)

// strip is a row of columns of a folded layout. The columns of every second strip lead
// from right to left, upside down, so that arcs between two strips do not cross.
type strip struct {
	first         int     // its first column
	width, height float64 // in pixels
	x, y          float64 // where the beginning of its first column is, at height 0
}

// back reports whether a column is in a strip that leads from right to left.
func (l *layout) back(c int) bool { return l.strip[c]%2 == 1 }

// at returns a point of the drawing: a position along the strip of a vertex, and a
// distance from the height of the vertex.
func (l *layout) at(v int, x, dy float64) Point {
	c := l.column[v]
	s, y := &l.strips[l.strip[c]], l.y[v]+dy
	if l.back(c) {
		return Point{X: s.x - x, Y: s.y - y}
	}
	return Point{X: s.x + x, Y: s.y + y}
}

// side returns the point of a vertex's border at which an edge leaves or arrives.
func (l *layout) side(v int, dy float64, leaves bool) Point {
	n := l.node(v)
	if l.back(l.column[v]) {
		return n.side(-dy, !leaves)
	}
	return n.side(dy, leaves)
}

// fold divides the columns into strips that begin at the given columns.
func (l *layout) fold(firsts []int) {
	l.strips, l.strip = make([]strip, len(firsts)), make([]int, len(l.columns))
	for k, first := range firsts {
		l.strips[k].first = first
		for c := first; c < len(l.columns); c++ {
			l.strip[c] = k
		}
	}
}

// verticesOfStrips returns the vertices of each strip.
func (l *layout) verticesOfStrips() [][]int {
	all := make([][]int, len(l.strips))
	for c, column := range l.columns {
		all[l.strip[c]] = append(all[l.strip[c]], column...)
	}
	return all
}

// fitStrips moves the vertices of each strip to a least height of 0.
func (l *layout) fitStrips() {
	for k, vertices := range l.verticesOfStrips() {
		top, bottom := math.Inf(1), math.Inf(-1)
		for _, v := range vertices {
			above, below := l.extent(v)
			top, bottom = min(top, l.y[v]-above), max(bottom, l.y[v]+below)
		}
		for _, v := range vertices {
			l.y[v] -= top
		}
		l.strips[k].height = bottom - top
	}
}

// placeStrips puts the strips one below the other, and returns the size of all.
func (l *layout) placeStrips() (width, height float64) {
	for c := range l.columns {
		s := &l.strips[l.strip[c]]
		s.width = l.x[c] + l.half[c]
		width = max(width, s.width)
	}
	for k := range l.strips {
		s := &l.strips[k]
		s.y = height
		if k%2 == 1 {
			s.x, s.y = width, height+s.height
		}
		height += s.height + stripGap
	}
	var tracks [2]int // of a side, at most
	for c := 1; c < len(l.columns); c++ {
		if k := l.strip[c]; k != l.strip[c-1] {
			tracks[k%2] = max(tracks[k%2], l.linksBefore(c))
		}
	}
	return width + trackGap*float64(tracks[0]+tracks[1]), height - stripGap
}

// linksBefore returns the number of links from the previous column.
func (l *layout) linksBefore(c int) (n int) {
	for _, v := range l.columns[c] {
		n += len(l.in[v])
	}
	return n
}

// passage is an edge's way from one strip to the next.
type passage struct {
	edge, strip int
	from, to    int // vertices
	leave       Point
	enter       Point
}

// assignTracks gives each edge its tracks between strips. The arcs that leave lower
// are further inside. Those that share a lane share a track.
func (l *layout) assignTracks(leave, arrive []float64) {
	right := 0.0
	for k := range l.strips {
		right = max(right, l.strips[k].width)
	}
	for e := range l.edges {
		l.edges[e].tracks = nil
	}
	all := l.passages(leave, arrive)
	for k, number := 0, 0; k < len(all); k++ {
		p := &all[k]
		number++
		if k > 0 && all[k-1].strip == p.strip {
			q := &all[k-1]
			if p.from == q.from && l.lane(p.from) || p.to == q.to && l.lane(p.to) {
				number--
			}
		} else {
			number = 1
		}
		x := right + trackGap*float64(number)
		if p.strip%2 == 1 {
			x = -trackGap * float64(number)
		}
		l.edges[p.edge].tracks = append(l.edges[p.edge].tracks, x)
	}
}

// passages returns the ways between strips, by strip, from the inside to the outside.
func (l *layout) passages(leave, arrive []float64) (all []passage) {
	for e := range l.edges {
		chain := l.edges[e].chain
		for k := 1; k < len(chain); k++ {
			v, w := chain[k-1], chain[k]
			if l.strip[l.column[v]] == l.strip[l.column[w]] {
				continue
			}
			p := passage{edge: e, strip: l.strip[l.column[v]], from: v, to: w, leave: l.at(v, 0, 0), enter: l.at(w, 0, 0)}
			if k == 1 {
				p.leave = l.at(v, 0, leave[e])
			}
			if k == len(chain)-1 {
				p.enter = l.at(w, 0, arrive[e])
			}
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b passage) int {
		return cmp.Or(cmp.Compare(a.strip, b.strip), cmp.Compare(b.leave.Y, a.leave.Y), cmp.Compare(a.enter.Y, b.enter.Y))
	})
	return all
}
