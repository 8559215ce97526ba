// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"errors"
	"math"
)

// ErrFull is returned by callers that reject work for an instance that is
// [Pool.Full].
var ErrFull = errors.New("instance is full")

// Pool counts the work of many instances. An instance has no work, or it is in
// the queue and waits for its turn, or its owner plays it; then more work may
// wait in it. A Pool belongs to one goroutine. An instance takes 8 bytes, and
// its share of a [Queue].
type Pool struct {
	queue  Queue
	slots  []slot
	bound  uint32 // on the waiting work of one instance
	work   int    // waiting work of all instances
	served [Priorities]uint64
}

// slot is one instance.
type slot struct {
	work     uint32 // that waits
	priority Priority
	playing  bool
}

// NewPool returns a pool of instances that have no work and the lowest
// priority. At most bound pieces of work wait in each; 0 is no bound.
func NewPool(d Discipline, instances, bound int) *Pool {
	if bound <= 0 || bound > math.MaxUint32 {
		bound = math.MaxUint32
	}
	return &Pool{queue: Queue{turns: newTurns(d)}, slots: make([]slot, instances), bound: uint32(bound)}
}

// Rank sets the priority of an instance that has no work. A priority above
// [Highest] is out of range, and Deliver panics.
func (p *Pool) Rank(instance int, priority Priority) { p.slots[instance].priority = priority }

// Deliver adds a piece of work to an instance. If the instance is full, the
// piece is dropped: the instance will be played anyway.
func (p *Pool) Deliver(instance int, now int64) {
	s := &p.slots[instance]
	if s.work >= p.bound {
		return
	}
	if s.work == 0 && !s.playing {
		p.queue.Push(int32(instance), s.priority, now)
	}
	s.work++
	p.work++
}

// Full reports whether the waiting work of an instance has reached the bound.
func (p *Pool) Full(instance int) bool { return p.slots[instance].work >= p.bound }

// Start takes the next instance, if there is one, and up to batch pieces of its
// work, at least one. Under a quoted discipline it takes no more than the rest
// of the quote.
func (p *Pool) Start(batch int, now int64) (instance int, ok bool) {
	t := &p.queue.turns
	if t.present == 0 {
		return 0, false
	}
	l := t.pick(t.present)
	instance, n := p.begin(l, min(batch, t.allowance(l)), now)
	t.serve(l, n)
	return instance, true
}

// StartOf takes the first instance of one priority, if there is one, and one
// piece of its work, regardless of the turn: the caller decides the order, with
// a [Turn] over several pools.
func (p *Pool) StartOf(priority Priority, now int64) (instance int, ok bool) {
	l := p.queue.turns.lists[priority]
	if p.queue.turns.present>>l&1 == 0 {
		return 0, false
	}
	instance, _ = p.begin(l, 1, now)
	return instance, true
}

// begin takes the first instance of a list that is not empty, and up to batch
// pieces of its work, at least one.
func (p *Pool) begin(l uint8, batch int, now int64) (instance, n int) {
	i := p.queue.take(l, now)
	s := &p.slots[i]
	n = max(min(batch, int(s.work)), 1)
	s.work -= uint32(n)
	s.playing = true
	p.work -= n
	p.served[l&7] += uint64(n)
	return int(i), n
}

// End puts an instance that was started back into the queue, at the end of its
// list, if more work waits.
func (p *Pool) End(instance int, now int64) {
	s := &p.slots[instance]
	s.playing = false
	if s.work > 0 {
		p.queue.Push(int32(instance), s.priority, now)
	}
}

// Waiting returns how much work waits in an instance.
func (p *Pool) Waiting(instance int) int { return int(p.slots[instance].work) }

// Present returns the priorities that have ready instances: bit p is set for
// priority p.
func (p *Pool) Present() uint8 { return p.queue.Present() }

// SinceOf returns since when the first ready instance of a priority has been
// ready, if there is one.
func (p *Pool) SinceOf(priority Priority) (since int64, ok bool) { return p.queue.SinceOf(priority) }

// Stats returns the counters of the instances, where Served counts pieces of
// work, and how much work waits.
func (p *Pool) Stats() (s Stats, waiting int) {
	s = p.queue.Stats()
	for l := range s.Priorities {
		s.Priorities[l].Served = p.served[l]
	}
	return s, p.work
}
