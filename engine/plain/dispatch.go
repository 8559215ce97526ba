// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"fmt"

	"github.com/pnagent/pnagent/engine/ready"
)

// dispatch is the queue of ready instances of a shard with a discipline. A
// shard without one has a ring.
type dispatch struct {
	queue      *ready.Queue
	discipline ready.Discipline
	priorities []ready.Priority      // by instance
	fetched    [ready.Priorities]int // by priority: how many of its ready instances, from the first on, fetchWith has read
}

// newDispatch returns nil if the configuration has no discipline.
func (s *Shard) newDispatch(cfg *Config) (*dispatch, error) {
	if cfg.Dispatch == nil {
		return nil, nil
	}
	d := &dispatch{queue: ready.NewQueue(*cfg.Dispatch), discipline: *cfg.Dispatch, priorities: make([]ready.Priority, len(s.cells))}
	if cfg.Priority == nil || cfg.Dispatch.Policy() == ready.PolicyFIFO {
		return d, nil
	}
	for i := range d.priorities {
		p := cfg.Priority(s.Number(i))
		if p > ready.Highest {
			return nil, fmt.Errorf("instance %d has the priority %v; expected at most %v", s.Number(i), p, ready.Highest)
		}
		d.priorities[i] = p
	}
	return d, nil
}

// Present returns the priorities that have ready instances: bit p is set for
// priority p.
func (s *Shard) Present() uint8 {
	switch {
	case s.dispatch != nil:
		return s.dispatch.queue.Present()
	case s.ready.len() > 0:
		return 1
	}
	return 0
}

// ReadySince returns since when the first ready instance of a priority has been
// ready, if there is one. Without a discipline every instance is of p0 and
// since is
//  0. Instances with a delay that has become due are ready only after
//
// [Shard.Expire], Step or StepOne.
func (s *Shard) ReadySince(p ready.Priority) (since int64, ok bool) {
	if s.dispatch != nil {
		return s.dispatch.queue.SinceOf(p)
	}
	return 0, p == 0 && s.ready.len() > 0
}

// Queue returns the counters of the queue of ready instances, or false without
// a discipline. An event is one visit to an instance.
func (s *Shard) Queue() (ready.Stats, bool) {
	if s.dispatch == nil {
		return ready.Stats{}, false
	}
	return s.dispatch.queue.Stats(), true
}

// Expire makes the instances ready whose delay is over at now. Step and StepOne
// call it; an owner of several shards calls it before it compares their ready
// instances.
func (s *Shard) Expire(now int64) {
	for s.clocks.planned.Due(now) {
		k := &s.clocks.all[s.clocks.planned.Take()]
		if s.cells[k.cell].flags&failed == 0 {
			s.enqueue(int(k.cell), k.due)
		}
	}
}

// StepOne plays one event: the first ready instance of a priority. It makes at
// most budget firings and returns their number. It is for an owner of several
// shards that decides the turn itself, and does not use the shard's own
// discipline. See [ready.Turn].
func (s *Shard) StepOne(p ready.Priority, budget int, now int64) int {
	s.Expire(now)
	if budget < 1 {
		return 0
	}
	i, ok := s.takeOf(p, now)
	if !ok {
		return 0
	}
	return s.serve(i, min(budget, s.quota), now)
}

func (s *Shard) takeOf(p ready.Priority, now int64) (instance int, ok bool) {
	if s.dispatch == nil {
		if p != 0 || s.ready.len() == 0 {
			return 0, false
		}
		s.fetched = max(s.fetched-1, 0)
		return int(s.ready.pop()), true
	}
	i, ok := s.dispatch.queue.PopOf(p, now)
	if ok {
		s.fetchWith(i)
	}
	return int(i), ok
}

// stepInTurn is Step under a discipline. The end of a delay is an event like
// any other: its instance waits for its turn.
func (s *Shard) stepInTurn(budget int, now int64) int {
	fired := 0
	for fired < budget {
		s.Expire(now)
		i, ok := s.dispatch.queue.Pop(now)
		if !ok {
			return fired
		}
		s.fetchWith(i)
		fired += s.serve(int(i), min(budget-fired, s.quota), now)
	}
	return fired
}

// fetchWith reads the instance that is played now, and the next ones of its
// list with it, unless they have been read: see fetch.
func (s *Shard) fetchWith(i int32) {
	d := s.dispatch
	left := &d.fetched[d.priorities[i]&7]
	if *left > 0 {
		*left--
		return
	}
	ahead := d.queue.AheadOf(d.priorities[i], fetchAhead-1)
	flags := s.cells[i].flags
	for _, k := range ahead {
		flags |= s.cells[k].flags
	}
	*left = len(ahead)
	s.sink = flags
}

// serve plays an instance that was taken out of its queue for one event:
// immediate transitions, then those that are due, and so on, as Step does
// without a discipline. If a small budget ends the visit, the instance is
// queued again only if it has more to do.
func (s *Shard) serve(i, quota int, now int64) int {
	c := &s.cells[i]
	c.flags &^= queued
	for n := 0; ; n++ {
		n += s.run(i, c, quota-n, now)
		id, quiet := none, n < quota || quota < s.quota && s.quiet(c)
		switch {
		case c.flags&failed != 0:
			return n
		case quiet:
			s.settle(i, c, now)
			if id = s.clocks.dueOf(i, now); id == none {
				return n
			}
		}
		if n == quota {
			s.enqueue(i, now)
			return n
		}
		t := int(s.clocks.all[id].transition)
		s.clocks.remove(id)
		if !s.fireOrFail(i, c, t, now) {
			return n
		}
	}
}
