// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/pnagent/pnagent/engine/internal/shard"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri"
)

// startClocks starts clocks for the transitions of a settled instance that are
// enabled and have none, and schedules those that start again.
func (x *change) startClocks() {
	x.startIn(&x.in.frame)
	if x.s.frames != nil {
		x.startInside()
	}
	x.startAll(&x.in.frame, x.s.Unwaiting)
}

func (x *change) startIn(f *frame) {
	for k := range f.piles {
		x.startAll(f, x.s.Waiting[f.piles[k].place])
	}
}

// startInside starts the clocks of runs of scopes in which something has changed. If the instance
// has as many runs of actions as it may, it looks at them again later.
func (x *change) startInside() {
	all := &x.s.frames[x.i]
	changed := all.unsettled
	all.unsettled = nil
	slices.SortFunc(changed, func(f, g *frame) int { return cmp.Compare(f.number, g.number) })
	for _, f := range changed {
		f.unsettled = false
		x.startIn(f)
		if x.in.running >= x.s.running && !f.closed {
			x.s.unsettle(x.in, f)
		}
	}
}

func (x *change) startAll(f *frame, transitions []int32) {
	for _, t32 := range transitions {
		t := int(t32)
		r := &x.s.rules[t]
		id := x.s.notes.clock(f, t)
		if id != none {
			n := &x.s.notes.all[id]
			if !n.stale && (x.s.notes.due.Planned(id) || r.Mode.Kind != plain.Delayed) {
				continue
			}
			n.stale = false
		}
		x.picked = x.picked[:0]
		c, ok := x.ready(f, t)
		if !ok {
			if id != none {
				x.s.notes.dropNote(x.in, id)
			}
			continue
		}
		if id == none {
			id = x.s.notes.addNote(x.in, f, note{kind: noteClock, transition: uint16(t), since: x.since(c)})
		}
		if (r.Until != nil || r.Event != nil && !r.throws) && !x.determine(f, t, id, x.s.seen(x.in, x.tokensOf(c))) {
			continue
		}
		if r.Mode.Kind == plain.Delayed && !x.s.notes.due.Planned(id) {
			x.s.plan(id)
		}
	}
}

// determine calls what the binding of a transition has for the tokens with which it waits: Event if
// it catches one, and Until. It does so once for the same tokens: a change of their data does not
// count. If that fails, the transition is an incident.
func (x *change) determine(f *frame, t int, clock int32, tokens []Placed) bool {
	r, n := &x.s.rules[t], &x.s.notes.all[clock]
	of := identities(tokens)
	if n.token == of && (r.Until == nil || n.due > 0) {
		return true
	}
	what, err := "event cannot be caught", error(nil)
	if r.Event != nil && !r.throws {
		err = r.Event(tokens, x.now)
	}
	due := int64(0)
	if r.Until != nil && err == nil {
		what = "timer has no time"
		due, err = until(r.Until, tokens, n.since)
	}
	if err != nil {
		x.s.notes.dropNote(x.in, clock)
		x.unevaluated(f, t, tokens, what, err, false)
		return false
	}
	n.token = of
	if r.Until != nil {
		x.s.notes.due.Drop(clock)
		n.due = due
		x.s.log.clock(n)
	}
	return true
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
	due, err = of(tokens, since)
	if err == nil && due > maxTime {
		err = fmt.Errorf("a time after %d µs; expected an earlier one", int64(maxTime))
	}
	return max(due, 1), err
}

// since returns when a transition that may fire became enabled: when the last
// token that it needs was put. If that does not depend on tokens alone, because
// of an inhibitor or a join, or if it needs no token, since returns now.
func (x *change) since(c candidate) int64 {
	r := &x.s.rules[c.t]
	since := int64(0)
	if c.picked() {
		for _, p := range x.tokensOf(c) {
			since = max(since, p.Token.Injected)
		}
	} else {
		since = x.s.latest(x.s.frame(x.in, c.frame), r)
	}
	if since == 0 || r.join != nil || slices.ContainsFunc(r.conds, func(c petri.Cond) bool { return c.Hi > 0 }) {
		return x.now
	}
	return since
}

// latest returns when the last token was put that a transition needs; 0 if it needs none.
func (s *Shard) latest(f *frame, r *rule) int64 {
	var at int64
	for _, c := range r.conds {
		if c.Lo > 0 {
			at = max(at, s.pile(f, c.Place).nth(c.Lo))
		}
	}
	return at
}

// begin returns the random stream of one decision of an instance. Its seed
// depends only on the instance and on a and b, so no generator has to be kept.
func (s *Shard) begin(i int, a, b uint64) shard.Stream {
	return shard.NewStream(s.seed, uint64(s.Number(i)), a, b)
}

// plan plans the clock of a delayed transition. It draws the delay.
func (s *Shard) plan(clock int32) {
	n := &s.notes.all[clock]
	r, due := &s.rules[n.transition], n.due
	switch {
	case r.Until != nil:
		s.notes.setRipe(clock, false)
	case r.Due != nil:
		due = r.Due(n.since)
	default:
		s.random = s.begin(int(n.instance), uint64(n.transition)+1+uint64(n.frame)<<16, uint64(n.since))
		due = n.since + r.Mode.Delay.Draw(s.delays)
	}
	s.notes.plan(clock, due)
}
