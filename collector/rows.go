// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"math/bits"
	"slices"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

const (
	// counterColumns are the columns that stay of a source that is gone.
	counterColumns = stats.ColArrivals | stats.ColDepartures | stats.ColDwell | stats.ColFirings |
		stats.ColFailures | stats.ColLastFiring | stats.ColDuration | stats.ColInstances | stats.ColTimeouts | stats.ColQueues
	// listColumns are present in a message only if they are not empty, so a source
	// that once had one still has it.
	listColumns = stats.ColStuck | stats.ColBlocks | stats.ColQueues
)

// taking copies the rows of one message into those of a source.
type taking struct {
	msg    *telemetry.Snapshot
	cols   *columns
	rows   *stats.Rows
	places *marks // of the net: receive the rows that change
	trans  *marks
}

// placeAt returns the index in the union of row i of the message.
func (t *taking) placeAt(i int) int32 { return at(t.cols.places, t.msg.PlaceIndex, i) }

func (t *taking) transitionAt(i int) int32 { return at(t.cols.transitions, t.msg.TransitionIndex, i) }

func at(union []int32, sparse []uint32, i int) int32 {
	if sparse != nil {
		i = int(sparse[i])
	}
	return union[i]
}

// take copies every row.
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
	if t.msg.Rows.Columns.Has(stats.ColWaiting) {
		t.rows.Waiting = t.msg.Rows.Waiting
	}
	t.blocks()
	t.queues()
}

// latest returns the latest plausible time in the message. A source cannot report
// the future, but one that publishes for others also reports by their clocks.
func (t *taking) latest() int64 { return t.msg.SentAt + clockSlack }

// place copies the given columns of a row, and reports whether that changed it.
func (t *taking) place(dst, src *stats.Place) bool {
	given, latest := t.msg.Rows.Columns, t.latest()
	changed := false
	if given.Has(stats.ColTokens) {
		changed = set(&dst.Tokens, src.Tokens)
	}
	if given.Has(stats.ColArrivals) {
		changed = set(&dst.Arrivals, src.Arrivals) || changed
	}
	if given.Has(stats.ColDepartures) {
		changed = set(&dst.Departures, src.Departures) || changed
	}
	if given.Has(stats.ColPlaceInstances) {
		changed = set(&dst.Instances, src.Instances) || changed
	}
	if given.Has(stats.ColOldest) {
		changed = set(&dst.Oldest, min(src.Oldest, latest)) || changed
		changed = set(&dst.LastInjection, min(src.LastInjection, latest)) || changed
		changed = set(&dst.Injected, plausible(src.Injected, src.Tokens, latest)) || changed
	}
	// Comparing is only needed if the numbers above did not change.
	if given.Has(stats.ColAges) && (changed || !dst.Ages.Equal(&src.Ages)) {
		dst.Ages.At, dst.Ages.Slots = src.Ages.At, assign(dst.Ages.Slots, src.Ages.Slots)
		changed = true
	}
	if given.Has(stats.ColDwell) && (changed || !dst.Dwell.Equal(&src.Dwell)) {
		assignHistogram(&dst.Dwell, &src.Dwell)
		changed = true
	}
	if len(src.Stuck)+len(dst.Stuck) > 0 {
		changed = t.stuck(&dst.Stuck, src.Stuck) || changed
	}
	return changed
}

func (t *taking) transition(dst, src *stats.Transition) bool {
	given, latest := t.msg.Rows.Columns, t.latest()
	changed := false
	if given.Has(stats.ColFirings) {
		changed = set(&dst.Firings, src.Firings)
	}
	if given.Has(stats.ColFailures) {
		changed = set(&dst.Failures, src.Failures) || changed
		changed = set(&dst.Retries, src.Retries) || changed
		changed = set(&dst.Cancels, src.Cancels) || changed
	}
	if given.Has(stats.ColTimeouts) {
		changed = set(&dst.Timeouts, src.Timeouts) || changed
		changed = set(&dst.Late, src.Late) || changed
	}
	if given.Has(stats.ColEnabled) {
		changed = set(&dst.Enabled, src.Enabled) || changed
		changed = set(&dst.EnabledSince, min(src.EnabledSince, latest)) || changed
	}
	if given.Has(stats.ColRunning) {
		changed = set(&dst.Running, src.Running) || changed
		changed = set(&dst.RunningSince, min(src.RunningSince, latest)) || changed
	}
	if given.Has(stats.ColLastFiring) {
		changed = set(&dst.LastFiring, min(src.LastFiring, latest)) || changed
	}
	if given.Has(stats.ColDuration) && (changed || !dst.Duration.Equal(&src.Duration)) {
		assignHistogram(&dst.Duration, &src.Duration)
		changed = true
	}
	return changed
}

// set sets a value and reports whether that changed it.
func set[T comparable](to *T, v T) bool {
	if *to == v {
		return false
	}
	*to = v
	return true
}

// plausible bounds a sum of injection times by the sum for tokens injected at the
// latest time: a received sum must not make the sum of all sources overflow.
func plausible(sum stats.TimeSum, tokens uint64, latest int64) stats.TimeSum {
	over, most := bits.Mul64(tokens, uint64(latest)/1e6+1)
	if over == 0 && sum.Sec > most {
		return stats.TimeSum{Sec: most}
	}
	return sum
}

// stuck copies a place's stuck tokens, with their waits as indices of the union,
// and reports whether that changed them. The list is a new one, because Views
// share it.
func (t *taking) stuck(to *[]stats.Token, src []stats.Token) bool {
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
	compare := func(a, b stats.Token) int { return a.Compare(&b) }
	slices.SortFunc(next, compare)
	if slices.CompareFunc(*to, next, compare) == 0 {
		return false
	}
	*to = next
	return true
}

func (t *taking) wait(w stats.Wait) stats.Wait {
	w.Transition = t.cols.transitions[w.Transition]
	if w.Place != stats.NoPlace {
		w.Place = t.cols.places[w.Place]
	}
	return w
}

// blocks copies the blocks, with their rows as indices of the union.
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

// queues copies the queues. A message has all of them: of a priority that it does
// not name only the counters stay.
func (t *taking) queues() {
	next := slices.Clone(t.msg.Rows.Queues)
	for i := range next {
		next[i].OldestSince = min(next[i].OldestSince, t.latest())
		next[i].UnservedSince = min(next[i].UnservedSince, t.latest())
	}
	withdrawQueues(t.rows.Queues)
	rest := slices.DeleteFunc(t.rows.Queues, func(q stats.Queue) bool { return queueOf(next, q.Priority) != nil })
	t.rows.Queues = stats.MergeQueues(next, rest)
}

// queueOf returns the row of a priority, or nil.
func queueOf(queues []stats.Queue, priority uint8) *stats.Queue {
	for i := range queues {
		if queues[i].Priority == priority {
			return &queues[i]
		}
	}
	return nil
}

// withdrawQueues empties the gauges of queues.
func withdrawQueues(queues []stats.Queue) {
	for i := range queues {
		queues[i] = stats.Queue{Priority: queues[i].Priority, Served: queues[i].Served, QuoteSwitches: queues[i].QuoteSwitches}
	}
}

// assign copies src into dst's memory if it fits, and into memory of the right
// size otherwise.
func assign[T any](dst, src []T) []T {
	if cap(dst) < len(src) || cap(dst) > 4*len(src)+16 {
		dst = nil
	}
	return append(dst[:0], src...)
}

func assignHistogram(dst, src *stats.Histogram) {
	dst.Schema, dst.Zero, dst.Sum, dst.Buckets = src.Schema, src.Zero, src.Sum, assign(dst.Buckets, src.Buckets)
}

// withdraw empties the gauges of every row in the given columns. Counters and the
// last times stay.
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
	if cols.Has(stats.ColQueues) {
		withdrawQueues(rows.Queues)
	}
	if cols.Has(stats.ColWaiting) {
		rows.Waiting = 0
	}
}

// grow adds the rows that the union gained.
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
