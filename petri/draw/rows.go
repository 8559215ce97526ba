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
	crossed, apart := l.crossedByLanes(), l.apart()
	var ways [4][]float64
	for k := range ways {
		a := alignment{l: l, fromRight: k >= 2, upwards: k%2 == 1, crossed: crossed, apart: apart}
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
	apart     []float64 // by vertex: see layout.apart
	root      []int     // by vertex: the first of its block
	next      []int     // by vertex: the next of its block, the last one's is the root
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

// compact returns the heights: each block is as high as those above it allow, and
// then as low as those below it allow.
func (a *alignment) compact() []float64 {
	at := make([]float64, len(a.root))
	order := a.blocksDown()
	for _, b := range order {
		a.beside(b, -1, func(other int, least float64) { at[b] = max(at[b], at[other]+least) })
	}
	for _, b := range slices.Backward(order) {
		most := math.Inf(1)
		a.beside(b, 1, func(other int, least float64) { most = min(most, at[other]-least) })
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

// beside calls do with each block right above a block (step -1) or right below it (1),
// once for each of its vertices that has a neighbour there, and with the least distance.
func (a *alignment) beside(block, step int, do func(other int, least float64)) {
	if a.upwards {
		step = -step
	}
	for v := block; ; {
		column := a.l.columns[a.l.column[v]]
		if r := a.l.row[v] + step; r >= 0 && r < len(column) {
			lower := v
			if step > 0 {
				lower = column[r]
			}
			do(a.root[column[r]], a.apart[lower])
		}
		if v = a.next[v]; v == block {
			return
		}
	}
}

// apart returns for each vertex the least distance of its centre from that of the one
// above it in its column.
func (l *layout) apart() []float64 {
	apart := make([]float64, len(l.column))
	for _, column := range l.columns {
		last := 0.0
		for _, v := range column {
			above, below := l.extent(v)
			apart[v], last = last+above, below
		}
	}
	return apart
}

// blocksDown returns the roots in an order in which each is after those above it.
func (a *alignment) blocksDown() []int {
	waits := make([]int, len(a.root))
	var order []int
	for v, b := range a.root {
		if v != b {
			continue
		}
		a.beside(b, -1, func(int, float64) { waits[b]++ })
		if waits[b] == 0 {
			order = append(order, b)
		}
	}
	for k := 0; k < len(order); k++ {
		a.beside(order[k], 1, func(other int, _ float64) {
			if waits[other]--; waits[other] == 0 {
				order = append(order, other)
			}
		})
	}
	return order
}
