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
	listColumns = stats.ColStuck | stats.ColBlocks | stats.ColQueues | stats.ColGroups
)

// taking copies the rows of one message into those of a source.
type taking struct {
	*workspace
	msg   *telemetry.Snapshot
	cols  *columns
	rows  *stats.Packed
	sums  *stats.Sums // follow the rows; nil if they are in no sum
	shift int64       // of the rows in the sums

	changed bool // a row differs from before
	packed  bool // the workspace has the rows that differ, see pack
	whole   bool // the message has all columns that the rows have
}

// workspace is the memory of rows that are compared.
type workspace struct {
	places                        []differing[stats.Place]
	transitions                   []differing[stats.Transition]
	records                       []byte // of places, then of transitions: see stats.Packed
	oldPlace, nextPlace           stats.Place
	oldTransition, nextTransition stats.Transition
	shared                        map[stats.Wait][]stats.Wait // lists of one, see waits
}

// differing is a row of a message that differs from the one that it replaces.
type differing[R any] struct {
	i             int // in the message
	old           R
	end           int  // of its record
	sameDurations bool // the histogram is as before, and left out of old
}

// taking returns the taking of a message before its rows are known.
func (n *net) taking(msg *telemetry.Snapshot, c *columns) taking {
	return taking{workspace: n.work, msg: msg, cols: c}
}

// pack finds the rows of the message that differ from those that they replace. Rows that are as
// they were are not unpacked if the message has all columns that they have.
func (t *taking) pack() {
	rows := &t.msg.Rows
	t.whole = t.rows.Filled&^rows.Columns == 0
	t.packed, t.records = true, t.records[:0]
	t.places, t.transitions = emptied(t.places, len(rows.Places)), emptied(t.transitions, len(rows.Transitions))
	var noPlace stats.Place
	for i := range rows.Places {
		at, old := int(t.placeAt(i)), &noPlace
		if !t.whole {
			old = t.rows.PlaceAt(at, &t.oldPlace)
		}
		next, same := t.nextPlaceOf(old, &rows.Places[i]), t.sameStuck(t.rows.StuckIn(at), rows.Places[i].Stuck) && t.sameGroups(t.rows.GroupsIn(at), rows.Places[i].Groups)
		d := following(&t.places)
		t.records, d.sameDurations = t.rows.PackPlace(t.records, at, next, &d.old, same)
		keep(&t.places, i, t.records, 0)
	}
	first := len(t.records)
	var noTransition stats.Transition
	for i := range rows.Transitions {
		at, old := int(t.transitionAt(i)), &noTransition
		if !t.whole {
			old = t.rows.TransitionAt(at, &t.oldTransition)
		}
		d := following(&t.transitions)
		t.records, d.sameDurations = t.rows.PackTransition(t.records, at, t.nextTransitionOf(old, &rows.Transitions[i]), &d.old)
		keep(&t.transitions, i, t.records, first)
	}
}

// emptied returns an empty list in the memory of another, if that is not far too large for n.
func emptied[R any](list []R, n int) []R {
	if cap(list) > 4*n+1000 {
		return nil
	}
	return list[:0]
}

// following returns what follows the elements of a list, with the memory of a former row.
func following[R any](list *[]differing[R]) *differing[R] {
	n := len(*list)
	if n == cap(*list) {
		*list = slices.Grow(*list, 1)
	}
	return &(*list)[:n+1][n]
}

// keep adds row i, whose old one is in following, to a list whose first record begins at first, if a record was
// added for it.
func keep[R any](list *[]differing[R], i int, records []byte, first int) {
	n := len(*list)
	if n > 0 {
		first = (*list)[n-1].end
	}
	if len(records) > first {
		*list = (*list)[:n+1]
		(*list)[n].i, (*list)[n].end = i, len(records)
	}
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

// take copies every row that differs.
func (t *taking) take() {
	if !t.packed {
		t.pack()
	}
	t.changed = len(t.records) > 0
	begin := 0
	for i := range t.places {
		d := &t.places[i]
		t.place(d, t.records[begin:d.end])
		begin = d.end
	}
	for i := range t.transitions {
		d := &t.transitions[i]
		t.transition(d, t.records[begin:d.end])
		begin = d.end
	}
	t.rows.Filled |= t.msg.Rows.Columns &^ listColumns
	rest := t.rows.Rest()
	old := *rest
	stats.NetTable.Take(&rest.Net, &t.msg.Rows.Net, t.msg.Rows.Columns, t.latest())
	if t.msg.Rows.Columns.Has(stats.ColWaiting) {
		rest.Waiting = t.msg.Rows.Waiting
	}
	rest.Blocks, rest.Queues = t.blocks(), t.queues()
	if t.sums != nil {
		t.sums.ReplaceRest(&old, rest, t.shift)
	}
	same := old.Net == rest.Net && old.Waiting == rest.Waiting && slices.Equal(old.Blocks, rest.Blocks) && slices.Equal(old.Queues, rest.Queues)
	t.changed = t.changed || !same
}

// rowsOf returns the rows of a message as rows of the union.
func (n *net) rowsOf(msg *telemetry.Snapshot, c *columns) *stats.Rows {
	rows := stats.NewPacked(n.union.sizes())
	t := n.taking(msg, c)
	t.rows = rows
	t.take()
	return rows.Rows()
}

// latest returns the latest plausible time in the message. A source cannot report
// the future, but one that publishes for others also reports by their clocks.
func (t *taking) latest() int64 { return t.msg.SentAt + clockSlack }

// place copies the given columns of a row.
func (t *taking) place(d *differing[stats.Place], record []byte) {
	at, src := int(t.placeAt(d.i)), &t.msg.Rows.Places[d.i]
	next, stuck, groups := t.nextPlaceOf(&d.old, src), d.old.Stuck, d.old.Groups
	if !t.sameStuck(stuck, src.Stuck) {
		stuck = t.stuck(src.Stuck)
	}
	if !t.sameGroups(groups, src.Groups) {
		groups = t.groups(src.Groups)
	}
	if t.sums != nil {
		if next == src && (d.sameDurations || len(src.Stuck)+len(src.Groups) > 0) {
			t.nextPlace = *src
			next = &t.nextPlace
		}
		if next != src {
			next.Stuck, next.Groups = stuck, groups
		}
		if d.sameDurations {
			next.Dwell = stats.Histogram{}
		}
		t.sums.ReplacePlace(at, &d.old, next, t.shift)
	}
	t.rows.PutPlace(at, record, stuck, groups)
}

// nextPlaceOf returns what follows a row, but for its stuck tokens and groups. It is the row of the message if
// that has all columns, and times that are plausible: a Decoder sets the other columns to zeros.
func (t *taking) nextPlaceOf(row, src *stats.Place) *stats.Place {
	if t.whole && stats.PlaceTable.Latest(src) <= t.latest() && src.Injected == plausible(src.Injected, src.Tokens, t.latest()) {
		return src
	}
	given, next := t.msg.Rows.Columns, &t.nextPlace
	*next = *row
	stats.PlaceTable.Take(next, src, given, t.latest())
	if given.Has(stats.ColOldest) {
		next.Injected = plausible(src.Injected, src.Tokens, t.latest())
	}
	if given.Has(stats.ColAges) {
		next.Ages = src.Ages
	}
	if given.Has(stats.ColDwell) {
		next.Dwell = src.Dwell
	}
	return next
}

// transition copies the given columns of a row.
func (t *taking) transition(d *differing[stats.Transition], record []byte) {
	at := int(t.transitionAt(d.i))
	if t.sums != nil {
		next := t.nextTransitionOf(&d.old, &t.msg.Rows.Transitions[d.i])
		if d.sameDurations {
			t.nextTransition = *next
			next = &t.nextTransition
			next.Duration = stats.Histogram{}
		}
		t.sums.ReplaceTransition(at, &d.old, next, t.shift)
	}
	t.rows.PutTransition(at, record)
}

func (t *taking) nextTransitionOf(row, src *stats.Transition) *stats.Transition {
	if t.whole && stats.TransitionTable.Latest(src) <= t.latest() {
		return src
	}
	given, next := t.msg.Rows.Columns, &t.nextTransition
	*next = *row
	stats.TransitionTable.Take(next, src, given, t.latest())
	if given.Has(stats.ColDuration) {
		next.Duration = src.Duration
	}
	return next
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

// sameStuck reports whether stuck tokens are known to be as they were.
func (t *taking) sameStuck(old, src []stats.Token) bool {
	if len(old)+len(src) == 0 {
		return true
	}
	return t.cols.same && slices.EqualFunc(old, src, func(a, b stats.Token) bool { return a.Compare(&b) == 0 })
}

// stuck returns a place's stuck tokens with their waits as indices of the union. The list
// is a new one, because Views share it.
func (t *taking) stuck(src []stats.Token) []stats.Token {
	next := make([]stats.Token, len(src))
	for i := range src {
		next[i] = t.token(&src[i])
	}
	slices.SortFunc(next, func(a, b stats.Token) int { return a.Compare(&b) })
	return next
}

func (t *taking) token(src *stats.Token) stats.Token {
	return stats.Token{Instance: src.Instance, Injected: min(src.Injected, t.latest()), Waits: t.waits(src.Waits)}
}

// sameGroups reports whether groups are known to be as they were.
func (t *taking) sameGroups(old, src []stats.Group) bool {
	return len(old)+len(src) == 0 || t.cols.same && stats.SameGroups(old, src)
}

// groups returns a place's groups, as stuck does with tokens.
func (t *taking) groups(src []stats.Group) []stats.Group {
	next := slices.Clone(src)
	for i := range next {
		next[i].Oldest = t.token(&src[i].Oldest)
	}
	return next
}

// mostWaits is how many lists of waits tokens share.
const mostWaits = 1 << 12

// waits returns waits as indices of the union. Most tokens wait for one transition, for the same
// reason as those of other sources: they have the same list.
func (t *taking) waits(src []stats.Wait) []stats.Wait {
	one := len(src) == 1 && src[0].Until == 0 && src[0].What == ""
	if one {
		if same := t.shared[t.wait(src[0])]; same != nil {
			return same
		}
	}
	next := make([]stats.Wait, 0, len(src))
	for _, w := range src {
		next = append(next, t.wait(w))
	}
	if one {
		if t.shared == nil || len(t.shared) >= mostWaits {
			t.shared = make(map[stats.Wait][]stats.Wait)
		}
		t.shared[next[0]] = next
	}
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
	if t.cols.same && slices.Equal(t.rows.Rest().Blocks, t.msg.Rows.Blocks) {
		return t.rows.Rest().Blocks
	}
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
	for _, q := range t.rows.Rest().Queues {
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

// withdraw empties the gauges of every row of a source in the given columns. Counters and
// the last times stay.
func (n *net) withdraw(s *source, given stats.Columns) {
	places, transitions := s.rows.Size()
	for i := range places {
		row := s.rows.PlaceAt(i, &n.work.oldPlace)
		next := *row
		next.Withdraw(given)
		if n.live.ReplacePlace(i, row, &next, s.clock.shift) {
			s.rows.SetPlace(i, &next)
		}
	}
	for i := range transitions {
		row := s.rows.TransitionAt(i, &n.work.oldTransition)
		next := *row
		stats.TransitionTable.Withdraw(&next, given)
		if n.live.ReplaceTransition(i, row, &next, s.clock.shift) {
			s.rows.SetTransition(i, &next)
		}
	}
	rest := s.rows.Rest()
	old := *rest
	rest.WithdrawRest(given)
	n.live.ReplaceRest(&old, rest, s.clock.shift)
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
