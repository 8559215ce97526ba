// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
)

// planUntil plans the clock of a transition that is enabled in a frame with tokens. It
// determines the due time unless that is known for these tokens: a change of their data does
// not count. Without a time, the transition is an incident.
func (s *Shard) planUntil(i int, in *instance, f *frame, t int, clock int32, tokens []Placed) {
	n := &s.notes.all[clock]
	if of := identities(tokens); n.due == 0 || n.token != of {
		due, err := until(s.rules[t].Until, tokens, n.since)
		if err != nil {
			s.dropNote(in, clock)
			s.unevaluated(i, in, f, t, tokens, "timer has no time", err)
			return
		}
		s.notes.due.Drop(clock)
		n.due, n.token = due, of
		s.noteDue(i, n)
	}
	if !s.notes.due.Planned(clock) {
		s.setRipe(clock, false)
		s.notes.plan(clock, n.due)
	}
}

// identities returns a number that differs for other tokens.
func identities(tokens []Placed) uint64 {
	var ids []byte
	for k := range tokens {
		ids = binary.AppendUvarint(ids, tokens[k].Token.ID)
	}
	h := fnv.New64a()
	h.Write(ids)
	return h.Sum64()
}

// noteDue records the due time of a clock: see appendDue.
func (s *Shard) noteDue(i int, n *note) {
	if s.logging {
		s.noteBeyond(i, opDue)
		s.done.Log = s.appendDue(s.done.Log, n)
	}
}

// appendDue appends the transition and, if the net has scopes, the run in which it acts; when
// the clock started; the due time and the identities of the tokens.
func (s *Shard) appendDue(dst []byte, n *note) []byte {
	dst = s.appendFrame(binary.AppendUvarint(dst, uint64(n.transition)), n.frame)
	dst = binary.AppendUvarint(dst, uint64(n.since))
	return binary.AppendUvarint(binary.AppendUvarint(dst, uint64(n.due)), n.token)
}

// appendDues appends the due times of an instance, the latest last, each as an entry. Earlier
// versions wrote none.
func (s *Shard) appendDues(dst []byte, i int, in *instance) []byte {
	last := none
	for id := in.notes; id != none; id = s.notes.all[id].next {
		last = id
	}
	for id := last; id != none; id = s.notes.all[id].prev {
		n := &s.notes.all[id]
		if n.kind == noteClock && n.due > 0 && s.rules[n.transition].Until != nil {
			dst = binary.AppendUvarint(dst, uint64(s.Number(i))+1)
			dst = binary.AppendUvarint(dst, stateDue*s.Turns())
			dst = s.appendDue(dst, n)
		}
	}
	return dst
}

// readDue reads what appendDue wrote, and sets or starts the clock; i is -1 for an instance that
// the shard does not hold. A time of a transition that has another binding now is not used.
func (s *Shard) readDue(r *reader, i int) {
	var in *instance
	if i >= 0 {
		in = &s.instances[i]
	}
	t := r.Index(len(s.rules))
	f := s.readFrame(r, in)
	n := note{kind: noteClock, instance: int32(i), frame: f.id(), transition: uint16(t), since: int64(r.Next(maxTime)), due: int64(r.Next(maxTime)), token: r.Next(math.MaxUint64)}
	if r.Err != nil || in == nil || s.rules[t].Until == nil || s.Elsewhere(t) || f.scopeID() != s.Tables.ActsIn(t) || !s.holds(in, f, t) {
		return
	}
	if id := s.clock(in, f, t); id == none {
		s.addNote(in, f, n)
	} else {
		k := &s.notes.all[id]
		k.since, k.due, k.token = n.since, n.due, n.token
	}
}

// until calls a user's function, which may panic.
func until(of func([]Placed, int64) (int64, error), tokens []Placed, since int64) (due int64, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	if due, err = of(tokens, since); err == nil && due > maxTime {
		err = fmt.Errorf("a time after %d µs; expected an earlier one", int64(maxTime))
	}
	return max(due, 1), err
}
