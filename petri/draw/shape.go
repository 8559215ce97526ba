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
	l.order()
	l.sortBands()
	l.fold([]int{0})
	l.assignRows()
	l.stackBands()
	l.assignGaps()
	width, height := l.placeStrips()
	if l.plan.square || len(l.nodes) < shapedFrom {
		return l
	}
	best, least := l, max(width/aspect, height)/gainLeast
	bounds, ways := base.bounds(aspect), []func(*layout){(*layout).settleRows, (*layout).assignRows}
	if tries := visits / len(l.column); tries < len(bounds) {
		bounds, ways = bounds[:max(2, tries)], ways[:1]
	}
	for _, bound := range bounds {
		s := base.copyColumns()
		s.shared = true
		s.limit(bound)
		s.divide()
		s.order()
		for _, firsts := range s.folds(aspect) {
			for _, rows := range ways {
				t := *s
				t.fold(firsts)
				rows(&t)
				t.assignGaps()
				if width, height := t.placeStrips(); max(width/aspect, height) < least {
					best, least = &t, max(width/aspect, height)
				}
			}
		}
	}
	return best
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

// folds returns the first columns of the strips for the numbers of strips that come
// closest to the aspect, by an estimate.
func (l *layout) folds(aspect float64) [][]int {
	widths, heights := l.estimate()
	total := 0.0
	for _, w := range widths {
		total += w
	}
	type fold struct {
		firsts []int
		size   float64
	}
	var all []fold
	for k := 1; k <= len(l.columns); k++ {
		firsts := l.cuts(widths, total/float64(k))
		width, height := extentOf(firsts, widths, heights)
		all = append(all, fold{firsts, max(width/aspect, height)})
		if height > width/aspect && k > 1 {
			break
		}
	}
	slices.SortStableFunc(all, func(a, b fold) int { return cmp.Compare(a.size, b.size) })
	var best [][]int
	for _, f := range all[:min(3, len(all))] {
		best = append(best, f.firsts)
	}
	return best
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
