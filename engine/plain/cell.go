// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"math"
	"slices"

	"github.com/pnagent/pnagent/engine/internal/shard"
	"github.com/pnagent/pnagent/petri"
)

// inline is the number of tokens that a cell can hold.
const inline = 6

// cell is one instance in one cache line. Its tokens are ordered by place and
// then by injection. In wide form, times[0] is the index into Shard.wide.
type cell struct {
	n      uint8 // number of tokens; isWide in wide form
	flags  uint8
	turn   uint16
	places [inline]uint16
	times  [inline]int64
}

const isWide = 0xff

// Flags of a cell.
const (
	queued     = shard.Queued
	finished   = shard.Finished
	deadlocked = shard.Deadlocked
	failed     = shard.Failed
	moved      = shard.Moved
	everMoved  = shard.EverMoved
	atRest     = shard.AtRest
)

// count returns the number of tokens that a cell in narrow form has in a place.
func (c *cell) count(place int32) uint32 {
	var m uint32
	for _, p := range c.places[:c.n&7] {
		if int32(p) == place {
			m++
		}
	}
	return m
}

// rule is a transition in the form in which cells are played.
type rule struct {
	rank     uint16 // 0 for the highest priority
	held     bool
	single   bool // enabled whenever its trigger holds a token
	move     bool // it only moves one token of from to to
	from, to uint16
	conds    []petri.Cond
	effects  []petri.Effect
	crosses  []petri.Effect // the tokens that it puts into places of other parts
}

// narrowEnabled reports whether the conditions of a transition hold in a cell.
// If the transition has a trigger place, the cell must have a token there.
func (r *rule) narrowEnabled(c *cell) bool {
	if r.single {
		return true
	}
	for _, cond := range r.conds {
		if !cond.Holds(c.count(cond.Place)) {
			return false
		}
	}
	return true
}

// choose returns the immediate transition to fire next in a cell in narrow
// form, or -1.
func (s *Shard) choose(i int, c *cell) int {
	if c.n == 1 && len(s.Untriggered) == 0 { // there is rarely a choice
		if list := s.Triggered[c.places[0]]; len(list) == 1 {
			if s.rules[list[0]].narrowEnabled(c) {
				return int(list[0])
			}
			return -1
		}
	}
	enabled := s.enabledNarrow(c)
	switch len(enabled) {
	case 0:
		return -1
	case 1:
		return int(enabled[0])
	}
	if s.Shuffle {
		slices.Sort(enabled)
		return int(enabled[s.streams[i].Below(len(enabled))])
	}
	first := s.firstInTurn(enabled, int32(c.turn))
	if s.Order(i) == nil {
		return first
	}
	return s.Tables.Choose(first, s.Order(i), func(t int) bool { return slices.Contains(enabled, int32(t)) })
}

// enabledNarrow returns the immediate transitions of the highest priority that
// are enabled in a cell. The next call reuses the memory.
func (s *Shard) enabledNarrow(c *cell) []int32 {
	s.found = s.found[:0]
	for k, p := range c.places[:c.n&7] {
		if !slices.Contains(c.places[:k], p) {
			s.find(c, s.Triggered[p])
		}
	}
	s.find(c, s.Untriggered)
	return s.found
}

// find adds the enabled transitions to found. If one has a higher priority than
// those in found, it replaces them.
func (s *Shard) find(c *cell, transitions []int32) {
	for _, t := range transitions {
		r := &s.rules[t]
		if len(s.found) > 0 && r.rank > s.rules[s.found[0]].rank || !r.narrowEnabled(c) {
			continue
		}
		if len(s.found) > 0 && r.rank < s.rules[s.found[0]].rank {
			s.found = s.found[:0]
		}
		s.found = append(s.found, t)
	}
}

// firstInTurn returns the index of the first of the transitions from turn on,
// starting again at 0 after the last transition.
func (s *Shard) firstInTurn(transitions []int32, turn int32) int {
	best, nearest := int32(-1), int32(math.MaxInt32)
	for _, t := range transitions {
		d := t - turn
		if d < 0 {
			d += int32(len(s.rules))
		}
		if d < nearest {
			best, nearest = t, d
		}
	}
	return int(best)
}

// fireNarrow fires an enabled transition in a cell in narrow form, and reports
// whether the result fits into the cell; if not, nothing has changed.
func (s *Shard) fireNarrow(i int, c *cell, t int, now int64) bool {
	r := &s.rules[t]
	if r.move {
		s.moveToken(i, c, r, now)
	} else if !s.apply(i, c, r, now) {
		return false
	}
	s.Rec.Fired(t, now)
	return true
}

// moveToken takes the oldest token of one place and puts one into another.
func (s *Shard) moveToken(i int, c *cell, r *rule, now int64) {
	last := int(c.n&7) - 1
	k := 0
	for k < last && c.places[k] != r.from {
		k++
	}
	s.Rec.Left(int(r.from), i, c.times[k], now)
	for ; k < last; k++ {
		c.places[k], c.times[k] = c.places[k+1], c.times[k+1]
	}
	c.places[last], c.times[last] = r.to, now
	s.Rec.Arrived(int(r.to), now)
}

// apply fires a transition with any arcs, and reports whether the result fits.
func (s *Shard) apply(i int, c *cell, r *rule, now int64) bool {
	after := int64(c.n)
	for k := range r.effects {
		e := &r.effects[k]
		if e.Reset {
			after -= int64(c.count(e.Place))
		} else {
			after -= int64(e.Take)
		}
		after += int64(e.Put)
	}
	if after > inline {
		return false
	}
	for k := range r.effects {
		if e := &r.effects[k]; e.Take > 0 || e.Reset {
			s.takeNarrow(i, c, e, now)
		}
	}
	for k := range r.effects {
		if e := &r.effects[k]; e.Put > 0 {
			s.putNarrow(c, uint16(e.Place), e.Put, now)
		}
	}
	return true
}

func (s *Shard) takeNarrow(i int, c *cell, e *petri.Effect, now int64) {
	take, kept := e.Take, 0
	if e.Reset {
		take = inline
	}
	for k := range int(c.n) {
		if take > 0 && int32(c.places[k]) == e.Place {
			take--
			s.Rec.Left(int(e.Place), i, c.times[k], now)
			continue
		}
		c.places[kept], c.times[kept] = c.places[k], c.times[k]
		kept++
	}
	c.n = uint8(kept)
}

func (s *Shard) putNarrow(c *cell, place uint16, n uint32, now int64) {
	for range n {
		c.places[c.n], c.times[c.n] = place, now
		c.n++
	}
	s.Rec.Arrived(int(place), now)
}
