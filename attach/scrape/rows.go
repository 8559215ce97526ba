// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
)

// end determines, after all series were read, which columns are known, and
// updates the observed ones.
func (n *netState) end(all families, at int64) {
	n.at = at
	n.findTakers()
	for of := range n.rows {
		n.known[of] = 0
		for c := range numColumns {
			if len(n.rows[of]) > 0 && specOf(c).of == table(of) && !slices.ContainsFunc(n.rows[of], func(r *rowState) bool { return !r.knows(c, all) }) {
				n.known[of] |= 1 << c
			}
		}
	}
	for _, r := range n.all {
		r.observe(at, all)
	}
}

// knows reports whether a column of the row is known as of this scrape. A
// missing series is unknown, and so is one that is no number, with these exceptions: a column that the mapping
// sets to zero; a counter, which stays; the time since when nothing is there; and a
// row with labels that is gone, while others of its mapping have series.
func (r *rowState) knows(c column, all families) bool {
	v := r.m.values[c]
	switch {
	case v == nil, r.bad&(1<<c) != 0:
		return false
	case v.never, v.zero, r.cells[c].n > 0, c == end:
		return true
	case specOf(c).kind == since && r.knows(specOf(c).needs, all) && r.cells[specOf(c).needs].now < 1:
		return true
	case v.observed:
		return r.knowsAll(all, observedFrom(c))
	case specOf(c).kind == counter || specOf(c).kind == histogram:
		return r.cells[c].ever
	}
	return len(r.m.id.labels) > 0 && !r.there && slices.ContainsFunc(v.selectors, func(s selector) bool {
		fam, _ := all.find(s.name)
		return fam != nil
	})
}

// observedFrom returns the columns from which a column is observed.
func observedFrom(c column) []column {
	if c == oldest {
		return []column{tokens, arrivals, departures}
	}
	return []column{firings}
}

func (r *rowState) knowsAll(all families, columns []column) bool {
	return !slices.ContainsFunc(columns, func(c column) bool { return r.m.values[c] != nil && !r.knows(c, all) })
}

// observe updates the observed columns. Without the tokens it is not known which of
// them left, so what was observed before stays.
func (r *rowState) observe(at int64, all families) {
	if v := r.m.values[oldest]; v != nil && v.observed && r.knowsAll(all, observedFrom(oldest)) {
		count := func(c column) int64 {
			if r.m.values[c] == nil {
				return -1
			}
			return int64(r.cells[c].total)
		}
		r.observer.observe(at, int64(r.cells[tokens].now), count(arrivals), count(departures), r.reset)
	}
	if v := r.m.values[consumers]; v != nil && (v.zero || r.cells[consumers].n > 0) {
		r.alone.observe(at, r.cells[consumers].now < 1)
	}
	if v := r.m.values[lastFiring]; v != nil && v.observed {
		if was := r.cells[lastFiring].total; r.cells[firings].total > was {
			r.fired = at
		}
		r.cells[lastFiring].total = r.cells[firings].total
	}
}

// fill fills in the rows of the last scrape. A publisher may still have a
// smaller size than the net.
func (n *netState) fill(into *stats.Rows) {
	for i := range into.Places {
		n.rows[places][i].fillPlace(&into.Places[i], n.at)
	}
	for i := range into.Transitions {
		r := n.rows[transitions][i]
		fill(r, transitionNumbers, firings, &into.Transitions[i])
		into.Transitions[i].Duration = copied(&r.cells[duration].hist)
	}
	into.Columns = n.columns()
}

// columns returns the known columns of rows: those whose keys are all known in
// all rows of the table.
func (n *netState) columns() stats.Columns {
	var known, lacking stats.Columns
	for c := range numColumns {
		s := specOf(c)
		switch mapped := len(n.m.rows[s.of]) > 0 && n.m.rows[s.of][0].values[c] != nil; {
		case mapped && n.known[s.of]&(1<<c) == 0:
			lacking |= s.fills
		case mapped:
			known |= s.fills
		}
	}
	if !known.Has(stats.ColTokens) || lacking.Has(stats.ColTokens) {
		lacking |= stats.ColOldest
	}
	if slices.ContainsFunc(n.m.rows[places], func(p rowMap) bool { return p.explained() }) && known.Has(stats.ColOldest) {
		known |= stats.ColStuck | stats.ColGroups
	}
	return known &^ lacking
}

// The numbers of rows, in the order of the columns of each table.
var (
	placeNumbers      = stats.PlaceTable.Numbers(columnsOf(places)...)
	transitionNumbers = stats.TransitionTable.Numbers(columnsOf(transitions)...)
)

// fill sets the numbers of a row whose columns begin with first. A time since when something is
// there is 0 if nothing is, or if it is not known.
func fill[R any](r *rowState, numbers []stats.Number[R], first column, row *R) {
	for i := range numbers {
		n, s, x := &numbers[i], specOf(first+column(i)), &r.cells[first+column(i)]
		switch {
		case n.Count != nil && s.kind == counter:
			*n.Count.Of(row) = x.total
		case n.Count != nil:
			*n.Count.Of(row) = uint64(x.now)
		case n.Moment != nil && s.kind == last:
			*n.Moment.Of(row) = max(int64(x.now), r.fired)
		case n.Moment != nil && x.n > 0 && r.cells[s.needs].now >= 1:
			*n.Moment.Of(row) = max(int64(x.now), 1)
		}
	}
}

func (r *rowState) fillPlace(p *stats.Place, at int64) {
	fill(r, placeNumbers, tokens, p)
	p.Dwell = copied(&r.cells[dwell].hist)
	switch v := r.m.values[oldest]; {
	case p.Tokens == 0 || v == nil:
		return
	case p.Oldest != 0:
	case v.observed:
		p.Oldest = r.observer.oldest()
	default:
		return // the column is absent
	}
	// Only the oldest is known. The others count with age 0, so the mean age
	// is a lower bound.
	p.Injected.Add(p.Oldest)
	p.Injected.Merge(stats.TimeSum{Sec: uint64(at) / 1e6 * (p.Tokens - 1), Micro: uint64(at) % 1e6 * (p.Tokens - 1)})
	r.explainPlace(p)
}

// copied returns a copy of a histogram.
func copied(h *stats.Histogram) stats.Histogram {
	out := *h
	out.Buckets = slices.Clone(h.Buckets)
	return out
}

// definition returns the net found so far as PNML. Its arcs are those of the
// mapping whose ends exist. A place is open unless the mapping says that it is an
// end, because a transition may have no series yet, and a departure no metric.
func (n *netState) definition() ([]byte, error) {
	def := &petri.Net{ID: n.id, Name: n.m.name}
	for _, r := range n.rows[places] {
		def.Places = append(def.Places, petri.Place{ID: r.id, Name: r.name, Open: !r.isEnd()})
	}
	for _, r := range n.rows[transitions] {
		def.Transitions = append(def.Transitions, petri.Transition{ID: r.id, Name: r.name})
		arc := func(from, to, place string) {
			if n.byID[places][place] != nil {
				id := "a" + strconv.Itoa(len(def.Arcs)+1)
				def.Arcs = append(def.Arcs, petri.Arc{ID: id, Source: from, Target: to, Weight: 1})
			}
		}
		for _, p := range r.from {
			arc(p, r.id, p)
		}
		for _, p := range r.to {
			arc(r.id, p, p)
		}
	}
	var out bytes.Buffer
	err := pnml.Write(&out, def)
	return out.Bytes(), err
}

// isEnd reports whether the tokens of a place are finished work.
func (r *rowState) isEnd() bool {
	v := r.m.values[end]
	return v != nil && (v.always || r.cells[end].now >= 1)
}

// missing returns, by mapped column, the number of rows in which it is unknown.
// With any, the column is absent.
func (n *netState) missing(all families) map[string]int {
	out := map[string]int{}
	for _, r := range n.all {
		for c := range numColumns {
			if r.m.values[c] != nil && c != end {
				key := tableName(r.m.table) + "." + specOf(c).key
				out[key] += 0
				if !r.knows(c, all) {
					out[key]++
				}
			}
		}
	}
	return out
}

// seriesOf returns the number of series of a scrape.
func seriesOf(all families) int {
	n := 0
	for _, f := range all {
		n += len(f.GetMetric())
	}
	return n
}
