// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"fmt"

	"github.com/pnagent/pnagent/petri"
)

// Step fires the transitions whose delay is over at now and all that are
// enabled. It makes at most budget firings and returns their number. Fewer than
// budget means that there is nothing to do until NextDue or until the next call
// that changes tokens.
func (s *Shard) Step(budget int, now int64) int {
	if s.dispatch != nil {
		return s.stepInTurn(budget, now)
	}
	fired := 0
	for fired < budget {
		switch {
		case s.clocks.planned.Due(now):
			fired += s.expire(s.clocks.planned.Take(), now)
		case s.ready.len() > 0:
			if s.fetched == 0 {
				s.fetch()
			}
			s.fetched--
			fired += s.visit(int(s.ready.pop()), min(budget-fired, s.quota), now)
		default:
			return fired
		}
	}
	return fired
}

// fetchAhead is the number of cells that are read together.
const fetchAhead = 16

// fetch reads from the next cells. The processor would wait for each read on
// its own; together they overlap, which makes a million instances in random
// order about four times as fast.
func (s *Shard) fetch() {
	s.fetched = min(fetchAhead, s.ready.len())
	var flags uint8
	for k := range s.fetched {
		flags |= s.cells[s.ready.at(k)].flags
	}
	s.sink = flags
}

// visit plays an instance of the ring, at most quota firings.
func (s *Shard) visit(i, quota int, now int64) int {
	c := &s.cells[i]
	c.flags &^= queued
	n := s.run(i, c, quota, now)
	switch {
	case c.flags&failed != 0:
	case n == quota:
		c.flags |= queued
		s.ready.push(int32(i))
		s.Stir(i)
	default:
		s.settle(i, c, now)
	}
	return n
}

// run fires immediate transitions of an instance until none is enabled or the
// quota is used up.
func (s *Shard) run(i int, c *cell, quota int, now int64) int {
	for n := range quota {
		if t := s.next(i, c); t < 0 || !s.fireOrFail(i, c, t, now) {
			return n
		}
	}
	return quota
}

// next returns the immediate transition to fire next, or -1.
func (s *Shard) next(i int, c *cell) int {
	if c.n != isWide {
		return s.choose(i, c)
	}
	state := s.wideOf(c).state
	if s.Shuffle && !state.Dead() {
		return state.Any(s.streams[i].Uint64())
	}
	return state.Next(int(c.turn), s.Order(i))
}

// fireOrFail fires an enabled transition. If a place would overflow, the
// instance fails: it does not continue until a call changes it.
func (s *Shard) fireOrFail(i int, c *cell, t int, now int64) bool {
	if s.fire(i, c, t, now) == nil {
		return true
	}
	s.fail(c, t)
	s.log.fail(i, t)
	s.Rec.Ended(i, true, now)
	return false
}

func (s *Shard) fail(c *cell, t int) {
	s.Rec.Failed(t)
	c.flags |= s.CountRest(failed) | everMoved // AppendState must write it
}

// fire fires an enabled transition, or returns petri.ErrOverflow and changes
// nothing.
func (s *Shard) fire(i int, c *cell, t int, now int64) error {
	if c.n == isWide || !s.fireNarrow(i, c, t, now) {
		if c.n != isWide {
			s.widen(c)
		}
		if err := s.fireWide(i, s.wideOf(c), t, now); err != nil {
			return err
		}
	}
	c.flags |= moved | everMoved
	if s.noting {
		if s.log.on {
			s.log.fire(i, t)
		}
		if crosses := s.rules[t].crosses; len(crosses) > 0 {
			s.cross(i, crosses)
		}
	}
	c.turn = uint16(t + 1)
	if t+1 == len(s.rules) {
		c.turn = 0
	}
	if s.Timed {
		s.stopClocks(i, c)
	}
	return nil
}

// expire fires a transition whose delay is over. If the instance still has
// immediate transitions to fire, the clock waits for them. In a failed instance
// it waits for a call.
func (s *Shard) expire(id int32, now int64) int {
	k := &s.clocks.all[id]
	i, t := int(k.cell), int(k.transition)
	c := &s.cells[i]
	if c.flags&(queued|failed) != 0 {
		return 0
	}
	s.clocks.remove(id)
	if !s.fireOrFail(i, c, t, now) {
		return 0
	}
	s.visitAfterClock(i, c, now)
	return 1
}

// visitAfterClock queues an instance in which a delayed transition has fired.
// If no immediate transition is enabled, it settles the instance at once.
func (s *Shard) visitAfterClock(i int, c *cell, now int64) {
	if s.quiet(c) {
		s.settle(i, c, now)
		return
	}
	s.enqueue(i, now)
}

// quiet reports whether no immediate transition is enabled.
func (s *Shard) quiet(c *cell) bool {
	if c.n == isWide {
		return s.wideOf(c).state.Dead()
	}
	return len(s.enabledNarrow(c)) == 0
}

func (s *Shard) enqueue(i int, now int64) {
	s.Stir(i)
	c := &s.cells[i]
	if c.flags&queued != 0 {
		return
	}
	c.flags |= queued
	if s.dispatch == nil {
		s.ready.push(int32(i))
		return
	}
	s.dispatch.queue.Push(int32(i), s.dispatch.priorities[i], now)
}

// settle records what an instance waits for when no immediate transition is
// enabled: its clocks, a call, or nothing any more.
func (s *Shard) settle(i int, c *cell, now int64) {
	if c.n == isWide {
		s.narrow(c)
	}
	if s.rest(i, c, now) {
		s.log.rest(i)
		if c.flags&finished != 0 {
			s.Rec.Ended(i, false, now)
		}
	}
}

// rest is settle; it reports whether clocks started or the instance now counts
// as at rest. The clocks of an instance that never moved run since it was
// created.
func (s *Shard) rest(i int, c *cell, now int64) bool {
	if s.Timed {
		since := now
		if c.flags&everMoved == 0 {
			since = s.created
		}
		if started := s.startClocks(i, c, since); s.clocks.first[i] != none {
			return started
		}
	}
	if s.OpenEnded {
		return false
	}
	as := deadlocked
	switch end, empty := s.atEnd(c); {
	case empty && c.flags&moved == 0, // it has not begun
		end && s.Part != nil: // it may continue in other parts
		as = 0
	case end:
		as = finished
		c.flags |= everMoved
	}
	c.flags = c.flags&^moved | s.CountRest(as)
	return c.flags&atRest != 0
}

// atEnd reports whether all tokens are in final places, see
// petri.Net.FinalPlaces, and whether there are none.
func (s *Shard) atEnd(c *cell) (end, empty bool) {
	end, empty = true, true
	for p := range s.Tables.Places() {
		if s.tokens(c, p) > 0 {
			end, empty = end && s.Tables.Final(p), false
		}
	}
	return end, empty
}

// wake makes an instance at rest active again. One that had ended starts from
// scratch and counts as created again.
func (s *Shard) wake(i int, c *cell, now int64) {
	if c.flags&(finished|failed) != 0 {
		s.Rec.Began(i, now)
	}
	s.Revive(&c.flags)
	s.enqueue(i, now)
}

// Inject puts n tokens into a place of an instance, or returns
// petri.ErrOverflow, or ErrElsewhere for a place of another part.
func (s *Shard) Inject(i, place int, n uint32, now int64) error {
	c := &s.cells[i]
	if s.Outside(place) {
		return fmt.Errorf("place %q: %w", s.Tables.Net.Places[place].ID, ErrElsewhere)
	}
	if n == 0 {
		return nil
	}
	if err := s.put(c, place, n, now); err != nil {
		return err
	}
	c.flags |= moved | everMoved
	s.log.inject(i, place, n)
	if s.Timed {
		s.stopClocks(i, c)
	}
	s.wake(i, c, now)
	return nil
}

// Fire fires a transition of an instance from outside. It returns
// petri.ErrNotEnabled, with the first condition that does not hold,
// petri.ErrOverflow, or ErrElsewhere for a transition of another part; then
// nothing has changed.
func (s *Shard) Fire(i, t int, now int64) error {
	c := &s.cells[i]
	if s.Elsewhere(t) {
		return fmt.Errorf("transition %q: %w", s.Tables.Net.Transitions[t].ID, ErrElsewhere)
	}
	if !s.enabled(c, t) {
		return s.refuse(c, t)
	}
	if err := s.fire(i, c, t, now); err != nil {
		return err
	}
	if s.Timed {
		s.clocks.removeOf(i, t) // its delay starts again
	}
	s.wake(i, c, now)
	return nil
}

func (s *Shard) refuse(c *cell, t int) error {
	for _, cond := range s.rules[t].conds {
		if m := s.tokens(c, int(cond.Place)); !cond.Holds(m) {
			return s.Refusal(t, cond, m, m)
		}
	}
	return petri.ErrNotEnabled
}

// NextDue returns when the next delay is over, if one is running. Transitions
// that can fire before that are not considered; Step finds them.
func (s *Shard) NextDue() (int64, bool) {
	return s.clocks.planned.Next()
}

// DueWithin returns when the next delay is over, if one is running, and the latest time of a
// Step at which no transition fires later than its delay allows: see Delay.Late.
func (s *Shard) DueWithin() (first, latest int64, ok bool) {
	return s.clocks.planned.Within(func(id int32) int64 { return s.modes[s.clocks.all[id].transition].Delay.Late() })
}

// ring is a first-in-first-out queue in which each instance is at most once.
type ring struct {
	buf        []int32
	head, size int
}

func newRing(n int) ring { return ring{buf: make([]int32, n)} }

func (r *ring) len() int { return r.size }

// at returns the k-th element of the queue, counted from its head.
func (r *ring) at(k int) int32 {
	i := r.head + k
	if i >= len(r.buf) {
		i -= len(r.buf)
	}
	return r.buf[i]
}

func (r *ring) push(v int32) {
	at := r.head + r.size
	if at >= len(r.buf) {
		at -= len(r.buf)
	}
	r.buf[at] = v
	r.size++
}

func (r *ring) pop() int32 {
	v := r.buf[r.head]
	if r.head++; r.head == len(r.buf) {
		r.head = 0
	}
	r.size--
	return v
}
