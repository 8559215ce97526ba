// SPDX-License-Identifier: Apache-2.0

package game

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// What a state says an instance is at rest as, in the order of their flags; and
// that the entry is of a row of instances that have ended.
const (
	stateFinished = 1 + iota
	stateDeadlocked
	stateFailed
	stateEnded
	stateBeyond
)

// AppendState appends the instances that have moved since they were created:
// for each its number plus one, its turn and what it is at rest as, how many
// runs of tokens it has, and for each run the place, the injection time and the
// tokens; how many clocks it has, and for each the transition and since when it
// runs; then a zero.
//
// An instance without tokens and without clocks is not kept. If it has finished
// it is in a row of such ones, of which there is only the first number plus one,
// how far it is from one to the next, and how many follow it. Else it is left
// out if the initial marking is empty: LoadState finds it as New made it. Its
// turn is forgotten. Instances that never moved are left out, too; one that is
// back at an initial marking with tokens is kept, because they have other ages.
func (s *Shard) AppendState(dst []byte) []byte {
	dst = s.appendEnded(dst)
	for i := range s.cells {
		c := &s.cells[i]
		if c.flags&everMoved == 0 || s.spent(i, c) {
			continue
		}
		dst = binary.AppendUvarint(dst, uint64(s.Number(i))+1)
		dst = binary.AppendUvarint(dst, uint64(c.turn)+stateOf(c)*s.turns())
		dst = s.appendTokens(dst, c)
		dst = s.appendClocks(dst, i)
	}
	return binary.AppendUvarint(dst, 0)
}

// turns is how many turns there can be.
func (s *Shard) turns() uint64 { return uint64(max(len(s.rules), 1)) }

func stateOf(c *cell) uint64 {
	switch {
	case c.flags&finished != 0:
		return stateFinished
	case c.flags&deadlocked != 0:
		return stateDeadlocked
	case c.flags&failed != 0:
		return stateFailed
	}
	return 0
}

// spent reports whether an instance that has moved need not be kept.
func (s *Shard) spent(i int, c *cell) bool {
	if c.n != 0 && (c.n != isWide || s.wideOf(c).tokens > 0) || s.timed && s.clocks.first[i] != none {
		return false
	}
	if c.flags&finished != 0 {
		return true
	}
	return c.flags&atRest == 0 && s.barren && (s.part != nil || s.openEnded || c.flags&moved == 0)
}

// appendEnded appends the rows of instances that have finished and are spent.
func (s *Shard) appendEnded(dst []byte) []byte {
	first, step, more := -1, 0, 0
	flush := func() {
		if first >= 0 {
			dst = binary.AppendUvarint(dst, uint64(first)+1)
			dst = binary.AppendUvarint(dst, stateEnded*s.turns())
			dst = binary.AppendUvarint(dst, uint64(max(step, 1)))
			dst = binary.AppendUvarint(dst, uint64(more))
		}
	}
	for i := range s.cells {
		c := &s.cells[i]
		if c.flags&(everMoved|finished) != everMoved|finished || !s.spent(i, c) {
			continue
		}
		switch n := s.Number(i); {
		case first >= 0 && more == 0:
			step, more = n-first, 1
		case first >= 0 && n == first+step*(more+1):
			more++
		default:
			flush()
			first, step, more = n, 0, 0
		}
	}
	flush()
	return dst
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
// what follows it. Instances that the shard does not hold are passed over. Those
// at rest are counted as having come to rest once, and nothing else: Recount, if
// what was counted is known.
func (s *Shard) LoadState(src []byte) (rest []byte, err error) {
	s.loaded = true
	ended := -1 // the last instance of the rows so far
	for r := (&reader{src}); ; {
		number, err := r.next(math.MaxInt64)
		if err != nil {
			return nil, err
		}
		if number == 0 {
			return r.left, nil
		}
		if err := s.loadEntry(r, int(number-1), &ended); err != nil {
			return nil, err
		}
	}
}

// loadEntry reads an instance, or a row of such that have ended.
func (s *Shard) loadEntry(r *reader, number int, ended *int) error {
	head, err := r.next(stateBeyond*s.turns() - 1)
	if err != nil {
		return err
	}
	state, turn := head/s.turns(), head%s.turns()
	if state == stateEnded {
		return s.loadEnded(r, number, ended)
	}
	i, err := s.Index(number)
	mine := err == nil
	var c *cell
	if mine {
		c = s.emptied(i)
		c.turn = uint16(turn)
	}
	if err := s.loadTokens(r, c, number); err != nil {
		return err
	}
	if err := s.loadClocks(r, i, mine); err != nil || !mine {
		return err
	}
	switch state {
	case stateFinished:
		c.flags |= finished
		s.rec.Net.Finished++
	case stateDeadlocked:
		c.flags |= deadlocked
		s.deadlocked++
	case stateFailed:
		c.flags |= failed
		s.rec.Net.Failed++
	}
	return nil
}

// loadEnded reads the rest of a row that begins with an instance. Rows follow
// each other, so that reading them costs no more than there are instances.
func (s *Shard) loadEnded(r *reader, first int, ended *int) error {
	step, err1 := r.next(math.MaxInt64)
	more, err2 := r.next(math.MaxInt64)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if step == 0 || first <= *ended || more > uint64(math.MaxInt64-first)/step {
		return fmt.Errorf("%w: a row of ended instances from %d on, %d more in steps of %d, after instance %d; expected it to follow that one",
			ErrLog, first, more, step, *ended)
	}
	*ended = first + int(step*more)
	for i := s.indexFrom(first); i < len(s.cells) && s.Number(i) <= *ended; i++ {
		if uint64(s.Number(i)-first)%step == 0 {
			s.emptied(i).flags |= finished
			s.rec.Net.Finished++
		}
	}
	return nil
}

// indexFrom returns the first instance whose number is not below another.
func (s *Shard) indexFrom(number int) int {
	if s.numbers != nil {
		i, _ := slices.BinarySearchFunc(s.numbers, number, func(n int32, want int) int { return cmp.Compare(int(n), want) })
		return i
	}
	if number <= s.first {
		return 0
	}
	return (number-s.first-1)/max(s.stride, 1) + 1
}

// loadTokens reads the tokens of an instance; of one that is not ours, nil, it
// only reads.
func (s *Shard) loadTokens(r *reader, c *cell, number int) error {
	runs, err := r.next(uint64(len(r.left)))
	if err != nil {
		return err
	}
	for range runs {
		place, err1 := r.index(s.tables.Places())
		time, err2 := r.next(math.MaxInt64)
		n, err3 := r.next(math.MaxUint32)
		if err := errors.Join(err1, err2, err3); err != nil {
			return err
		}
		if c == nil {
			continue
		}
		if s.outside(place) {
			return fmt.Errorf("%w: place %q: %w", ErrLog, s.tables.Net.Places[place].ID, ErrElsewhere)
		}
		if err := s.put(c, place, uint32(n), int64(time)); err != nil {
			return fmt.Errorf("%w: instance %d: %w", ErrLog, number, err)
		}
	}
	return nil
}

// maxTime is the latest time since which a clock may run, so that it is due
// before time ends.
const maxTime = 1 << 62

func (s *Shard) loadClocks(r *reader, i int, mine bool) error {
	clocks, err := r.next(uint64(len(s.rules)))
	if err != nil {
		return err
	}
	for range clocks {
		t, err1 := r.index(len(s.rules))
		since, err2 := r.next(maxTime)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if !mine {
			continue
		}
		if !s.rules[t].held || s.elsewhere(t) || !s.timed || !s.enabled(&s.cells[i], t) || s.clocks.of(i, t) != none {
			return fmt.Errorf("%w: instance %d: a clock of transition %q, which does not wait", ErrLog, s.Number(i), s.tables.Net.Transitions[t].ID)
		}
		s.startClock(i, t, int64(since))
	}
	return nil
}

// emptied takes all tokens and clocks out of an instance.
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
	s.calm(c)
	c.flags = c.flags&^atRest | moved | everMoved
	return c
}
