// SPDX-License-Identifier: Apache-2.0

package merge

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
	msg   *telemetry.Snapshot
	cols  *columns
	rows  *stats.Rows
	sums  *stats.Sums // follow the rows; nil if they are in no sum
	shift int64       // of the rows in the sums

	nextPlace      stats.Place // the row as it will be
	nextTransition stats.Transition
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
		t.place(int(t.placeAt(i)), &t.msg.Rows.Places[i])
	}
	for i := range t.msg.Rows.Transitions {
		t.transition(int(t.transitionAt(i)), &t.msg.Rows.Transitions[i])
	}
	old := *t.rows
	stats.NetTable.Take(&t.rows.Net, &t.msg.Rows.Net, t.msg.Rows.Columns, t.latest())
	if t.msg.Rows.Columns.Has(stats.ColWaiting) {
		t.rows.Waiting = t.msg.Rows.Waiting
	}
	t.rows.Blocks, t.rows.Queues = t.blocks(), t.queues()
	if t.sums != nil {
		t.sums.ReplaceRest(&old, t.rows, t.shift)
	}
}

// latest returns the latest plausible time in the message. A source cannot report
// the future, but one that publishes for others also reports by their clocks.
func (t *taking) latest() int64 { return t.msg.SentAt + clockSlack }

// place copies the given columns of a row.
func (t *taking) place(at int, src *stats.Place) {
	row, given := &t.rows.Places[at], t.msg.Rows.Columns
	next := &t.nextPlace
	*next = *row
	stats.PlaceTable.Take(next, src, given, t.latest())
	if given.Has(stats.ColOldest) {
		next.Injected = plausible(src.Injected, src.Tokens, t.latest())
	}
	if given.Has(stats.ColAges) && !row.Ages.Equal(&src.Ages) {
		next.Ages = src.Ages
	}
	if given.Has(stats.ColDwell) {
		next.Dwell = src.Dwell
	}
	if len(src.Stuck)+len(row.Stuck) > 0 {
		next.Stuck = t.stuck(src.Stuck)
	}
	if t.sums != nil && !t.sums.ReplacePlace(at, row, next, t.shift) {
		return
	}
	next.Ages.Slots = assign(row.Ages.Slots, next.Ages.Slots)
	next.Dwell.Buckets = assign(row.Dwell.Buckets, next.Dwell.Buckets)
	*row = *next
}

// transition copies the given columns of a row.
func (t *taking) transition(at int, src *stats.Transition) {
	row, given := &t.rows.Transitions[at], t.msg.Rows.Columns
	next := &t.nextTransition
	*next = *row
	stats.TransitionTable.Take(next, src, given, t.latest())
	if given.Has(stats.ColDuration) {
		next.Duration = src.Duration
	}
	if t.sums != nil && !t.sums.ReplaceTransition(at, row, next, t.shift) {
		return
	}
	next.Duration.Buckets = assign(row.Duration.Buckets, next.Duration.Buckets)
	*row = *next
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

// stuck returns a place's stuck tokens with their waits as indices of the union. The list
// is a new one, because Views share it.
func (t *taking) stuck(src []stats.Token) []stats.Token {
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
	slices.SortFunc(next, func(a, b stats.Token) int { return a.Compare(&b) })
	return next
}

func (t *taking) wait(w stats.Wait) stats.Wait {
	w.Transition = t.cols.transitions[w.Transition]
	if w.Place != stats.NoPlace {
		w.Place = t.cols.places[w.Place]
	}
	return w
}

// blocks returns the blocks, with their rows as indices of the union.
func (t *taking) blocks() []stats.Block {
	next := slices.Clone(t.msg.Rows.Blocks)
	if !t.cols.same {
		for i, b := range next {
			next[i].Transition = t.cols.transitions[b.Transition]
			if b.Place != stats.NoPlace {
				next[i].Place = t.cols.places[b.Place]
			}
		}
		slices.SortFunc(next, stats.Block.Compare)
	}
	return next
}

// queues returns the queues. A message has all of them: of a priority that it does
// not name only the counters stay.
func (t *taking) queues() []stats.Queue {
	next := make([]stats.Queue, 0, len(t.msg.Rows.Queues))
	for _, src := range t.msg.Rows.Queues {
		q := stats.Queue{Priority: src.Priority}
		stats.QueueTable.Take(&q, &src, stats.ColQueues, t.latest())
		next = append(next, q)
	}
	var rest []stats.Queue
	for _, q := range t.rows.Queues {
		if queueOf(next, q.Priority) == nil {
			stats.QueueTable.Withdraw(&q, stats.ColQueues)
			rest = append(rest, q)
		}
	}
	return stats.MergeQueues(next, rest)
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

// assign copies src into dst's memory if it fits, and into memory of the right
// size otherwise.
func assign[T any](dst, src []T) []T {
	if cap(dst) < len(src) || cap(dst) > 4*len(src)+16 {
		dst = nil
	}
	return append(dst[:0], src...)
}

// withdraw empties the gauges of every row of a source in the given columns. Counters and
// the last times stay.
func (n *net) withdraw(s *source, given stats.Columns) {
	for i := range s.rows.Places {
		next := s.rows.Places[i]
		next.Withdraw(given)
		n.live.ReplacePlace(i, &s.rows.Places[i], &next, s.clock.shift)
		s.rows.Places[i] = next
	}
	for i := range s.rows.Transitions {
		next := s.rows.Transitions[i]
		stats.TransitionTable.Withdraw(&next, given)
		n.live.ReplaceTransition(i, &s.rows.Transitions[i], &next, s.clock.shift)
		s.rows.Transitions[i] = next
	}
	old := *s.rows
	s.rows.WithdrawRest(given)
	n.live.ReplaceRest(&old, s.rows, s.clock.shift)
	n.changed = true
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
