// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"cmp"
	"slices"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri"
)

// startClocks starts clocks for the transitions of a settled instance that are
// enabled and have none, and schedules those that start again.
func (s *Shard) startClocks(i int, in *instance, now int64) {
	for k := range in.piles {
		s.startAll(i, in, nil, s.Waiting[in.piles[k].place], now)
	}
	if s.frames != nil {
		s.startInside(i, in, now)
	}
	s.startAll(i, in, nil, s.Unwaiting, now)
}

// startInside starts the clocks of runs of scopes in which something has changed. If the instance
// has as many runs of actions as it may, it looks at them again later.
func (s *Shard) startInside(i int, in *instance, now int64) {
	all := &s.frames[i]
	changed := all.unsettled
	all.unsettled = nil
	slices.SortFunc(changed, func(f, g *frame) int { return cmp.Compare(f.number, g.number) })
	for _, f := range changed {
		f.unsettled = false
	}
	for _, f := range changed {
		for k := range f.piles {
			s.startAll(i, in, f, s.Waiting[f.piles[k].place], now)
		}
		if in.running >= s.running && !f.closed {
			s.unsettle(in, f)
		}
	}
}

func (s *Shard) startAll(i int, in *instance, f *frame, transitions []int32, now int64) {
	for _, t32 := range transitions {
		t := int(t32)
		r := &s.rules[t]
		id := s.clock(in, f, t)
		if id != none {
			n := &s.notes.all[id]
			if !n.stale && (s.notes.due.Planned(id) || r.Mode.Kind != plain.Delayed) {
				continue
			}
			n.stale = false
		}
		s.picked = s.picked[:0]
		c, ok := s.ready(i, in, f, t, now)
		if !ok {
			if id != none {
				s.dropNote(in, id)
			}
			continue
		}
		if id == none {
			id = s.addNote(in, f, note{kind: noteClock, instance: int32(i), transition: uint16(t), since: s.since(in, c, now)})
		}
		if r.Event != nil && !r.throws && !s.addressed(i, in, f, t, id, s.seen(in, s.tokensOf(c)), now) {
			continue
		}
		if r.Until != nil {
			s.planUntil(i, in, f, t, id, s.seen(in, s.tokensOf(c)))
		} else if n := &s.notes.all[id]; r.Mode.Kind == plain.Delayed && !s.notes.due.Planned(id) {
			s.notes.plan(id, s.dueOf(i, f, t, n.since))
		}
	}
}

// since returns when a transition that may fire became enabled: when the last
// token that it needs was put. If that does not depend on tokens alone, because
// of an inhibitor or a join, or if it needs no token, since returns now.
func (s *Shard) since(in *instance, c candidate, now int64) int64 {
	r := &s.rules[c.t]
	since := int64(0)
	if c.picked() {
		for _, p := range s.tokensOf(c) {
			since = max(since, p.Token.Injected)
		}
	} else {
		since = s.latest(in, s.frame(in, c.frame), r)
	}
	if since == 0 || r.join != nil || slices.ContainsFunc(r.conds, func(c petri.Cond) bool { return c.Hi > 0 }) {
		return now
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
