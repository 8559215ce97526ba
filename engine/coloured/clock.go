// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"cmp"
	"slices"

	"github.com/pnagent/pnagent/engine/internal/shard"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri"
)

// startClocks starts clocks for the transitions of a settled instance that are
// enabled and have none, and schedules those that start again.
func (x *change) startClocks() {
	for k := range x.in.piles {
		x.startAll(nil, x.s.Waiting[x.in.piles[k].place])
	}
	if x.s.frames != nil {
		x.startInside()
	}
	x.startAll(nil, x.s.Unwaiting)
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
	}
	for _, f := range changed {
		for k := range f.piles {
			x.startAll(f, x.s.Waiting[f.piles[k].place])
		}
		if x.in.running >= x.s.running && !f.closed {
			x.s.unsettle(x.in, f)
		}
	}
}

func (x *change) startAll(f *frame, transitions []int32) {
	for _, t32 := range transitions {
		t := int(t32)
		r := &x.s.rules[t]
		id := x.s.notes.clock(x.in, f, t)
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
		if r.Event != nil && !r.throws && !x.addressed(f, t, id, x.s.seen(x.in, x.tokensOf(c))) {
			continue
		}
		if r.Until != nil {
			x.planUntil(f, t, id, x.s.seen(x.in, x.tokensOf(c)))
		} else if n := &x.s.notes.all[id]; r.Mode.Kind == plain.Delayed && !x.s.notes.due.Planned(id) {
			x.s.notes.plan(id, x.s.dueOf(x.i, f, t, n.since))
		}
	}
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
		since = x.s.latest(x.in, x.s.frame(x.in, c.frame), r)
	}
	if since == 0 || r.join != nil || slices.ContainsFunc(r.conds, func(c petri.Cond) bool { return c.Hi > 0 }) {
		return x.now
	}
	return since
}

// latest returns when the last token was put that a transition needs; 0 if it
// needs none.
func (s *Shard) latest(in *instance, f *frame, r *rule) int64 {
	var at int64
	for _, c := range r.conds {
		if c.Lo > 0 {
			at = max(at, s.pile(in, f, c.Place).nth(c.Lo))
		}
	}
	return at
}

// begin returns the random stream of one decision of an instance. Its seed
// depends only on the instance and on a and b, so no generator has to be kept.
func (s *Shard) begin(i int, a, b uint64) shard.Stream {
	return shard.NewStream(s.seed, uint64(s.Number(i)), a, b)
}

// dueOf returns when a transition is due in a frame, where its clock started at
// since. It draws the delay.
func (s *Shard) dueOf(i int, f *frame, t int, since int64) int64 {
	r := &s.rules[t]
	if r.Due != nil {
		return r.Due(since)
	}
	s.random = s.begin(i, uint64(t)+1+uint64(f.id())<<16, uint64(since))
	return since + r.Mode.Delay.Draw(s.delays)
}
