// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
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
			x.unevaluated(f, t, tokens, "timer has no time", err, false)
			return
		}
		x.s.notes.due.Drop(clock)
		n.due, n.token = due, of
		x.s.log.clock(n)
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

// until calls a user's function, which may panic.
func until(of func([]Placed, int64) (int64, error), tokens []Placed, since int64) (due int64, err error) {
	defer caught(&err)
	if due, err = of(tokens, since); err == nil && due > maxTime {
		err = fmt.Errorf("a time after %d µs; expected an earlier one", int64(maxTime))
	}
	return max(due, 1), err
}
