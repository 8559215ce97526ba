// SPDX-License-Identifier: Apache-2.0

package draw

// The bounds of settleRows.
const (
	settlings  = 6   // sweeps in each direction
	slack      = 1.1 // the height of a strip, of that of its tallest column
	laneWeight = 6   // how much more a lane is drawn to the next one than to a node
)

// settleRows computes the height of each vertex so that no strip is much higher than
// its tallest column: sweeps move each vertex towards the mean of its neighbours as
// far as the column has room. Long arcs are less straight than those of assignRows.
func (l *layout) settleRows() {
	l.y = make([]float64, len(l.column))
	tops := make([][]float64, len(l.columns)) // of each vertex if the column is packed upwards
	totals, limits := make([]float64, len(l.columns)), make([]float64, len(l.strips))
	for c, column := range l.columns {
		tops[c] = make([]float64, 0, len(column))
		for _, v := range column {
			above, below := l.extent(v)
			tops[c] = append(tops[c], totals[c]+above)
			totals[c] += above + below
		}
		limits[l.strip[c]] = max(limits[l.strip[c]], totals[c]*slack)
	}
	for c, column := range l.columns {
		for r, v := range column {
			l.y[v] = tops[c][r] + (limits[l.strip[c]]-totals[c])/2
		}
	}
	for k := range 2 * settlings {
		for c := range l.columns {
			links := l.in
			if k%2 == 1 {
				c, links = len(l.columns)-1-c, l.out
			}
			l.settle(l.columns[c], links, tops[c], limits[l.strip[c]]-totals[c])
		}
	}
	l.fitStrips()
}

// group is a run of neighbours in a column that touch, with the mean of the distances
// from their packed positions that they are drawn to.
type group struct {
	mean, weight float64
	count        int
}

// settle moves the vertices of a column towards their neighbours on one side, at most
// by room from their packed positions: an isotonic regression by pooling adjacent
// violators.
func (l *layout) settle(column []int, links [][]link, tops []float64, room float64) {
	groups := l.groups[:0]
	for r, v := range column {
		at, weight := l.drawnTo(v, links[v])
		g := group{at - tops[r], weight, 1}
		for len(groups) > 0 && groups[len(groups)-1].mean > g.mean {
			p := groups[len(groups)-1]
			groups = groups[:len(groups)-1]
			w := p.weight + g.weight
			g = group{(p.mean*p.weight + g.mean*g.weight) / w, w, p.count + g.count}
		}
		groups = append(groups, g)
	}
	l.groups = groups
	r := 0
	for _, g := range groups {
		for range g.count {
			l.y[column[r]] = tops[r] + min(max(0, g.mean), room)
			r++
		}
	}
}

// drawnTo returns the weighted mean height of neighbours in the same strip, or of
// the vertex itself if it has none.
func (l *layout) drawnTo(v int, links []link) (y, weight float64) {
	for _, n := range links {
		if l.strip[l.column[n.to]] != l.strip[l.column[v]] {
			continue
		}
		w := 1.0
		if l.lane(v) && l.lane(n.to) {
			w = laneWeight
		}
		y, weight = y+w*l.y[n.to], weight+w
	}
	if weight == 0 {
		return l.y[v], 0.1
	}
	return y / weight, weight
}
