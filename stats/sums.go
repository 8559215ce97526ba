// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"iter"
	"slices"
)

// Sums adds up the rows of contributors and follows their changes: what a change costs
// depends on what changed, and not on how many contribute. At any time the result is what
// Rows.Merge over all contributors returns, by their clocks shifted to the reader's.
//
// A row changes by the old one that is subtracted and the new one that is added. The
// earliest and the latest times, and the oldest tokens, are kept with some that follow
// them. Where those are used up, Rows asks all contributors again.
//
// Slowest is not part of Sums. The zero Sums is empty. It is for one goroutine.
type Sums struct {
	// Places and Transitions are the rows that changed since the caller cleared them.
	Places, Transitions Marks

	places      []placeSum
	transitions []transitionSum
	net         tableSum
	queues      [Priorities]queueSum
	blocks      []blockSum // by Block.Compare
	waiting     wide

	// The memory of rows that are shifted.
	oldPlace, nextPlace           Place
	oldTransition, nextTransition Transition
}

// Contributor has rows that are added up: Rows, or Packed.
type Contributor interface {
	Size() (places, transitions int)
	// PlaceAt returns the row of a place, and an empty one if it is not there: into, or what
	// must not be changed.
	PlaceAt(i int, into *Place) *Place
	TransitionAt(i int, into *Transition) *Transition
	Rest() *Rows // what is no row of a place or of a transition

	// Parts of a row, without the rest of it; zeros if it is not there.
	placeWords(i int) words
	transitionWords(i int) words
	agesAt(i int) int64 // of a ladder that is not empty
	stuckIn(place int) []Token
	groupsIn(place int) []Group
}

// Contributors are all rows that a Sums has, and by how much their times are shifted.
type Contributors = iter.Seq2[Contributor, int64]

const (
	mostCounts  = 8 // of a Table
	mostMoments = 4
)

// tableSum is the sum of the numbers of a Table.
type tableSum struct {
	counts  [mostCounts]wide
	moments [mostMoments]times // of the latest ones the negative time
}

type placeSum struct {
	tableSum
	injected wide // microseconds
	ages     ladderSum
	dwell    histogramSum
	stuck    oldest
	groups   []groupSum // by reason
}

type transitionSum struct {
	tableSum
	duration histogramSum
}

type queueSum struct {
	tableSum
	rows int // of contributors
}

type blockSum struct {
	Block
	n wide
}

// replace subtracts old and adds next, and reports whether a number differs.
func replace[R any](s *tableSum, t *Table[R], old, next *R) (changed bool) {
	from, to := t.numbers(old), t.numbers(next)
	for i := range t.Counts {
		if from[i] != to[i] {
			s.counts[i].subtract(from[i])
			s.counts[i].add(to[i])
			changed = true
		}
	}
	for i := range t.Moments {
		if at := len(t.Counts) + i; from[at] != to[at] {
			t.Moments[i].replace(&s.moments[i], int64(from[at]), int64(to[at]))
			changed = true
		}
	}
	return changed
}

// The earliest time is often that of something that ends. The latest one is followed by later
// ones.
const (
	spareEarliest = 512
	spareLatest   = 1
)

func (m *Moment[R]) replace(l *times, from, to int64) {
	if m.Latest {
		l.replace(-from, -to, spareLatest)
	} else {
		l.replace(from, to, spareEarliest)
	}
}

// fill sets the numbers of r to the sums.
func fill[R any](s *tableSum, t *Table[R], r *R) {
	for i := range t.Counts {
		*t.Counts[i].Of(r) = s.counts[i].count()
	}
	for i := range t.Moments {
		at := s.moments[i].least()
		if t.Moments[i].Latest {
			at = -at
		}
		*t.Moments[i].Of(r) = at
	}
}

// Grow adds rows, so that there are at least that many.
func (s *Sums) Grow(places, transitions int) {
	s.places = append(s.places, make([]placeSum, max(0, places-len(s.places)))...)
	s.transitions = append(s.transitions, make([]transitionSum, max(0, transitions-len(s.transitions)))...)
}

// ReplacePlace replaces a contribution to the row of a place, and reports whether they
// differ.
func (s *Sums) ReplacePlace(i int, old, next *Place, shift int64) (changed bool) {
	return s.movePlace(i, old, next, shift, shift)
}

// movePlace replaces a contribution that was shifted by from by one that is shifted by to.
func (s *Sums) movePlace(i int, old, next *Place, from, to int64) (changed bool) {
	old, next = shiftedRow(old, &s.oldPlace, from, (*Place).Shift), shiftedRow(next, &s.nextPlace, to, (*Place).Shift)
	row := &s.places[i]
	changed = replace(&row.tableSum, PlaceTable, old, next)
	if old.Injected != next.Injected {
		row.injected.subtractTimes(old.Injected)
		row.injected.addTimes(next.Injected)
		changed = true
	}
	changed = row.ages.replace(&old.Ages, &next.Ages) || changed
	changed = row.dwell.replace(&old.Dwell, &next.Dwell) || changed
	changed = row.stuck.replace(old.Stuck, next.Stuck) || changed
	changed = row.replaceGroups(old.Groups, next.Groups) || changed
	if changed {
		s.Places.Add(int32(i))
	}
	return changed
}

// ReplaceTransition replaces a contribution to the row of a transition, and reports
// whether they differ.
func (s *Sums) ReplaceTransition(i int, old, next *Transition, shift int64) (changed bool) {
	return s.moveTransition(i, old, next, shift, shift)
}

func (s *Sums) moveTransition(i int, old, next *Transition, from, to int64) (changed bool) {
	old, next = shiftedRow(old, &s.oldTransition, from, (*Transition).Shift), shiftedRow(next, &s.nextTransition, to, (*Transition).Shift)
	row := &s.transitions[i]
	changed = replace(&row.tableSum, TransitionTable, old, next)
	changed = row.duration.replace(&old.Duration, &next.Duration) || changed
	if changed {
		s.Transitions.Add(int32(i))
	}
	return changed
}

// ReplaceRest replaces a contribution to all but the rows of places and transitions.
func (s *Sums) ReplaceRest(old, next *Rows, shift int64) {
	replace(&s.net, NetTable, &old.Net, &next.Net)
	s.waiting.subtract(old.Waiting)
	s.waiting.add(next.Waiting)
	if !slices.Equal(old.Blocks, next.Blocks) {
		s.replaceBlocks(old.Blocks, next.Blocks)
	}
	if !slices.Equal(old.Queues, next.Queues) {
		s.replaceQueues(old.Queues, next.Queues, shift)
	}
}

// shiftedRow returns a row, or a copy of it that is shifted, whose ladder and tokens are its own.
func shiftedRow[R any](r, into *R, by int64, shift func(*R, int64)) *R {
	if by == 0 {
		return r
	}
	*into = *r
	shift(into, by)
	return into
}

// Add adds a contribution.
func (s *Sums) Add(c Contributor, shift int64) {
	var place, noPlace Place
	var transition, noTransition Transition
	places, transitions := c.Size()
	for i := range places {
		s.ReplacePlace(i, &noPlace, c.PlaceAt(i, &place), shift)
	}
	for i := range transitions {
		s.ReplaceTransition(i, &noTransition, c.TransitionAt(i, &transition), shift)
	}
	s.ReplaceRest(&Rows{}, c.Rest(), shift)
}

// Move replaces the shift of a contribution.
func (s *Sums) Move(c Contributor, from, to int64) {
	if from == to {
		return
	}
	var place Place
	var transition Transition
	places, transitions := c.Size()
	for i := range places {
		p := c.PlaceAt(i, &place)
		s.movePlace(i, p, p, from, to)
	}
	for i := range transitions {
		t := c.TransitionAt(i, &transition)
		s.moveTransition(i, t, t, from, to)
	}
	s.replaceQueues(c.Rest().Queues, nil, from)
	s.replaceQueues(nil, c.Rest().Queues, to)
}

// Rows returns the sums. Rows that did not change since prev, the last result, share its
// memory. The result is never changed.
func (s *Sums) Rows(prev *Rows, all Contributors) *Rows {
	s.renew(s.Places.List, s.Transitions.List, all)
	rows := NewRows(len(s.places), len(s.transitions))
	if prev != nil {
		copy(rows.Places, prev.Places)
		copy(rows.Transitions, prev.Transitions)
	}
	for _, i := range s.Places.List {
		rows.Places[i] = s.places[i].row()
	}
	for _, i := range s.Transitions.List {
		rows.Transitions[i] = s.transitions[i].row()
	}
	fill(&s.net, NetTable, &rows.Net)
	rows.Waiting = s.waiting.count()
	s.blocks = slices.DeleteFunc(s.blocks, func(b blockSum) bool { return b.n.isZero() })
	for _, b := range s.blocks {
		b.Instances = b.n.count()
		rows.Blocks = append(rows.Blocks, b.Block)
	}
	for i := range s.queues {
		if s.queues[i].rows > 0 {
			q := Queue{Priority: uint8(i)}
			fill(&s.queues[i].tableSum, QueueTable, &q)
			rows.Queues = append(rows.Queues, q)
		}
	}
	return rows
}

// again is the least values of a row, of which too few are known, and how to add those of a
// contributor.
type again struct {
	row int
	add func(c Contributor, row int, shift int64)
}

// renew adds again the least values of some rows, and of the queues, of which too few are
// known, over all contributors.
func (s *Sums) renew(places, transitions []int32, all Contributors) {
	var todo []again
	for _, i := range places {
		todo = s.places[i].renew(todo, int(i))
	}
	for _, i := range transitions {
		todo = renewTimes(todo, int(i), TransitionTable, &s.transitions[i].tableSum, Contributor.transitionWords)
	}
	queue := func(c Contributor, priority int) words { return QueueTable.words(queueAt(c, priority)) }
	for p := range s.queues {
		todo = renewTimes(todo, p, QueueTable, &s.queues[p].tableSum, queue)
	}
	if len(todo) == 0 {
		return
	}
	for c, shift := range all {
		for i := range todo {
			todo[i].add(c, todo[i].row, shift)
		}
	}
}

// queueAt returns the row of a priority, or an empty one.
func queueAt(c Contributor, priority int) *Queue {
	r := c.Rest()
	for i := range r.Queues {
		if int(r.Queues[i].Priority) == priority {
			return &r.Queues[i]
		}
	}
	return new(Queue)
}

func (p *placeSum) renew(todo []again, i int) []again {
	todo = renewTimes(todo, i, PlaceTable, &p.tableSum, Contributor.placeWords)
	if p.ages.at.lacks() {
		p.ages.at = times{}
		todo = append(todo, again{i, func(c Contributor, at int, shift int64) {
			if ages := c.agesAt(at); ages != 0 {
				p.ages.at.replace(0, -ages-inSlots(shift), spareLatest)
			}
		}})
	}
	if p.stuck.lacks(MaxStuck) {
		p.stuck = oldest{}
		todo = append(todo, again{i, func(c Contributor, at int, shift int64) {
			tokens := shiftTokens(c.stuckIn(at), shift)
			for i := range tokens {
				p.stuck.add(&tokens[i])
			}
		}})
	}
	return p.renewGroups(todo, i)
}

func renewTimes[R any](todo []again, i int, t *Table[R], sum *tableSum, numbers func(c Contributor, row int) words) []again {
	for m := range t.Moments {
		l, moment := &sum.moments[m], &t.Moments[m]
		if !l.lacks() {
			continue
		}
		*l = times{}
		todo = append(todo, again{i, func(c Contributor, row int, shift int64) {
			at := int64(numbers(c, row)[len(t.Counts)+m])
			moment.replace(l, 0, shifted(at, shift))
		}})
	}
	return todo
}

func (p *placeSum) row() (r Place) {
	fill(&p.tableSum, PlaceTable, &r)
	r.Injected, r.Ages, r.Dwell = p.injected.times(), p.ages.ladder(), p.dwell.histogram()
	if n := min(len(p.stuck.best), MaxStuck); n > 0 {
		r.Stuck = slices.Clone(p.stuck.best[:n])
	}
	r.Groups = p.groupRows()
	return r
}

func (t *transitionSum) row() (r Transition) {
	fill(&t.tableSum, TransitionTable, &r)
	r.Duration = t.duration.histogram()
	return r
}

func (s *Sums) replaceBlocks(old, next []Block) {
	for _, b := range old {
		s.block(b).subtract(b.Instances)
	}
	for _, b := range next {
		s.block(b).add(b.Instances)
	}
}

// block returns the sum of a block.
func (s *Sums) block(b Block) *wide {
	i, found := slices.BinarySearchFunc(s.blocks, b, func(a blockSum, b Block) int { return a.Compare(b) })
	if !found {
		s.blocks = slices.Insert(s.blocks, i, blockSum{Block: b})
	}
	return &s.blocks[i].n
}

func (s *Sums) replaceQueues(old, next []Queue, shift int64) {
	for _, q := range old {
		q.Shift(shift)
		sum := &s.queues[q.Priority]
		replace(&sum.tableSum, QueueTable, &q, &Queue{})
		sum.rows--
	}
	for _, q := range next {
		q.Shift(shift)
		sum := &s.queues[q.Priority]
		replace(&sum.tableSum, QueueTable, &Queue{}, &q)
		sum.rows++
	}
}

// Marks is a set of rows.
type Marks struct {
	List []int32 // in the order of their marking
	has  []bool
}

// Add adds a row.
func (m *Marks) Add(i int32) {
	if int(i) >= len(m.has) {
		m.has = append(m.has, make([]bool, int(i)+1-len(m.has))...)
	}
	if !m.has[i] {
		m.has[i] = true
		m.List = append(m.List, i)
	}
}

// AddAll adds the first n rows.
func (m *Marks) AddAll(n int) {
	for i := range int32(n) {
		m.Add(i)
	}
}

// Clear removes all rows.
func (m *Marks) Clear() {
	for _, i := range m.List {
		m.has[i] = false
	}
	m.List = m.List[:0]
}
