// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"cmp"
	"math"
	"slices"
)

// When the shape of a part matters.
const (
	shapedFrom  = 60     // nodes; smaller parts are in one strip
	gainLeast   = 1.3    // how much larger a shaped part is on a screen, at least
	shapeVisits = 150000 // vertices of all layouts that are tried for a net, about
)

// shaped returns the layout, or one of about the ratio of width to height that
// aspect asks for, if the part is large and the other one is seen larger. Square layouts
// stay as they are. visits bounds the vertices of the layouts that are tried, about.
func (l *layout) shaped(aspect float64, visits int) *layout {
	base := l.copyColumns()
	l.divide()
	l.firstOrder()
	if l.plan.square || len(l.nodes) < shapedFrom {
		l.plain()
		return l
	}
	best, size := smallest(base.trials(aspect, visits/len(l.column)), aspect)
	widths, heights := l.estimate()
	width, height := extentOf([]int{0}, widths, heights)
	if leastSize(width, height, aspect)/gainLeast > size {
		return best
	}
	l.plain()
	if l.size(aspect)/gainLeast > size {
		return best
	}
	return l
}

// plain lays out the columns in one strip.
func (l *layout) plain() {
	l.reorder()
	l.sortBands()
	l.fold([]int{0})
	l.assignRows()
	l.stackBands()
	l.assignGaps()
	l.placeStrips()
}

// size returns the height of the lowest screen of an aspect that shows all strips.
func (l *layout) size(aspect float64) float64 {
	width, height := l.placeStrips()
	return max(width/aspect, height)
}

// trial is a layout that is still to be folded.
type trial struct {
	l       *layout
	folded  folded
	ways    []func(*layout) // of assigning rows
	ordered *bool           // whether the columns of the layout are reordered
}

// trials returns what is tried, the least by its estimate first. many is the number of
// bounds that there is time for.
func (l *layout) trials(aspect float64, many int) (all []trial) {
	bounds, ways := l.bounds(aspect), []func(*layout){(*layout).settleRows, (*layout).assignRows}
	if many < len(bounds) {
		bounds, ways = bounds[:max(2, many)], ways[:1]
	}
	for _, bound := range bounds {
		s := l.copyColumns()
		s.shared = true
		s.limit(bound)
		s.divide()
		s.firstOrder()
		ordered := false
		for _, f := range s.folds(aspect) {
			all = append(all, trial{s, f, ways, &ordered})
		}
	}
	slices.SortStableFunc(all, func(a, b trial) int { return cmp.Compare(a.folded.size, b.folded.size) })
	return all
}

// smallest returns the layout of the least size. Trials that cannot be smaller, whatever
// the order of their columns, are left out.
func smallest(trials []trial, aspect float64) (best *layout, size float64) {
	size = math.Inf(1)
	for _, try := range trials {
		if try.folded.size >= size {
			break
		}
		if !*try.ordered {
			try.l.reorder()
			*try.ordered = true
		}
		for _, rows := range try.ways {
			t := *try.l
			t.fold(try.folded.firsts)
			rows(&t)
			t.assignGaps()
			if got := t.size(aspect); got < size {
				best, size = &t, got
			}
		}
	}
	return best, size
}

// copyColumns returns a layout with the same columns, without lanes.
func (l *layout) copyColumns() *layout {
	return &layout{d: l.d, plan: l.plan, nodes: l.nodes, tokens: l.tokens, prints: l.prints, edges: slices.Clone(l.edges), column: slices.Clone(l.column), degree: l.degree}
}

// bounds returns the numbers of nodes that a column may have, in the order in which
// they are tried.
func (l *layout) bounds(aspect float64) []int {
	area, all := 0.0, 0.0
	for v := range l.nodes {
		b := l.prints[v]
		all += b.bottom - b.top + rowGap
		area += (b.right - b.left + 2*stub + columnGap) * (b.bottom - b.top + rowGap)
	}
	high := math.Sqrt(area / aspect)
	most := high / (all / float64(len(l.nodes)))
	bounds := []int{len(l.nodes)}
	for _, share := range []float64{1, 0.5, 0.25, 0.7, 1.4, 0.35, 0.18} {
		bounds = append(bounds, max(1, int(share*most)))
	}
	return bounds
}

// limit moves vertices to later columns so that a column has a bounded number of
// nodes. A column prefers vertices whose last neighbour is near.
func (l *layout) limit(most int) {
	if most >= len(l.nodes) {
		return
	}
	waits, last := make([]int, len(l.nodes)), make([]int, len(l.nodes))
	out := l.edgesFrom()
	for e := range l.edges {
		waits[l.edges[e].to]++
	}
	var ready []int
	for v, n := range waits {
		if n == 0 {
			last[v] = -1
			ready = append(ready, v)
		}
	}
	was := slices.Clone(l.column)
	for c := 0; len(ready) > 0; c++ {
		slices.SortStableFunc(ready, func(a, b int) int {
			return cmp.Or(cmp.Compare(last[b], last[a]), cmp.Compare(was[a], was[b]))
		})
		taken := min(most, len(ready))
		for _, v := range ready[:taken] {
			l.column[v] = c
		}
		column := ready[:taken]
		ready = slices.Clone(ready[taken:])
		for _, v := range column {
			for _, e := range out[v] {
				to := l.edges[e].to
				last[to] = c
				if waits[to]--; waits[to] == 0 {
					ready = append(ready, to)
				}
			}
		}
	}
}

// folded is a division of the columns into strips.
type folded struct {
	firsts []int   // the first columns of the strips
	size   float64 // at least, whatever the order of the columns; see layout.size
}

// folds returns the divisions into strips that come closest to the aspect, by an
// estimate, the best first.
func (l *layout) folds(aspect float64) []folded {
	widths, heights := l.estimate()
	total := 0.0
	for _, w := range widths {
		total += w
	}
	var all []folded
	for k := 1; k <= len(l.columns); k++ {
		firsts := l.cuts(widths, total/float64(k))
		width, height := extentOf(firsts, widths, heights)
		all = append(all, folded{firsts, leastSize(width, height, aspect)})
		if height > width/aspect && k > 1 {
			break
		}
	}
	slices.SortStableFunc(all, func(a, b folded) int { return cmp.Compare(a.size, b.size) })
	return all[:min(3, len(all))]
}

// leastSize returns the size of strips whose extent is estimated with a gap behind each
// column and each strip.
func leastSize(width, height, aspect float64) float64 {
	return max((width-columnGap)/aspect, height-stripGap)
}

// estimate returns the widths and heights of the columns.
func (l *layout) estimate() (widths, heights []float64) {
	widths, heights = make([]float64, len(l.columns)), make([]float64, len(l.columns))
	for c, column := range l.columns {
		for _, v := range column {
			if l.lane(v) {
				heights[c] += laneGap
				continue
			}
			b := l.prints[v]
			heights[c] += b.bottom - b.top + rowGap
			widths[c] = max(widths[c], b.right-b.left+2*stub+columnGap)
		}
	}
	return widths, heights
}

// cuts divides the columns into strips of about a width, where few links pass.
func (l *layout) cuts(widths []float64, width float64) []int {
	firsts := []int{0}
	x, next := 0.0, width
	best, fewest := 0, math.MaxInt
	for c := range widths {
		if x >= next-width*0.12 && c > firsts[len(firsts)-1] {
			if n := l.linksBefore(c); n < fewest {
				best, fewest = c, n
			}
		}
		x += widths[c]
		if x >= next+width*0.12 && fewest < math.MaxInt {
			firsts = append(firsts, best)
			next += width
			fewest = math.MaxInt
		}
	}
	return firsts
}

// extentOf returns the size of strips.
func extentOf(firsts []int, widths, heights []float64) (width, height float64) {
	for k, first := range firsts {
		end := len(widths)
		if k+1 < len(firsts) {
			end = firsts[k+1]
		}
		w := 0.0
		for _, x := range widths[first:end] {
			w += x
		}
		width = max(width, w)
		height += slices.Max(heights[first:end]) + stripGap
	}
	return width, height
}
