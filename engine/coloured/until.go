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
func (x *change) planUntil(f *frame, t int, clock int32, tokens []Placed) {
	n := &x.s.notes.all[clock]
	if of := identities(tokens); n.due == 0 || n.token != of {
		due, err := until(x.s.rules[t].Until, tokens, n.since)
		if err != nil {
			x.s.notes.dropNote(x.in, clock)
			x.unevaluated(f, t, tokens, "timer has no time", err)
			return
		}
		x.s.notes.due.Drop(clock)
		n.due, n.token = due, of
		if x.s.log.on {
			x.s.log.begin(x.i, opDue)
			x.s.log.due(n)
		}
	}
	if !x.s.notes.due.Planned(clock) {
		x.s.notes.setRipe(clock, false)
		x.s.notes.plan(clock, n.due)
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

// due writes the transition of a clock and, if the net has scopes, the run in which it acts; when
// the clock started; the due time and the identities of the tokens.
func (w *writer) due(n *note) {
	w.put(uint64(n.transition))
	w.frame(n.frame)
	w.put(uint64(n.since), uint64(n.due), n.token)
}

// dues writes the due times of an instance, the latest last, each as an entry. Earlier
// versions wrote none.
func (w *state) dues(in *instance) {
	notes := w.s.notes.all
	last := none
	for id := in.notes; id != none; id = notes[id].next {
		last = id
	}
	for id := last; id != none; id = notes[id].prev {
		if n := &notes[id]; n.kind == noteClock && n.due > 0 && w.s.rules[n.transition].Until != nil {
			w.entry(in, stateDue)
			w.due(n)
		}
	}
}

// due reads what writer.due wrote, and sets or starts the clock. A time of a transition that has
// another binding now is not used.
func (r *reader) due() {
	s, in := r.s, r.in
	t := r.Index(len(s.rules))
	f := r.frame()
	n := note{kind: noteClock, frame: f.id(), transition: uint16(t), since: int64(r.Next(maxTime)), due: int64(r.Next(maxTime)), token: r.Next(math.MaxUint64)}
	if r.Err != nil || in == nil || s.rules[t].Until == nil || s.Elsewhere(t) || f.scopeID() != s.Tables.ActsIn(t) || !s.holds(in, f, t) {
		return
	}
	if id := s.notes.clock(in, f, t); id == none {
		n.instance = in.index
		s.notes.addNote(in, f, n)
	} else {
		k := &s.notes.all[id]
		k.since, k.due, k.token = n.since, n.due, n.token
	}
}

// until calls a user's function, which may panic.
func until(of func([]Placed, int64) (int64, error), tokens []Placed, since int64) (due int64, err error) {
	defer caught(&err)
	if due, err = of(tokens, since); err == nil && due > maxTime {
		err = fmt.Errorf("a time after %d µs; expected an earlier one", int64(maxTime))
	}
	return max(due, 1), err
}
