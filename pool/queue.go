// SPDX-License-Identifier: Apache-2.0

package pool

// Queue holds ready instances by priority. It belongs to one goroutine. Each
// list grows to the largest length that it has had: 4 bytes an instance, and 16
// for each change of the time between two of them.
type Queue struct {
	turns turns
	lists [Priorities]ring
}

// NewQueue returns an empty queue.
func NewQueue(d Discipline) *Queue { return &Queue{turns: newTurns(d)} }

// Push puts an instance at the end of the list of its priority. The queue does
// not look whether it is there already. A p above [Highest] is an index out of
// range and panics.
func (q *Queue) Push(instance int32, p Priority, now int64) {
	l := q.turns.lists[p]
	r := &q.lists[l&7]
	switch {
	case r.head == r.tail:
		r.begin(now)
		q.turns.present |= 1 << l
	case now != r.latest:
		r.stamp(now)
	}
	if r.full() {
		r.grow()
	}
	r.push(instance)
}

// Pop takes the next instance, if there is one, and counts one event as served.
func (q *Queue) Pop(now int64) (instance int32, ok bool) {
	if q.turns.present == 0 {
		return 0, false
	}
	l := q.turns.pick(q.turns.present)
	instance = q.take(l, now)
	q.turns.serve(l, 1)
	return instance, true
}

// PopOf takes the first instance of one priority, if there is one, whosever turn
// it is, and counts one event as served but none of a quote: the order is its
// caller's, who has a [Turn] over several queues.
func (q *Queue) PopOf(p Priority, now int64) (instance int32, ok bool) {
	l := q.turns.lists[p]
	if q.turns.present>>l&1 == 0 {
		return 0, false
	}
	return q.take(l, now), true
}

// take takes the first of a list that is not empty.
func (q *Queue) take(l uint8, now int64) int32 {
	r := &q.lists[l&7]
	instance := r.pop()
	r.served = now
	if r.head == r.tail {
		q.turns.present &^= 1 << l
	}
	return instance
}

// Head returns the priority of the instance that Pop would take, and since when
// it is ready, if there is one.
func (q *Queue) Head() (p Priority, since int64, ok bool) {
	if q.turns.present == 0 {
		return 0, 0, false
	}
	l := q.turns.pick(q.turns.present)
	return Priority(l), q.lists[l].since(), true
}

// SinceOf returns since when the first instance of one priority is ready, if
// there is one.
func (q *Queue) SinceOf(p Priority) (since int64, ok bool) {
	l := q.turns.lists[p]
	if q.turns.present>>l&1 == 0 {
		return 0, false
	}
	return q.lists[l&7].since(), true
}

// Present returns the priorities of which something is ready: bit p for
// priority p.
func (q *Queue) Present() uint8 { return q.turns.present }

// ReadySince returns since when the instance is ready that Pop would take, if
// there is one.
func (q *Queue) ReadySince() (since int64, ok bool) {
	if q.turns.present == 0 {
		return 0, false
	}
	return q.lists[q.turns.pick(q.turns.present)].since(), true
}

// Ahead returns the first instances of the list whose turn it is, at most n and
// maybe fewer than it has. They come next unless others overtake them, so an
// owner can have their memory fetched. The slice is the queue's own, to be read
// before the next Push.
func (q *Queue) Ahead(n int) []int32 {
	if q.turns.present == 0 {
		return nil
	}
	return q.lists[q.turns.pick(q.turns.present)].ahead(n)
}

// AheadOf is Ahead for the list of one priority, whosever turn it is.
func (q *Queue) AheadOf(p Priority, n int) []int32 {
	return q.lists[q.turns.lists[p]&7].ahead(n)
}

// Len returns how many instances are ready.
func (q *Queue) Len() int {
	n := 0
	for p := range q.lists {
		n += q.lists[p].size()
	}
	return n
}

// Empty reports whether nothing is ready.
func (q *Queue) Empty() bool { return q.turns.present == 0 }

// Overtakes reports whether instances of the priorities in a bit set (bit p for
// priority p) would, if they were pushed now, change whose turn is next. While
// it is false an owner may leave arrivals outside, and the order is the same.
func (q *Queue) Overtakes(arrivals uint8) bool {
	if q.turns.policy == PolicyFIFO && arrivals != 0 {
		arrivals = 1
	}
	return q.turns.overtakes(arrivals)
}

// Stats returns what was counted.
func (q *Queue) Stats() Stats {
	s := Stats{Policy: q.turns.policy}
	for p := range q.lists {
		r := &q.lists[p]
		s.Priorities[p] = PriorityStats{Length: r.size(), Served: r.head, QuoteSwitches: q.turns.switches[p]}
		if r.size() > 0 {
			s.Priorities[p].OldestSince = r.since()
			s.Priorities[p].UnservedSince = max(r.begun, r.served)
		}
	}
	return s
}
