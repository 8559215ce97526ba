// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"errors"
	"math"
)

// ErrFull is the error of callers that refuse work for an instance that is
// [Pool.Full].
var ErrFull = errors.New("instance is full")

// Pool counts the work of many instances. An instance has no work, or it is in
// the queue and waits for its turn, or its owner plays it; more work may wait in
// it meanwhile. A Pool belongs to one goroutine. An instance costs 8 bytes, and
// what a [Queue] needs.
type Pool struct {
	queue  Queue
	slots  []slot
	bound  uint32 // of the work that waits in an instance
	work   int    // that waits
	served [Priorities]uint64
}

// slot is one instance.
type slot struct {
	work     uint32 // that waits
	priority Priority
	playing  bool
}

// NewPool returns a pool of a number of instances, which have no work and are of
// the lowest priority. At most bound pieces of work wait in each; 0 is no bound.
func NewPool(d Discipline, instances, bound int) *Pool {
	if bound <= 0 || bound > math.MaxUint32 {
		bound = math.MaxUint32
	}
	return &Pool{queue: Queue{turns: newTurns(d)}, slots: make([]slot, instances), bound: uint32(bound)}
}

// Rank sets the priority of an instance that has no work. A priority above
// [Highest] is out of range, and Deliver panics.
func (p *Pool) Rank(instance int, priority Priority) { p.slots[instance].priority = priority }

// Deliver adds a piece of work to an instance. One that is full has enough to do
// without it, and it is dropped.
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

// Full reports whether as much work waits in an instance as may.
func (p *Pool) Full(instance int) bool { return p.slots[instance].work >= p.bound }

// Start takes the next instance, if there is one, and up to batch pieces of its
// work, at least one. A quoted discipline lets an instance have no more than what
// is left of the quote.
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
// piece of its work, out of turn: the caller decides the order, with a [Turn]
// over several pools.
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

// Present returns the priorities of which an instance is ready: bit p for
// priority p.
func (p *Pool) Present() uint8 { return p.queue.Present() }

// SinceOf returns since when the first ready instance of a priority is ready, if
// there is one.
func (p *Pool) SinceOf(priority Priority) (since int64, ok bool) { return p.queue.SinceOf(priority) }

// Stats returns what was counted of the instances, where Served counts pieces of
// work, and how much work waits.
func (p *Pool) Stats() (s Stats, waiting int) {
	s = p.queue.Stats()
	for l := range s.Priorities {
		s.Priorities[l].Served = p.served[l]
	}
	return s, p.work
}
