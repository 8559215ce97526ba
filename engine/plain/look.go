// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// Columns are the columns that Look fills in: all except those of actions,
// which plain transitions do not have, and those of queues, for which see
// Queue.
const Columns = stats.AllColumns &^ (stats.ColRunning | stats.ColDuration | stats.ColTimeouts | stats.ColQueues | stats.ColWaiting | stats.ColNextDue)

// Look adds the shard's rows as of now. It reads all instances once to count
// the tokens that are present, so that firing need not count them. name returns
// the name of the instance with a number. One part of several cannot decide
// whether an instance has finished or is deadlocked, so it leaves
// stats.ColInstances out.
func (s *Shard) Look(now int64, name func(number int) string, rows *stats.Rows) {
	s.AddCounts(rows, Columns)
	l := newLook(s, now)
	for i := range s.cells {
		l.cell(i)
	}
	l.clocks()
	l.blocks()
	l.AddTo(rows, func(p int, i int32) (string, []stats.Wait) { return name(s.Number(int(i))), s.waits(int(i), p) })
}

// look is one pass over all instances. It counts what blocks transitions by
// condition, not as blocks, which would need a search for every instance.
type look struct {
	*stats.Present[int32]
	s       *Shard
	waits   []stats.Wait // reused memory
	marking []uint32     // by place: see mark
	aged    []int32      // non-final places where the current instance has an old token
	tests   [][]tested   // by transition
}

// tested is a condition, and how many instances it blocks.
type tested struct {
	petri.Cond
	short, over uint64 // by Lo, by Hi
}

func newLook(s *Shard, now int64) *look {
	l := &look{Present: stats.NewPresent[int32](now, s.Tables.Places(), len(s.rules)), s: s,
		marking: make([]uint32, s.Tables.Places()), tests: make([][]tested, len(s.rules))}
	n := 0
	for t := range s.rules {
		n += len(s.rules[t].conds)
	}
	all := make([]tested, 0, n)
	for t := range s.rules {
		from := len(all)
		for _, c := range s.rules[t].conds {
			all = append(all, tested{Cond: c})
		}
		l.tests[t] = all[from:]
	}
	return l
}

// cell counts the tokens of one instance.
func (l *look) cell(i int) {
	c := &l.s.cells[i]
	l.aged = l.aged[:0]
	if c.n == isWide {
		for p, q := range l.s.wideOf(c).queues {
			for _, r := range q.left() {
				l.tokens(i, p, r.time, r.n)
			}
		}
	} else {
		for k, p := range c.places[:c.n&7] {
			l.tokens(i, int(p), c.times[k], 1)
		}
	}
	if len(l.aged) > 0 {
		l.blocked(i, c)
	}
	if c.flags&queued != 0 {
		l.queued(i, c)
	}
}

func (l *look) tokens(i, p int, injected int64, n uint32) {
	first := l.Tokens(p, int32(i), injected, n, int32(i))
	if !l.Old(injected) {
		return
	}
	l.waits = l.s.appendWaits(l.waits[:0], i, p)
	l.Group(p, stats.Foremost(l.waits), injected, n, int32(i))
	if first {
		l.aged = append(l.aged, int32(p))
	}
}

// blocked counts the conditions that block the transitions which need a place
// where an instance has an old token. It counts each transition once per
// instance.
func (l *look) blocked(i int, c *cell) {
	marking := l.mark(c)
	for _, p := range l.aged {
		if l.s.Tables.Final(int(p)) {
			continue
		}
		for _, w := range l.s.Tables.Watchers(int(p)) {
			if w.Lo > 0 && l.Once(w.Transition, 2*int64(i)) {
				l.judge(w.Transition, marking)
			}
		}
	}
	if c.n != isWide {
		for _, p := range c.places[:c.n&7] {
			l.marking[p] = 0
		}
	}
}

// judge counts the conditions of a transition that the marking does not meet.
func (l *look) judge(t int32, marking []uint32) {
	tests := l.tests[t]
	for k := range tests {
		c := &tests[k]
		switch m := marking[c.Place]; {
		case m < c.Lo:
			c.short++
		case c.Hi > 0 && m >= c.Hi:
			c.over++
		}
	}
}

// mark returns the marking of an instance. For a cell in narrow form it uses
// l.marking, which is zero except for its few tokens; blocked clears them.
func (l *look) mark(c *cell) []uint32 {
	if c.n == isWide {
		return l.s.wideOf(c).state.Marking()
	}
	for _, p := range c.places[:c.n&7] {
		l.marking[p]++
	}
	return l.marking
}

// queued counts the immediate transitions that are enabled in an instance that
// waits for its turn.
func (l *look) queued(i int, c *cell) {
	count := func(t int32) {
		if l.Once(t, 2*int64(i)+1) && l.s.enabled(c, int(t)) {
			l.Enabled(int(t), l.since(c, int(t)))
		}
	}
	if c.n == isWide {
		for p := range l.s.Triggered {
			for _, t := range l.s.Triggered[p] {
				count(t)
			}
		}
	} else {
		for _, p := range c.places[:c.n&7] {
			for _, t := range l.s.Triggered[p] {
				count(t)
			}
		}
	}
	for _, t := range l.s.Untriggered {
		count(t)
	}
}

// since returns when an immediate transition became enabled: when the last
// token that it needs was put. If it needs none, since returns now.
func (l *look) since(c *cell, t int) int64 {
	var since int64
	for _, cond := range l.s.rules[t].conds {
		since = max(since, l.nth(c, cond))
	}
	if since == 0 {
		return l.Now()
	}
	return since
}

// nth returns the injection time of the Lo-th oldest token of a condition's
// place.
func (l *look) nth(c *cell, cond petri.Cond) int64 {
	left := cond.Lo
	if left == 0 {
		return 0
	}
	if c.n == isWide {
		for _, r := range l.s.wideOf(c).queues[cond.Place].left() {
			if r.n >= left {
				return r.time
			}
			left -= r.n
		}
		return 0
	}
	for k, p := range c.places[:c.n&7] {
		if int32(p) != cond.Place {
			continue
		}
		if left--; left == 0 {
			return c.times[k]
		}
	}
	return 0
}

// waits returns what each transition that needs a place waits for in an
// instance. In a deadlocked instance the deadlock comes first, then the
// conditions that the transition lacks.
func (s *Shard) waits(i, p int) []stats.Wait { return s.appendWaits(nil, i, p) }

// appendWaits appends them to an empty list.
func (s *Shard) appendWaits(out []stats.Wait, i, p int) []stats.Wait {
	cell := &s.cells[i]
	for _, w := range s.Tables.Watchers(p) {
		if w.Lo == 0 || len(out) >= stats.MaxWaits {
			continue
		}
		if cell.flags&deadlocked != 0 {
			out = append(out, stats.Wait{Transition: w.Transition, Reason: stats.ReasonDead, Place: stats.NoPlace})
		}
		before := len(out)
		for _, c := range s.rules[w.Transition].conds {
			m := s.tokens(cell, int(c.Place))
			if wait, unmet := stats.Unmet(w.Transition, c.Place, c.Lo, c.Hi, m, m); unmet {
				out = append(out, wait)
			}
		}
		if len(out) == before {
			out = append(out, s.waitOf(i, int(w.Transition)))
		}
	}
	return out[:min(len(out), stats.MaxWaits)]
}

// waitOf returns why an enabled transition has not fired yet.
func (s *Shard) waitOf(i, t int) stats.Wait {
	w := stats.Wait{Transition: int32(t), Place: stats.NoPlace, Reason: stats.ReasonEnabled}
	switch s.modes[t].Kind {
	case Manual:
		w.Reason = stats.ReasonManual
	case Delayed:
		w.Reason = stats.ReasonDelayed
		if id := s.clocks.of(i, t); id != none {
			w.Until = s.clocks.all[id].due
		}
	}
	return w
}

// clocks counts the transitions that wait for their clock or for a call of
// Fire.
func (l *look) clocks() {
	for _, first := range l.s.clocks.first {
		for id := first; id != none; id = l.s.clocks.all[id].next {
			k := &l.s.clocks.all[id]
			l.Enabled(int(k.transition), k.since)
		}
	}
}

func (l *look) blocks() {
	for t, tests := range l.tests {
		for _, c := range tests {
			w := stats.Wait{Transition: int32(t), Place: c.Place}
			if c.short > 0 {
				w.Reason = stats.ReasonMissing
				l.Block(w, c.short)
			}
			if c.over > 0 {
				w.Reason = stats.ReasonInhibited
				l.Block(w, c.over)
			}
		}
	}
}
