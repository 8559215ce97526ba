// SPDX-License-Identifier: Apache-2.0

package pool

import "math/bits"

// Queue holds ready instances by priority. It belongs to one goroutine. Each
// list is a ring that grows to the largest length that it has had, 16 bytes an
// instance.
type Queue struct {
	turns turns
	lists [Priorities]ring
}

// NewQueue returns an empty queue.
func NewQueue(d Discipline) *Queue { return &Queue{turns: newTurns(d)} }

// Push puts an instance at the end of the list of its priority. The queue does
// not look whether it is there already. p is at most [Highest].
func (q *Queue) Push(instance int32, p Priority, now int64) {
	l := q.turns.list(p)
	q.lists[l&7].push(entry{since: now, instance: instance})
	q.turns.added(l, now)
}

// Pop takes the next instance, if there is one, and counts one event as served.
func (q *Queue) Pop(now int64) (instance int32, ok bool) {
	if q.turns.present == 0 {
		return 0, false
	}
	l := q.turns.pick(q.turns.present)
	instance = q.lists[l&7].pop().instance
	q.turns.removed(l)
	q.turns.serve(l, 1, now)
	return instance, true
}

// ReadySince returns since when the instance is ready that Pop would take, if
// there is one.
func (q *Queue) ReadySince() (since int64, ok bool) {
	if q.turns.present == 0 {
		return 0, false
	}
	l := &q.lists[q.turns.pick(q.turns.present)&7]
	return l.buf[l.head].since, true
}

// Len returns how many instances are ready.
func (q *Queue) Len() int {
	n := 0
	for p := range q.turns.rows {
		n += q.turns.rows[p].length
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
	s := q.turns.stats()
	for p := range q.lists {
		if l := &q.lists[p]; l.size > 0 {
			s.Priorities[p].OldestSince = l.buf[l.head].since
		}
	}
	return s
}

// entry is an instance in a list.
type entry struct {
	since    int64 // when it was pushed
	instance int32
}

// ring is a first-in-first-out list. The length of buf is 0 or a power of two.
type ring struct {
	buf        []entry
	head, size int
}

func (r *ring) push(e entry) {
	if r.size == len(r.buf) {
		r.grow()
	}
	r.buf[(r.head+r.size)&(len(r.buf)-1)] = e
	r.size++
}

// pop takes the head, which is there.
func (r *ring) pop() entry {
	e := r.buf[r.head&(len(r.buf)-1)]
	r.head = (r.head + 1) & (len(r.buf) - 1)
	r.size--
	return e
}

func (r *ring) grow() {
	const least = 16
	buf := make([]entry, max(least, 1<<bits.Len(uint(r.size))))
	n := copy(buf, r.buf[r.head:])
	copy(buf[n:], r.buf[:r.head])
	r.buf, r.head = buf, 0
}
