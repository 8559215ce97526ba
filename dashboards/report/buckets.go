// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/pnagent/pnagent/dashboards/report/plot"
)

// spread is how many there were at each time, by the upper bound of a bucket.
type spread map[time.Time]map[float64]float64

func (s spread) add(at time.Time, bound, n float64) {
	if s[at] == nil {
		s[at] = map[float64]float64{}
	}
	if n > 0 {
		s[at][bound] += n
	}
}

// bucketRows are the rows of a histogram over time: of its native buckets where
// there are any, else of the classic ones. Native buckets, which may be many,
// are put into rows that double.
func bucketRows(answers []*answer) []plot.Series {
	native, classic := spread{}, spread{}
	for _, a := range answers {
		classic.addClassic(a.series)
		for _, s := range a.series {
			for _, h := range s.histograms {
				at := h.Timestamp.Time()
				native.add(at, 0, 0) // known, though there may be nothing in it
				for _, b := range h.Histogram.Buckets {
					if b != nil {
						native.add(at, doubled(float64(b.Upper)), float64(b.Count))
					}
				}
			}
		}
	}
	if len(native) > 0 {
		return native.rows()
	}
	return classic.rows()
}

// Rows that double are from a millisecond to half a year.
const (
	leastBound = 1.0 / 1024
	mostBound  = 1 << 24
)

// doubled is the power of two at or above a bound.
func doubled(bound float64) float64 {
	switch {
	case !(bound > leastBound):
		return leastBound
	case bound > mostBound:
		return math.Inf(1)
	}
	return math.Exp2(math.Ceil(math.Log2(bound) - 1e-9))
}

// addClassic takes cumulative buckets apart.
func (s spread) addClassic(all []series) {
	type edge struct{ le, n float64 }
	at := map[time.Time][]edge{}
	for _, one := range all {
		le, ok := number(one.labels["le"])
		for _, p := range one.points {
			if ok && !math.IsNaN(p.Value) {
				at[p.At] = append(at[p.At], edge{le, p.Value})
			}
		}
	}
	for t, edges := range at {
		slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.le, b.le) })
		below := 0.0
		for _, e := range edges {
			s.add(t, e.le, e.n-below)
			below = max(below, e.n)
		}
	}
}

// rows makes series of what is in each bucket at each time, the lowest first.
func (s spread) rows() []plot.Series {
	bounds := map[float64]bool{}
	for _, buckets := range s {
		for bound := range buckets {
			bounds[bound] = true
		}
	}
	times := slices.SortedFunc(maps.Keys(s), time.Time.Compare)
	var all []plot.Series
	below := 0.0
	for _, bound := range slices.Sorted(maps.Keys(bounds)) {
		row := plot.Series{Name: "≤ " + plot.Brief(bound)}
		if math.IsInf(bound, 1) {
			row.Name = "> " + plot.Brief(below)
		}
		for _, t := range times {
			row.Points = append(row.Points, plot.Point{At: t, Value: s[t][bound]})
		}
		all, below = append(all, row), bound
	}
	return all
}
