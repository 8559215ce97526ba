// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"slices"

	"github.com/pnagent/pnagent/internal/firstfields"
)

// A Table declares the numbers of one kind of row: each of them once, with what all
// that copy, compare, add or save rows have to know of it. What is no single number
// (times that are added up, ladders, histograms, lists) has a type of its own.
type Table[R any] struct {
	// In the order of the row's first fields, which are these numbers, the counts before the moments.
	Counts  []Count[R]
	Moments []Moment[R]
}

// words are the numbers of a row, the counts before the moments.
type words [mostCounts + mostMoments]uint64

// numbers returns the numbers of a row: the memory of its first fields.
func (t *Table[R]) numbers(r *R) []uint64 {
	return firstfields.Of(r, len(t.Counts)+len(t.Moments))
}

// words returns a copy of the numbers of a row.
func (t *Table[R]) words(r *R) (w words) {
	copy(w[:], t.numbers(r))
	return w
}

// Count is a number that is added up over sources.
type Count[R any] struct {
	Name   string // as errors show it, and as the wire calls it
	Wire   int    // the number of its field on the wire
	Column Columns
	// Counter is whether the number is cumulative: it never falls within a process, it
	// stays of a source that is gone, and is subtracted if the source comes back. The
	// others are gauges: what is there now.
	Counter bool
	Of      func(*R) *uint64
}

// Moment is a time, in microseconds since the Unix epoch, of which a sum over sources
// keeps one; 0 for none. The latest one stays of a source that is gone. The earliest
// one belongs to what is there now.
type Moment[R any] struct {
	Name   string
	Wire   int
	Column Columns
	Latest bool // the sum keeps the latest, not the earliest
	Ahead  bool // it may be later than now
	Of     func(*R) *int64
}

// PlaceTable declares the numbers of places.
var PlaceTable = &Table[Place]{
	Counts: []Count[Place]{
		{"tokens", 2, ColTokens, false, func(p *Place) *uint64 { return &p.Tokens }},
		{"arrivals", 3, ColArrivals, true, func(p *Place) *uint64 { return &p.Arrivals }},
		{"departures", 4, ColDepartures, true, func(p *Place) *uint64 { return &p.Departures }},
		{"instances", 5, ColPlaceInstances, false, func(p *Place) *uint64 { return &p.Instances }},
	},
	Moments: []Moment[Place]{
		{"oldest", 6, ColOldest, false, false, func(p *Place) *int64 { return &p.Oldest }},
		{"last_injection", 7, ColOldest, true, false, func(p *Place) *int64 { return &p.LastInjection }},
	},
}

// TransitionTable declares the numbers of transitions.
var TransitionTable = &Table[Transition]{
	Counts: []Count[Transition]{
		{"firings", 2, ColFirings, true, func(t *Transition) *uint64 { return &t.Firings }},
		{"failures", 3, ColFailures, true, func(t *Transition) *uint64 { return &t.Failures }},
		{"retries", 4, ColFailures, true, func(t *Transition) *uint64 { return &t.Retries }},
		{"cancels", 5, ColFailures, true, func(t *Transition) *uint64 { return &t.Cancels }},
		{"timeouts", 12, ColTimeouts, true, func(t *Transition) *uint64 { return &t.Timeouts }},
		{"late", 13, ColTimeouts, true, func(t *Transition) *uint64 { return &t.Late }},
		{"enabled", 6, ColEnabled, false, func(t *Transition) *uint64 { return &t.Enabled }},
		{"running", 8, ColRunning, false, func(t *Transition) *uint64 { return &t.Running }},
	},
	Moments: []Moment[Transition]{
		{"enabled_since", 7, ColEnabled, false, false, func(t *Transition) *int64 { return &t.EnabledSince }},
		{"running_since", 9, ColRunning, false, false, func(t *Transition) *int64 { return &t.RunningSince }},
		{"last_firing", 10, ColLastFiring, true, false, func(t *Transition) *int64 { return &t.LastFiring }},
		{"next_due", 15, ColNextDue, false, true, func(t *Transition) *int64 { return &t.NextDue }},
	},
}

// NetTable declares the numbers of a whole net.
var NetTable = &Table[NetRow]{Counts: []Count[NetRow]{
	{"created", 1, ColInstances, true, func(n *NetRow) *uint64 { return &n.Created }},
	{"finished", 2, ColInstances, true, func(n *NetRow) *uint64 { return &n.Finished }},
	{"failed", 3, ColInstances, true, func(n *NetRow) *uint64 { return &n.Failed }},
	{"active", 4, ColInstances, false, func(n *NetRow) *uint64 { return &n.Active }},
	{"deadlocked", 5, ColInstances, false, func(n *NetRow) *uint64 { return &n.Deadlocked }},
}}

// QueueTable declares the numbers of one priority.
var QueueTable = &Table[Queue]{
	Counts: []Count[Queue]{
		{"ready", 2, ColQueues, false, func(q *Queue) *uint64 { return &q.Ready }},
		{"served", 5, ColQueues, true, func(q *Queue) *uint64 { return &q.Served }},
		{"quote_switches", 6, ColQueues, true, func(q *Queue) *uint64 { return &q.QuoteSwitches }},
	},
	Moments: []Moment[Queue]{
		{"oldest_since", 3, ColQueues, false, false, func(q *Queue) *int64 { return &q.OldestSince }},
		{"unserved_since", 4, ColQueues, false, false, func(q *Queue) *int64 { return &q.UnservedSince }},
	},
}

// Number is what the name of a number or of a column stands for: one of Count and Moment is set
// if it is a single number.
type Number[R any] struct {
	Count  *Count[R]
	Moment *Moment[R]
	Column Columns
}

// Named returns the number or the column with a name; none for "".
func (t *Table[R]) Named(name string) (n Number[R], known bool) {
	for i := range t.Counts {
		if c := &t.Counts[i]; c.Name == name {
			return Number[R]{Count: c, Column: c.Column}, true
		}
	}
	for i := range t.Moments {
		if m := &t.Moments[i]; m.Name == name {
			return Number[R]{Moment: m, Column: m.Column}, true
		}
	}
	n.Column, known = ColumnsNamed(name)
	return n, known
}

// Numbers returns the numbers with these names.
func (t *Table[R]) Numbers(names ...string) []Number[R] {
	numbers := make([]Number[R], len(names))
	for i, name := range names {
		numbers[i], _ = t.Named(name)
	}
	return numbers
}

// Read sets words to the number of each row. A time is in two's complement.
func (n *Number[R]) Read(rows []R, words []uint64) {
	if n.Count != nil {
		for of, i := n.Count.Of, 0; i < len(rows); i++ {
			words[i] = *of(&rows[i])
		}
		return
	}
	for of, i := n.Moment.Of, 0; i < len(rows); i++ {
		words[i] = uint64(*of(&rows[i]))
	}
}

// Write sets the number of each row, as Read returns it.
func (n *Number[R]) Write(rows []R, words []uint64) {
	for i := range rows {
		if n.Moment != nil {
			*n.Moment.Of(&rows[i]) = int64(words[i])
		} else {
			*n.Count.Of(&rows[i]) = words[i]
		}
	}
}

// Column returns the column of the number with a name, or the column with that name.
func (t *Table[R]) Column(name string) (column Columns, known bool) {
	n, known := t.Named(name)
	return n.Column, known
}

// merge adds the numbers of r to sum.
func (t *Table[R]) merge(sum, r *R) {
	for i := range t.Counts {
		to := t.Counts[i].Of(sum)
		*to = Sum(*to, *t.Counts[i].Of(r))
	}
	for i := range t.Moments {
		m := &t.Moments[i]
		to := m.Of(sum)
		if m.Latest {
			*to = max(*to, *m.Of(r))
		} else {
			*to = Earlier(*to, *m.Of(r))
		}
	}
}

// shift moves every time of r by d microseconds.
func (t *Table[R]) shift(r *R, d int64) {
	for i := range t.Moments {
		at := t.Moments[i].Of(r)
		*at = shifted(*at, d)
	}
}

// equal reports whether two rows have the same numbers.
func (t *Table[R]) equal(a, b *R) bool {
	return slices.Equal(t.numbers(a), t.numbers(b))
}

// raise raises each counter and each latest time to that of floor if it is lower, and
// reports whether one was.
func (t *Table[R]) raise(r, floor *R) (raised bool) {
	for _, c := range t.Counts {
		raised = c.Counter && lift(c.Of(r), *c.Of(floor)) || raised
	}
	for _, m := range t.Moments {
		raised = m.Latest && lift(m.Of(r), *m.Of(floor)) || raised
	}
	return raised
}

// Take sets the numbers in the given columns to those of src. Times are not later than latest, unless
// they are ahead of now.
func (t *Table[R]) Take(r, src *R, given Columns, latest int64) {
	to, from := t.numbers(r), t.numbers(src)
	for i := range t.Counts {
		if given.Has(t.Counts[i].Column) {
			to[i] = from[i]
		}
	}
	for i := range t.Moments {
		if given.Has(t.Moments[i].Column) {
			at, most := len(t.Counts)+i, latest
			if t.Moments[i].Ahead {
				most = math.MaxInt64
			}
			to[at] = uint64(min(int64(from[at]), most))
		}
	}
}

// Latest returns the latest time of a row, without those that may be ahead of now; 0 for none.
func (t *Table[R]) Latest(r *R) (latest int64) {
	moments := t.numbers(r)[len(t.Counts):]
	for i := range t.Moments {
		if !t.Moments[i].Ahead {
			latest = max(latest, int64(moments[i]))
		}
	}
	return latest
}

// Withdraw sets what is there now to nothing, in the given columns. Counters and the
// latest times stay.
func (t *Table[R]) Withdraw(r *R, given Columns) {
	for _, c := range t.Counts {
		if !c.Counter && given.Has(c.Column) {
			*c.Of(r) = 0
		}
	}
	for _, m := range t.Moments {
		if !m.Latest && given.Has(m.Column) {
			*m.Of(r) = 0
		}
	}
}

// Counters returns a row that has the counters of r and nothing else.
func (t *Table[R]) Counters(r *R) (counters R) {
	for _, c := range t.Counts {
		if c.Counter {
			*c.Of(&counters) = *c.Of(r)
		}
	}
	return counters
}

// negate returns a row that subtracts the counters of r when it is merged.
func (t *Table[R]) negate(r *R) (neg R) {
	for _, c := range t.Counts {
		if c.Counter {
			*c.Of(&neg) = -*c.Of(r)
		}
	}
	return neg
}

// Fell calls report for each counter in the given columns that is lower in next than in
// old, until it returns false.
func (t *Table[R]) Fell(old, next *R, given Columns, report func(counter string, from, to uint64) bool) {
	from, to := t.numbers(old), t.numbers(next)
	for i := range t.Counts {
		if to[i] >= from[i] {
			continue
		}
		if c := &t.Counts[i]; c.Counter && given.Has(c.Column) && !report(c.Name, from[i], to[i]) {
			return
		}
	}
}

// Saturated reports whether a count of r reached MaxSum.
func (t *Table[R]) Saturated(r *R) bool {
	return slices.Contains(t.numbers(r)[:len(t.Counts)], MaxSum)
}

// Each calls do for each count of r.
func (t *Table[R]) Each(r *R, do func(*uint64)) {
	for i := range t.Counts {
		do(t.Counts[i].Of(r))
	}
}
