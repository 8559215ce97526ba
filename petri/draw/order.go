// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"cmp"
	"slices"
)

// The bounds of order. Large parts get fewer sweeps, and no swaps.
const (
	sweepsMost  = 24
	sweepsLeast = 4
	linkVisits  = 2000000 // of all sweeps together, about
	swapLinks   = 20000   // the largest part in which neighbours are swapped
	swapRounds  = 8
	patience    = 5 // sweeps without an improvement
)

// reorder sorts the vertices of each column for fewer crossings. Sweeps to the right and
// to the left sort each column by the mean rows of the neighbours in the column
// before. Then neighbours are swapped if that removes crossings. The best order is
// kept.
func (l *layout) reorder() {
	best, least := l.copyOrder(), l.crossings()
	sweeps := min(sweepsMost, max(sweepsLeast, linkVisits/(l.links+1)))
	for k, since := 0, 0; k < sweeps && least > 0 && since < patience; k++ {
		l.sweep(k%2 == 0, k/2%2 == 1)
		if l.links <= swapLinks {
			l.swapNeighbours()
		}
		since++
		if n := l.crossings(); n < least {
			best, least, since = l.copyOrder(), n, 0
		}
	}
	l.setOrder(best)
}

// firstOrder sorts the vertices in the order of a walk along the links.
func (l *layout) firstOrder() {
	l.row, l.columns = make([]int, len(l.column)), make([][]int, slices.Max(l.column)+1)
	seen := make([]bool, len(l.column))
	starts := make([]int, len(l.column))
	for v := range starts {
		starts[v] = v
	}
	slices.SortStableFunc(starts, func(a, b int) int { return l.column[a] - l.column[b] })
	for _, start := range starts {
		stack := []int{start}
		for len(stack) > 0 {
			v := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if seen[v] {
				continue
			}
			seen[v] = true
			c := l.column[v]
			l.row[v] = len(l.columns[c])
			l.columns[c] = append(l.columns[c], v)
			for _, n := range slices.Backward(l.out[v]) {
				stack = append(stack, n.to)
			}
		}
	}
}

func (l *layout) copyOrder() [][]int {
	c := make([][]int, len(l.columns))
	for i := range c {
		c[i] = slices.Clone(l.columns[i])
	}
	return c
}

func (l *layout) setOrder(columns [][]int) {
	l.columns = columns
	for _, column := range columns {
		for r, v := range column {
			l.row[v] = r
		}
	}
}

// sweep sorts each column by the means of the one before, from left to right or from
// right to left. Vertices with the same mean keep their order, or reverse it if turn
// is set, to leave a local optimum.
func (l *layout) sweep(right, turn bool) {
	for k := range l.columns {
		c, links := k, l.in
		if !right {
			c, links = len(l.columns)-1-k, l.out
		}
		l.sortColumn(l.columns[c], links, turn)
	}
}

// placed is a vertex with the mean of its neighbours' rows.
type placed struct {
	v    int
	mean float64
}

// sortColumn sorts a column by the means of its neighbours' rows. A vertex without
// neighbours keeps its row.
func (l *layout) sortColumn(column []int, links [][]link, turn bool) {
	sorted := l.placed[:0]
	for _, v := range column {
		if len(links[v]) == 0 {
			continue
		}
		sum := 0
		for _, n := range links[v] {
			sum += l.row[n.to]
		}
		sorted = append(sorted, placed{v, float64(sum) / float64(len(links[v]))})
	}
	l.placed = sorted
	if turn {
		slices.Reverse(sorted)
	}
	slices.SortStableFunc(sorted, func(a, b placed) int { return cmp.Compare(a.mean, b.mean) })
	next := 0
	for r, v := range column {
		if len(links[v]) > 0 {
			v = sorted[next].v
			next++
		}
		column[r], l.row[v] = v, r
	}
}

// crossings counts the pairs of links that cross, column by column: in the order
// of their upper ends, each crosses the earlier ones whose other end is further
// down (Barth, Jünger, Mutzel 2002).
func (l *layout) crossings() int {
	count := 0
	var tree []int
	for c := range len(l.columns) - 1 {
		tree = append(tree[:0], make([]int, len(l.columns[c+1])+1)...)
		l.after.gather(l, l.columns[c], l.columns[c+1], l.out, l.in)
		before := 0
		for _, v := range l.columns[c] {
			rows := l.after.of(v)
			for _, r := range rows {
				count += before - below(tree, r)
			}
			for _, r := range rows {
				for i := r + 1; i < len(tree); i += i & -i {
					tree[i]++
				}
			}
			before += len(rows)
		}
	}
	return count
}

// below returns the number of entries of a Fenwick tree at row r or above it.
func below(tree []int, r int) (n int) {
	for i := r + 1; i > 0; i -= i & -i {
		n += tree[i]
	}
	return n
}

// swapNeighbours swaps neighbours of a column while that removes crossings. A column is
// looked at again only after it or one beside it has changed.
func (l *layout) swapNeighbours() {
	look := make([]bool, len(l.columns)+2) // by column, from 1 on
	for c := range look {
		look[c] = true
	}
	for range swapRounds {
		swapped := false
		for c := range l.columns {
			if !look[c+1] {
				continue
			}
			look[c+1] = false
			if l.swapColumn(c) {
				look[c], look[c+1], look[c+2], swapped = true, true, true, true
			}
		}
		if !swapped {
			return
		}
	}
}

// swapColumn swaps each two neighbours of a column if that removes crossings, from top to
// bottom, and reports whether it swapped any.
func (l *layout) swapColumn(c int) (swapped bool) {
	column := l.columns[c]
	if len(column) < 2 {
		return false
	}
	l.gather(c)
	for r := range len(column) - 1 {
		v, w := column[r], column[r+1]
		if now, then := l.crossing(v, w); then < now {
			column[r], column[r+1] = w, v
			l.row[w], l.row[v] = r, r+1
			swapped = true
		}
	}
	return swapped
}

// crossing counts the crossings of the links of two vertices of a column that is gathered,
// with v above w and with w above v.
func (l *layout) crossing(v, w int) (now, then int) {
	for _, e := range [2]*ends{&l.before, &l.after} {
		a, b := e.of(v), e.of(w)
		now += inversions(a, b)
		then += inversions(b, a)
	}
	return now, then
}

// inversions counts the pairs with an element of a greater than one of b; both are
// sorted.
func inversions(a, b []int) (n int) {
	less := 0
	for _, r := range a {
		for less < len(b) && b[less] < r {
			less++
		}
		n += less
	}
	return n
}

// ends are the rows at which the links of a column's vertices end in a column beside it.
type ends struct {
	first, last []int // by vertex: its part of rows
	rows        []int // sorted for each vertex
}

func (e *ends) of(v int) []int { return e.rows[e.first[v]:e.last[v]] }

// gather notes the ends of links between a column and the one beside it, whose links back
// are in the order of its rows, so that nothing need be sorted.
func (e *ends) gather(l *layout, column, beside []int, links, back [][]link) {
	if len(e.first) < len(l.column) {
		e.first, e.last = make([]int, len(l.column)), make([]int, len(l.column))
	}
	n := 0
	for _, v := range column {
		e.first[v], e.last[v] = n, n
		n += len(links[v])
	}
	if len(e.rows) < n {
		e.rows = make([]int, n)
	}
	for r, w := range beside {
		for _, k := range back[w] {
			e.rows[e.last[k.to]] = r
			e.last[k.to]++
		}
	}
}

// gather notes the ends of the links on both sides of a column.
func (l *layout) gather(c int) {
	var left, right []int
	if c > 0 {
		left = l.columns[c-1]
	}
	if c+1 < len(l.columns) {
		right = l.columns[c+1]
	}
	l.before.gather(l, l.columns[c], left, l.in, l.out)
	l.after.gather(l, l.columns[c], right, l.out, l.in)
}
