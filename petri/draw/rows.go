// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"math"
	"slices"
)

// assignRows computes the height of each vertex, after Brandes and Köpf, "Fast and
// Simple Horizontal Coordinate Assignment" (2001), turned by 90 degrees. It aligns
// vertices with their median neighbours in neighbouring columns, in four ways: from
// the left or the right, with the upper or the lower median first. Each alignment is
// as compact as possible, and each vertex is put between the middle two of its four
// positions. A lane is straight through all columns unless another lane crosses it.
func (l *layout) assignRows() {
	crossed := l.crossedByLanes()
	var ways [4][]float64
	for k := range ways {
		a := alignment{l: l, fromRight: k >= 2, upwards: k%2 == 1, crossed: crossed}
		a.align()
		ways[k] = a.compact()
	}
	for _, vertices := range l.verticesOfStrips() {
		lineUp(&ways, vertices)
	}
	l.y = make([]float64, len(l.column))
	for v := range l.y {
		four := [4]float64{ways[0][v], ways[1][v], ways[2][v], ways[3][v]}
		slices.Sort(four[:])
		l.y[v] = (four[1] + four[2]) / 2
	}
	l.fitStrips()
}

// lineUp moves the four alignments of a strip to the narrowest of them: those that pack
// downwards to its upper end, the others to its lower end.
func lineUp(ways *[4][]float64, vertices []int) {
	var low, high [4]float64
	narrow := 0
	for k, y := range ways {
		low[k], high[k] = y[vertices[0]], y[vertices[0]]
		for _, v := range vertices {
			low[k], high[k] = min(low[k], y[v]), max(high[k], y[v])
		}
		if high[k]-low[k] < high[narrow]-low[narrow] {
			narrow = k
		}
	}
	for k := range ways {
		by := low[narrow] - low[k]
		if k%2 == 1 {
			by = high[narrow] - high[k]
		}
		for _, v := range vertices {
			ways[k][v] += by
		}
	}
}

// crossedByLanes marks the links that cross a lane and are not part of one, and those
// between strips. They have lower precedence.
func (l *layout) crossedByLanes() []bool {
	crossed := make([]bool, l.links)
	for c := 1; c < len(l.columns); c++ {
		column, before := l.columns[c], l.columns[c-1]
		if l.strip[c] != l.strip[c-1] {
			for _, v := range column {
				for _, n := range l.in[v] {
					crossed[n.id] = true
				}
			}
			continue
		}
		first, done := 0, 0
		for r, v := range column {
			last, piece := len(before)-1, l.lane(v) && l.lane(l.in[v][0].to)
			if piece {
				last = l.row[l.in[v][0].to]
			} else if r < len(column)-1 {
				continue
			}
			for ; done <= r; done++ {
				w := column[done]
				for _, n := range l.in[w] {
					if at := l.row[n.to]; (at < first || at > last) && (!l.lane(w) || !l.lane(n.to)) {
						crossed[n.id] = true
					}
				}
			}
			first = last
		}
	}
	return crossed
}

// alignment is one of the four alignments. In those from the bottom, rows count from
// the bottom and heights are negative.
type alignment struct {
	l         *layout
	fromRight bool
	upwards   bool
	crossed   []bool
	root      []int // by vertex: the first of its block
	next      []int // by vertex: the next of its block, the last one's is the root
}

// row returns the index of a vertex in its column, in the direction of the
// alignment.
func (a *alignment) row(v int) int {
	if a.upwards {
		return len(a.l.columns[a.l.column[v]]) - 1 - a.l.row[v]
	}
	return a.l.row[v]
}

// each calls do for a column in the direction of the alignment.
func (a *alignment) each(column []int, do func(v int)) {
	for k := range column {
		if a.upwards {
			k = len(column) - 1 - k
		}
		do(column[k])
	}
}

// align makes blocks of aligned vertices.
func (a *alignment) align() {
	n := len(a.l.column)
	a.root, a.next = make([]int, n), make([]int, n)
	for v := range n {
		a.root[v], a.next[v] = v, v
	}
	links := a.l.in
	if a.fromRight {
		links = a.l.out
	}
	var sorted []link
	for k := range a.l.columns {
		if a.fromRight {
			k = len(a.l.columns) - 1 - k
		}
		last := -1
		a.each(a.l.columns[k], func(v int) {
			sorted = append(sorted[:0], links[v]...)
			if len(sorted) > 1 && a.l.lane(v) && a.l.lane(sorted[0].to) {
				sorted = sorted[:1] // shared lanes are straight
			}
			slices.SortStableFunc(sorted, func(p, q link) int { return a.row(p.to) - a.row(q.to) })
			for m := (len(sorted) - 1) / 2; m <= len(sorted)/2 && m < len(sorted); m++ {
				w := sorted[m].to
				if a.next[v] != v || a.crossed[sorted[m].id] || a.row(w) <= last {
					continue
				}
				a.next[w], a.root[v] = v, a.root[w]
				a.next[v] = a.root[v]
				last = a.row(w)
			}
		})
	}
}

// room is the least distance from a block.
type room struct {
	block int // its root
	least float64
}

// compact returns the heights: each block is as high as those above it allow, and
// then as low as those below it allow.
func (a *alignment) compact() []float64 {
	above, below := a.rooms()
	at := make([]float64, len(a.root))
	order := a.blocksDown(above, below)
	for _, b := range order {
		for _, r := range above[b] {
			at[b] = max(at[b], at[r.block]+r.least)
		}
	}
	for _, b := range slices.Backward(order) {
		most := math.Inf(1)
		for _, r := range below[b] {
			most = min(most, at[r.block]-r.least)
		}
		if !math.IsInf(most, 1) {
			at[b] = max(at[b], most)
		}
	}
	for v, b := range a.root {
		at[v] = at[b]
	}
	if a.upwards {
		for v := range at {
			at[v] = -at[v]
		}
	}
	return at
}

// rooms returns, by root, the blocks right above a block and right below it.
func (a *alignment) rooms() (above, below [][]room) {
	above, below = make([][]room, len(a.root)), make([][]room, len(a.root))
	for _, column := range a.l.columns {
		last := -1
		a.each(column, func(v int) {
			if last >= 0 {
				p, q := a.root[last], a.root[v]
				least := a.l.apart(last, v)
				above[q] = append(above[q], room{p, least})
				below[p] = append(below[p], room{q, least})
			}
			last = v
		})
	}
	return above, below
}

// apart returns the least distance between the centres of two neighbours of a
// column.
func (l *layout) apart(v, w int) float64 {
	if l.row[v] > l.row[w] {
		v, w = w, v
	}
	_, below := l.extent(v)
	above, _ := l.extent(w)
	return below + above
}

// blocksDown returns the roots in an order in which each is after those above it.
func (a *alignment) blocksDown(above, below [][]room) []int {
	waits := make([]int, len(a.root))
	var order []int
	for v, b := range a.root {
		if v != b {
			continue
		}
		if waits[b] = len(above[b]); waits[b] == 0 {
			order = append(order, b)
		}
	}
	for k := 0; k < len(order); k++ {
		for _, r := range below[order[k]] {
			if waits[r.block]--; waits[r.block] == 0 {
				order = append(order, r.block)
			}
		}
	}
	return order
}
