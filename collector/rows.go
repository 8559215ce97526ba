// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"math/bits"
	"slices"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

const (
	// counterColumns is what stays of a source that is gone.
	counterColumns = stats.ColArrivals | stats.ColDepartures | stats.ColDwell | stats.ColFirings |
		stats.ColFailures | stats.ColLastFiring | stats.ColDuration | stats.ColInstances
	// listColumns are present in a message only where they hold something, so
	// a source that once had one has it still.
	listColumns = stats.ColStuck | stats.ColBlocks
)

// taking is the taking over of one message's rows into a source's.
type taking struct {
	msg    *telemetry.Snapshot
	cols   *columns
	rows   *stats.Rows
	places *marks // of the net: gain the rows that change
	trans  *marks
}

// placeAt and transitionAt return where row i of the message stands in the
// union.
func (t *taking) placeAt(i int) int32 { return at(t.cols.places, t.msg.PlaceIndex, i) }

func (t *taking) transitionAt(i int) int32 { return at(t.cols.transitions, t.msg.TransitionIndex, i) }

func at(union []int32, sparse []uint32, i int) int32 {
	if sparse != nil {
		i = int(sparse[i])
	}
	return union[i]
}

// take takes every row over.
func (t *taking) take() {
	for i := range t.msg.Rows.Places {
		u := t.placeAt(i)
		if t.place(&t.rows.Places[u], &t.msg.Rows.Places[i]) {
			t.places.add(u)
		}
	}
	for i := range t.msg.Rows.Transitions {
		u := t.transitionAt(i)
		if t.transition(&t.rows.Transitions[u], &t.msg.Rows.Transitions[i]) {
			t.trans.add(u)
		}
	}
	if t.msg.Rows.Columns.Has(stats.ColInstances) {
		t.rows.Net = t.msg.Rows.Net
	}
	t.blocks()
}

// latest is the latest time that the message can tell of: no source knows the
// future, but one that speaks for others has their clocks, too.
func (t *taking) latest() int64 { return t.msg.SentAt + clockSlack }

// place takes the given columns of a row over, and reports whether that
// changed it.
func (t *taking) place(dst, src *stats.Place) bool {
	given, latest := t.msg.Rows.Columns, t.latest()
	next := *dst
	if given.Has(stats.ColTokens) {
		next.Tokens = src.Tokens
	}
	if given.Has(stats.ColArrivals) {
		next.Arrivals = src.Arrivals
	}
	if given.Has(stats.ColDepartures) {
		next.Departures = src.Departures
	}
	if given.Has(stats.ColPlaceInstances) {
		next.Instances = src.Instances
	}
	if given.Has(stats.ColOldest) {
		next.Oldest, next.LastInjection = min(src.Oldest, latest), min(src.LastInjection, latest)
		next.Injected = plausible(src.Injected, src.Tokens, latest)
	}
	changed := next.Tokens != dst.Tokens || next.Arrivals != dst.Arrivals || next.Departures != dst.Departures ||
		next.Instances != dst.Instances || next.Oldest != dst.Oldest || next.LastInjection != dst.LastInjection ||
		next.Injected != dst.Injected
	// A ladder or a histogram changes with the numbers above, or is compared.
	if given.Has(stats.ColAges) && (changed || !dst.Ages.Equal(&src.Ages)) {
		next.Ages = stats.Ladder{At: src.Ages.At, Slots: assign(dst.Ages.Slots, src.Ages.Slots)}
		changed = true
	}
	if given.Has(stats.ColDwell) && (changed || !dst.Dwell.Equal(&src.Dwell)) {
		assignHistogram(&next.Dwell, &src.Dwell)
		changed = true
	}
	if len(src.Stuck)+len(dst.Stuck) > 0 {
		if stuck := t.stuck(dst.Stuck, src.Stuck); stuck != nil {
			next.Stuck = *stuck
			changed = true
		}
	}
	if changed {
		*dst = next
	}
	return changed
}

func (t *taking) transition(dst, src *stats.Transition) bool {
	given, latest := t.msg.Rows.Columns, t.latest()
	next := *dst
	if given.Has(stats.ColFirings) {
		next.Firings = src.Firings
	}
	if given.Has(stats.ColFailures) {
		next.Failures, next.Retries, next.Cancels = src.Failures, src.Retries, src.Cancels
	}
	if given.Has(stats.ColEnabled) {
		next.Enabled, next.EnabledSince = src.Enabled, min(src.EnabledSince, latest)
	}
	if given.Has(stats.ColRunning) {
		next.Running, next.RunningSince = src.Running, min(src.RunningSince, latest)
	}
	if given.Has(stats.ColLastFiring) {
		next.LastFiring = min(src.LastFiring, latest)
	}
	changed := next.Firings != dst.Firings || next.Failures != dst.Failures || next.Retries != dst.Retries ||
		next.Cancels != dst.Cancels || next.Enabled != dst.Enabled || next.EnabledSince != dst.EnabledSince ||
		next.Running != dst.Running || next.RunningSince != dst.RunningSince || next.LastFiring != dst.LastFiring
	if given.Has(stats.ColDuration) && (changed || !dst.Duration.Equal(&src.Duration)) {
		assignHistogram(&next.Duration, &src.Duration)
		changed = true
	}
	if changed {
		*dst = next
	}
	return changed
}

// plausible bounds a sum of injection times by what it is if all tokens were
// injected at the latest time: a sum from outside must not overflow that of all
// sources.
func plausible(sum stats.TimeSum, tokens uint64, latest int64) stats.TimeSum {
	over, most := bits.Mul64(tokens, uint64(latest)/1e6+1)
	if over == 0 && sum.Sec > most {
		return stats.TimeSum{Sec: most}
	}
	return sum
}

// stuck returns a place's stuck tokens as the union numbers what they wait
// for, or nil if they are those it has. The list is a new one, because views
// share it.
func (t *taking) stuck(have, src []stats.Token) *[]stats.Token {
	waits := 0
	for i := range src {
		waits += len(src[i].Waits)
	}
	all := make([]stats.Wait, 0, waits)
	next := make([]stats.Token, len(src))
	for i, token := range src {
		begin := len(all)
		for _, w := range token.Waits {
			all = append(all, t.wait(w))
		}
		next[i] = stats.Token{Instance: token.Instance, Injected: min(token.Injected, t.latest()), Waits: all[begin:len(all):len(all)]}
	}
	byAge := func(a, b stats.Token) int { return a.Compare(&b) }
	slices.SortFunc(next, byAge)
	if slices.EqualFunc(have, next, func(a, b stats.Token) bool { return a.Compare(&b) == 0 }) {
		return nil
	}
	return &next
}

func (t *taking) wait(w stats.Wait) stats.Wait {
	w.Transition = t.cols.transitions[w.Transition]
	if w.Place != stats.NoPlace {
		w.Place = t.cols.places[w.Place]
	}
	return w
}

// blocks takes the blocks over, as the union numbers their rows.
func (t *taking) blocks() {
	next := assign(t.rows.Blocks, t.msg.Rows.Blocks)
	if !t.cols.same {
		for i, b := range next {
			next[i].Transition = t.cols.transitions[b.Transition]
			if b.Place != stats.NoPlace {
				next[i].Place = t.cols.places[b.Place]
			}
		}
		slices.SortFunc(next, stats.Block.Compare)
	}
	t.rows.Blocks = next
}

// assign copies src into dst's memory where it fits, and into memory of the
// right size where not.
func assign[T any](dst, src []T) []T {
	if cap(dst) < len(src) || cap(dst) > 4*len(src)+16 {
		dst = nil
	}
	return append(dst[:0], src...)
}

func assignHistogram(dst, src *stats.Histogram) {
	dst.Schema, dst.Zero, dst.Sum, dst.Buckets = src.Schema, src.Zero, src.Sum, assign(dst.Buckets, src.Buckets)
}

// withdraw empties the gauges of every row among the given columns. Counters
// and the last times stay.
func withdraw(rows *stats.Rows, cols stats.Columns) {
	for i := range rows.Places {
		p := &rows.Places[i]
		if cols.Has(stats.ColTokens) {
			p.Tokens = 0
		}
		if cols.Has(stats.ColPlaceInstances) {
			p.Instances = 0
		}
		if cols.Has(stats.ColOldest) {
			p.Oldest, p.Injected = 0, stats.TimeSum{}
		}
		if cols.Has(stats.ColAges) {
			p.Ages = stats.Ladder{}
		}
		if cols.Has(stats.ColStuck) {
			p.Stuck = nil
		}
	}
	for i := range rows.Transitions {
		t := &rows.Transitions[i]
		if cols.Has(stats.ColEnabled) {
			t.Enabled, t.EnabledSince = 0, 0
		}
		if cols.Has(stats.ColRunning) {
			t.Running, t.RunningSince = 0, 0
		}
	}
	if cols.Has(stats.ColInstances) {
		rows.Net.Active, rows.Net.Deadlocked = 0, 0
	}
	if cols.Has(stats.ColBlocks) {
		rows.Blocks = nil
	}
}

// grow makes room for rows that the union gained.
func grow(rows *stats.Rows, places, transitions int) {
	if n := places - len(rows.Places); n > 0 {
		rows.Places = append(slices.Grow(rows.Places, n), make([]stats.Place, n)...)
	}
	if n := transitions - len(rows.Transitions); n > 0 {
		rows.Transitions = append(slices.Grow(rows.Transitions, n), make([]stats.Transition, n)...)
	}
}

// marks is a set of rows.
type marks struct {
	has  []bool
	list []int32
}

func (m *marks) add(i int32) {
	for int(i) >= len(m.has) {
		m.has = append(m.has, make([]bool, int(i)+1-len(m.has))...)
	}
	if !m.has[i] {
		m.has[i] = true
		m.list = append(m.list, i)
	}
}

func (m *marks) addAll(n int) {
	for i := range int32(n) {
		m.add(i)
	}
}

func (m *marks) clear() {
	for _, i := range m.list {
		m.has[i] = false
	}
	m.list = m.list[:0]
}
