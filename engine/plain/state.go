// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"encoding/binary"
	"math"

	"github.com/pnagent/pnagent/engine/internal/shard"
)

// AppendState appends the instances that have moved since they were created. An
// instance is written as:
//
//   - its number plus one, its turn and the state in which it is at rest;
//   - the number of its runs of tokens, and for each run the place, the
//     injection time and the number of tokens;
//   - the number of its clocks, and for each the transition and its start.
//
// A zero follows the last one.
//
// An instance without tokens and clocks is not written. Finished ones are
// written as rows: the first number plus one, the distance from one to the
// next, and how many follow. Others are left out if the initial marking is
// empty, because LoadState finds them as New created them; their turn is lost.
// Instances that never moved are left out, too. One that is back at an initial
// marking with tokens is written, because their ages differ.
func (s *Shard) AppendState(dst []byte) []byte {
	dst = s.AppendEnded(dst, func(i int) bool {
		c := &s.cells[i]
		return c.flags&(everMoved|finished) == everMoved|finished && s.spent(i, c)
	})
	for i := range s.cells {
		c := &s.cells[i]
		if c.flags&everMoved == 0 || s.spent(i, c) {
			continue
		}
		dst = binary.AppendUvarint(dst, uint64(s.Number(i))+1)
		dst = binary.AppendUvarint(dst, uint64(c.turn)+shard.StateOf(c.flags)*s.Turns())
		dst = s.appendTokens(dst, c)
		dst = s.appendClocks(dst, i)
	}
	return binary.AppendUvarint(dst, 0)
}

// spent reports whether an instance that has moved need not be written.
func (s *Shard) spent(i int, c *cell) bool {
	if c.n != 0 && (c.n != isWide || s.wideOf(c).tokens > 0) || s.Timed && s.clocks.first[i] != none {
		return false
	}
	if c.flags&finished != 0 {
		return true
	}
	return c.flags&atRest == 0 && s.Barren && (s.Part != nil || s.OpenEnded || c.flags&moved == 0)
}

func (s *Shard) appendTokens(dst []byte, c *cell) []byte {
	add := func(place int, time int64, n uint32) {
		dst = binary.AppendUvarint(dst, uint64(place))
		dst = binary.AppendUvarint(dst, uint64(time))
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	if c.n != isWide {
		dst = binary.AppendUvarint(dst, uint64(c.n))
		for k := range int(c.n) {
			add(int(c.places[k]), c.times[k], 1)
		}
		return dst
	}
	runs := 0
	w := s.wideOf(c)
	for p := range w.queues {
		runs += len(w.queues[p].left())
	}
	dst = binary.AppendUvarint(dst, uint64(runs))
	for p := range w.queues {
		for _, r := range w.queues[p].left() {
			add(p, r.time, r.n)
		}
	}
	return dst
}

func (s *Shard) appendClocks(dst []byte, i int) []byte {
	n := 0
	s.clocks.each(i, func(*clock) { n++ })
	dst = binary.AppendUvarint(dst, uint64(n))
	s.clocks.each(i, func(k *clock) {
		dst = binary.AppendUvarint(dst, uint64(k.transition))
		dst = binary.AppendUvarint(dst, uint64(k.since))
	})
	return dst
}

// LoadState puts instances into the state that AppendState wrote, and returns
// the bytes that follow it. It skips instances that the shard does not hold.
// Those at rest are counted as having come to rest once; other counters stay 0
// unless the caller passes them to Recount. The error wraps [ErrLog].
func (s *Shard) LoadState(src []byte) (rest []byte, err error) {
	s.loaded = true
	ended := -1 // the last instance of the rows so far
	for r := (&shard.Reader{Left: src}); ; {
		number := r.Next(math.MaxInt64)
		if r.Err == nil && number == 0 {
			return r.Left, nil
		}
		head := r.Next((shard.StateEnded+1)*s.Turns() - 1)
		if state := head / s.Turns(); r.Err == nil && state == shard.StateEnded {
			s.LoadEnded(r, int(number-1), &ended, func(i int) { s.emptied(i).flags |= finished })
		} else if r.Err == nil {
			s.loadInstance(r, int(number-1), uint16(head%s.Turns()), state)
		}
		if r.Err != nil {
			return nil, r.Err
		}
	}
}

// loadInstance reads the rest of an instance.
func (s *Shard) loadInstance(r *shard.Reader, number int, turn uint16, state uint64) {
	i, err := s.Index(number)
	var c *cell
	if err == nil {
		c = s.emptied(i)
		c.turn = turn
	}
	s.loadTokens(r, c, number)
	s.loadClocks(r, i, c)
	if r.Err == nil && c != nil {
		c.flags |= s.CountRest(shard.FlagOf(state))
	}
}

// loadTokens reads the tokens of an instance. If the shard does not hold the
// instance, c is nil and loadTokens only reads the bytes.
func (s *Shard) loadTokens(r *shard.Reader, c *cell, number int) {
	for range r.Next(uint64(len(r.Left))) {
		place, time, n := r.Index(s.Tables.Places()), r.Next(math.MaxInt64), r.Next(math.MaxUint32)
		switch {
		case r.Err != nil:
			return
		case c == nil:
		case s.Outside(place):
			r.Fail("place %q: %w", s.Tables.Net.Places[place].ID, ErrElsewhere)
		default:
			if err := s.put(c, place, uint32(n), int64(time)); err != nil {
				r.Fail("instance %d: %w", number, err)
			}
		}
	}
}

// maxTime bounds the start of a clock, so that its due time cannot overflow.
const maxTime = 1 << 62

// loadClocks reads the clocks of an instance, or only their bytes if c is nil.
func (s *Shard) loadClocks(r *shard.Reader, i int, c *cell) {
	for range r.Next(uint64(len(s.rules))) {
		t, since := r.Index(len(s.rules)), r.Next(maxTime)
		switch {
		case r.Err != nil:
			return
		case c == nil:
		case !s.rules[t].held || s.Elsewhere(t) || !s.Timed || !s.enabled(c, t) || s.clocks.of(i, t) != none:
			r.Fail("instance %d: a clock of transition %q, which does not wait", s.Number(i), s.Tables.Net.Transitions[t].ID)
		default:
			s.startClock(i, t, int64(since))
		}
	}
}

// emptied removes all tokens and clocks of an instance.
func (s *Shard) emptied(i int) *cell {
	c := &s.cells[i]
	s.clocks.removeAll(i)
	if c.n == isWide {
		w := s.wideOf(c)
		for p := range w.queues {
			w.queues[p] = queue{}
		}
		w.tokens = 0
		s.narrow(c)
	}
	c.n = 0
	s.Calm(&c.flags)
	c.flags = c.flags&^atRest | moved | everMoved
	return c
}
