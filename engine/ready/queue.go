// SPDX-License-Identifier: Apache-2.0

package ready

// Queue holds ready instances by priority. It belongs to one goroutine. Each
// list grows to the largest length that it has had: 4 bytes per instance, and
// 16 for each pair of neighbours that became ready at different times.
type Queue struct {
	turns turns
	lists [Priorities]ring
}

// NewQueue returns an empty queue.
func NewQueue(d Discipline) *Queue { return &Queue{turns: newTurns(d)} }

// Push puts an instance at the end of the list of its priority. The queue does
// not check whether it is there already. Push panics for a p above [Highest].
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

// PopOf takes the first instance of one priority, if there is one, regardless
// of the turn. It counts one event as served, but not towards a quote. The
// caller decides the order, with a [Turn] over several queues.
func (q *Queue) PopOf(p Priority, now int64) (instance int32, ok bool) {
	l := q.turns.lists[p]
	if q.turns.present>>l&1 == 0 {
		return 0, false
	}
	return q.take(l, now), true
}

// take takes the first element of a list that is not empty.
func (q *Queue) take(l uint8, now int64) int32 {
	r := &q.lists[l&7]
	instance := r.pop()
	r.served = now
	if r.head == r.tail {
		q.turns.present &^= 1 << l
	}
	return instance
}

// SinceOf returns since when the first instance of one priority has been ready,
// if there is one.
func (q *Queue) SinceOf(p Priority) (since int64, ok bool) {
	l := q.turns.lists[p]
	if q.turns.present>>l&1 == 0 {
		return 0, false
	}
	return q.lists[l&7].since(), true
}

// Present returns the priorities that have ready instances: bit p is set for
// priority p.
func (q *Queue) Present() uint8 { return q.turns.present }

// AheadOf returns the first instances of the list of one priority: at most n,
// and possibly fewer although there are more. They come next unless others
// overtake them, so an owner can prefetch their memory. The slice belongs to
// the queue and must be read before the next Push.
func (q *Queue) AheadOf(p Priority, n int) []int32 {
	return q.lists[q.turns.lists[p]&7].ahead(n)
}

// Stats returns the counters.
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
