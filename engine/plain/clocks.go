// SPDX-License-Identifier: Apache-2.0

package plain

import "github.com/pnagent/pnagent/engine/internal/shard"

// none is the index of no clock.
const none int32 = -1

// clock belongs to one transition of one instance that is enabled and waits:
// for its delay or for a call of Fire.
type clock struct {
	cell       int32
	next       int32 // the next clock of the same instance
	transition uint16
	delayed    bool
	since, due int64
}

// clocks are all clocks of a shard. Those with a due time are planned, unless
// their instance still has immediate transitions to fire.
type clocks struct {
	all     []clock
	free    int32 // the first unused clock; next links them
	first   []int32
	planned shard.Due
}

// init makes room for the clocks of a number of instances.
func (k *clocks) init(cells int) {
	k.free, k.first = none, make([]int32, cells)
	for i := range k.first {
		k.first[i] = none
	}
	k.planned.Before = func(a, b int32) bool { return k.all[a].before(&k.all[b]) }
}

func (k *clocks) add(c clock) int32 {
	id := k.free
	if id == none {
		id = int32(len(k.all))
		k.all = append(k.all, clock{})
	} else {
		k.free = k.all[id].next
	}
	c.next = k.first[c.cell]
	k.first[c.cell] = id
	k.all[id] = c
	return id
}

// remove removes a clock from its list and from the due times.
func (k *clocks) remove(id int32) {
	k.planned.Drop(id)
	c := &k.all[id]
	for link := &k.first[c.cell]; ; link = &k.all[*link].next {
		if *link == id {
			*link = c.next
			break
		}
	}
	c.next = k.free
	k.free = id
}

// of returns the clock of a transition in an instance, or none.
func (k *clocks) of(cell, transition int) int32 {
	id := k.first[cell]
	for id != none && int(k.all[id].transition) != transition {
		id = k.all[id].next
	}
	return id
}

// dueOf returns the clock of an instance with the earliest due time, if it is
// due at now; else none.
func (k *clocks) dueOf(cell int, now int64) int32 {
	if len(k.first) == 0 { // no transition has a clock
		return none
	}
	best := none
	for id := k.first[cell]; id != none; id = k.all[id].next {
		if c := &k.all[id]; c.delayed && c.due <= now && (best == none || c.before(&k.all[best])) {
			best = id
		}
	}
	return best
}

// each calls do for every clock of an instance.
func (k *clocks) each(cell int, do func(*clock)) {
	if len(k.first) == 0 { // no transition has a clock
		return
	}
	for id := k.first[cell]; id != none; id = k.all[id].next {
		do(&k.all[id])
	}
}

func (k *clocks) removeAll(cell int) {
	for len(k.first) > 0 && k.first[cell] != none {
		k.remove(k.first[cell])
	}
}

func (k *clocks) removeOf(cell, transition int) {
	if id := k.of(cell, transition); id != none {
		k.remove(id)
	}
}

// plan plans a clock for its due time.
func (k *clocks) plan(id int32) { k.planned.Plan(id, k.all[id].cell, k.all[id].due) }

// before is a total order of the clocks of an instance, so that a run can be repeated.
func (a *clock) before(b *clock) bool {
	if a.due != b.due {
		return a.due < b.due
	}
	return a.transition < b.transition
}

// stopClocks ends the clocks of transitions that are no longer enabled.
func (s *Shard) stopClocks(i int, c *cell) {
	for id := s.clocks.first[i]; id != none; {
		k := &s.clocks.all[id]
		next := k.next
		if !s.enabled(c, int(k.transition)) {
			s.clocks.remove(id)
		}
		id = next
	}
}

// startClocks starts clocks for the transitions of a settled instance that are
// enabled and have none. It plans the clocks that waited for immediate
// transitions, and reports whether it started any.
func (s *Shard) startClocks(i int, c *cell, now int64) (started bool) {
	for id := s.clocks.first[i]; id != none; id = s.clocks.all[id].next {
		if k := &s.clocks.all[id]; k.delayed && !s.clocks.planned.Planned(id) {
			s.clocks.plan(id)
		}
	}
	if c.n == isWide {
		for p := range s.Waiting {
			if s.wideOf(c).state.Tokens(p) > 0 {
				started = s.startAll(i, c, s.Waiting[p], now) || started
			}
		}
	} else {
		for _, p := range c.places[:c.n] {
			started = s.startAll(i, c, s.Waiting[p], now) || started
		}
	}
	return s.startAll(i, c, s.Unwaiting, now) || started
}

func (s *Shard) startAll(i int, c *cell, transitions []int32, now int64) (started bool) {
	for _, t := range transitions {
		if !s.enabled(c, int(t)) || s.clocks.of(i, int(t)) != none {
			continue
		}
		s.startClock(i, int(t), now)
		started = true
	}
	return started
}

// startClock starts the clock of a transition that has none.
func (s *Shard) startClock(i, t int, since int64) {
	k := clock{cell: int32(i), transition: uint16(t), since: since}
	if m := &s.modes[t]; m.Kind == Delayed {
		s.current = s.streams[i]
		k.delayed, k.due = true, since+m.Delay.Draw(s.delays)
		s.streams[i] = s.current
	}
	if id := s.clocks.add(k); k.delayed {
		s.clocks.plan(id)
	}
}
