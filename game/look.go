// SPDX-License-Identifier: Apache-2.0

package game

import (
	"slices"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// BlockedAfter is how old a token is, in microseconds, before the arcs that
// hold its transitions back are counted in Rows.Blocks.
const BlockedAfter = 10_000_000

// Columns is what Look fills in: all but what belongs to actions, which these
// transitions do not have, and to queues: see Queue.
const Columns = stats.AllColumns &^ (stats.ColRunning | stats.ColDuration | stats.ColTimeouts | stats.ColQueues | stats.ColWaiting)

// Look adds the shard's rows as of now. In one part of several nobody sees
// whether an instance has finished or is deadlocked: it leaves stats.ColInstances
// out. The tokens that are present are
// counted here, by going through all instances once, so that firing does not
// have to; name gives the name of the instance with a number.
func (s *Shard) Look(now int64, name func(number int) string, rows *stats.Rows) {
	s.addCounts(rows)
	if s.part == nil {
		rows.Net.Active += s.rec.Net.Created - s.rec.Net.Finished - s.rec.Net.Failed
		rows.Net.Deadlocked += s.deadlocked
		rows.Columns |= stats.ColInstances
	}
	rows.Columns |= Columns &^ stats.ColInstances
	l := newLook(s, now)
	for i := range s.cells {
		l.cell(i)
	}
	for p := range l.places {
		row := l.place(p, name)
		rows.Places[p].Merge(&row)
	}
	l.enabled(rows)
	rows.Blocks = stats.MergeBlocks(rows.Blocks, l.blocks())
}

// TakeSlowest adds to the rows whose token stayed longest in each place,
// of what was over since the last call. It is for the one who publishes the
// rows: whoever calls it takes it from others. name gives the name of the
// instance with a number.
func (s *Shard) TakeSlowest(name func(number int) string, rows *stats.Rows) {
	s.rec.TakeSlowest(func(i int) string { return name(s.Number(i)) }, rows)
}

// look is one pass over all instances.
type look struct {
	s        *Shard
	now      int64
	old      int64 // tokens injected up to then are BlockedAfter old
	rungs    *stats.Rungs
	places   []placeLook
	seen     []int32  // by transition: 1 + the last instance that was counted for it
	marking  []uint32 // by place: see mark
	aged     []int32  // the places, final ones left out, where the instance that is counted has an old token
	short    []uint64 // by condition of all transitions: instances that it holds back by Lo
	over     []uint64 // the same by Hi
	condBase []int32  // by transition: its first condition in short and over
	ready    []readyLook
}

type placeLook struct {
	tokens, instances uint64
	last              int32 // 1 + the last instance with a token here
	injected          stats.TimeSum
	ladder            []uint64 // by rung; nil before the first token
	oldest            []old    // oldest first, at most stats.MaxStuck
}

// old is one of the oldest tokens of a place.
type old struct {
	injected int64
	cell     int32
}

// readyLook counts the instances in which an immediate transition waits.
type readyLook struct {
	n     uint64
	since int64
}

func newLook(s *Shard, now int64) *look {
	l := &look{s: s, now: now, old: now - BlockedAfter, rungs: stats.NewRungs(now), places: make([]placeLook, s.tables.Places()),
		marking: make([]uint32, s.tables.Places()), seen: make([]int32, len(s.rules)), condBase: make([]int32, len(s.rules)), ready: make([]readyLook, len(s.rules))}
	n := int32(0)
	for t := range s.rules {
		l.condBase[t] = n
		n += int32(len(s.rules[t].conds))
	}
	l.short, l.over = make([]uint64, n), make([]uint64, n)
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
	row := &l.places[p]
	row.tokens += uint64(n)
	if row.last != int32(i)+1 {
		row.last = int32(i) + 1
		row.instances++
		if injected <= l.old && !l.s.tables.Final(p) {
			l.aged = append(l.aged, int32(p))
		}
	}
	row.injected.Merge(stats.TimeSum{Sec: uint64(injected) / 1e6 * uint64(n)})
	row.injected.Merge(stats.TimeSum{Micro: uint64(injected) % 1e6 * uint64(n)})
	if row.ladder == nil {
		row.ladder = make([]uint64, l.rungs.Len())
	}
	row.ladder[l.rungs.Index(injected)] += uint64(n)
	if k := len(row.oldest); k < stats.MaxStuck || injected < row.oldest[k-1].injected {
		row.remember(old{injected, int32(i)}, n)
	}
}

// remember keeps the oldest tokens in order of their age.
func (row *placeLook) remember(o old, n uint32) {
	at, _ := slices.BinarySearchFunc(row.oldest, o, func(a, b old) int {
		if a.injected <= b.injected {
			return -1
		}
		return 1
	})
	for range min(int(n), stats.MaxStuck-at) {
		row.oldest = slices.Insert(row.oldest, at, o)
	}
	row.oldest = row.oldest[:min(len(row.oldest), stats.MaxStuck)]
}

// blocked counts the conditions that hold back the transitions which need a
// place where an instance has an old token; each transition once an instance.
func (l *look) blocked(i int, c *cell) {
	marking := l.mark(c)
	for _, p := range l.aged {
		for _, w := range l.s.tables.Watchers(int(p)) {
			if w.Lo > 0 && l.seen[w.Transition] != int32(i)+1 {
				l.seen[w.Transition] = int32(i) + 1
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
	base := int(l.condBase[t])
	for k, cond := range l.s.rules[t].conds {
		switch m := marking[cond.Place]; {
		case m < cond.Lo:
			l.short[base+k]++
		case cond.Hi > 0 && m >= cond.Hi:
			l.over[base+k]++
		}
	}
}

// mark returns the marking of an instance. That of a cell in narrow form is in
// l.marking, which is zero but for its few tokens; blocked clears them.
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
		if l.seen[t] == -int32(i)-1 || !l.s.enabled(c, int(t)) {
			return
		}
		l.seen[t] = -int32(i) - 1
		r := &l.ready[t]
		r.n++
		r.since = stats.Earlier(r.since, l.since(c, int(t)))
	}
	if c.n == isWide {
		for p := range l.s.triggered {
			for _, t := range l.s.triggered[p] {
				count(t)
			}
		}
	} else {
		for _, p := range c.places[:c.n&7] {
			for _, t := range l.s.triggered[p] {
				count(t)
			}
		}
	}
	for _, t := range l.s.untriggered {
		count(t)
	}
}

// since is when an immediate transition became enabled, as far as its tokens
// tell: when the last one that it needs was put. Without one it is now.
func (l *look) since(c *cell, t int) int64 {
	var since int64
	for _, cond := range l.s.rules[t].conds {
		since = max(since, l.nth(c, cond))
	}
	if since == 0 {
		return l.now
	}
	return since
}

// nth is the injection time of the Lo-th oldest token of a condition's place.
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

// place returns the row of what is present in a place.
func (l *look) place(p int, name func(int) string) stats.Place {
	row := &l.places[p]
	if row.tokens == 0 {
		return stats.Place{}
	}
	out := stats.Place{
		Tokens: row.tokens, Arrivals: row.tokens, Instances: row.instances,
		Oldest: row.oldest[0].injected, Injected: row.injected,
		Ages: l.rungs.Ladder(row.ladder),
	}
	for _, o := range row.oldest {
		out.Stuck = append(out.Stuck, stats.Token{Instance: name(l.s.Number(int(o.cell))), Injected: o.injected, Waits: l.waits(int(o.cell), p)})
	}
	slices.SortFunc(out.Stuck, func(a, b stats.Token) int { return a.Compare(&b) })
	return out
}

// maxWaits bounds what one token is said to wait for.
const maxWaits = 16

// waits says what each transition that needs a place waits for in an instance.
// In an instance that is deadlocked it is first said to be dead, which is the
// whole, and then what it lacks.
func (l *look) waits(i, p int) []stats.Wait {
	c := &l.s.cells[i]
	var out []stats.Wait
	for _, w := range l.s.tables.Watchers(p) {
		if w.Lo == 0 || len(out) >= maxWaits {
			continue
		}
		if c.flags&deadlocked != 0 {
			out = append(out, stats.Wait{Transition: w.Transition, Reason: stats.ReasonDead, Place: stats.NoPlace})
		}
		met := true
		for _, cond := range l.s.rules[w.Transition].conds {
			m := l.s.tokens(c, int(cond.Place))
			if cond.Holds(m) {
				continue
			}
			met = false
			out = append(out, unmet(w.Transition, cond, m))
		}
		if met {
			out = append(out, l.waitOf(i, int(w.Transition)))
		}
	}
	return out[:min(len(out), maxWaits)]
}

func unmet(t int32, c petri.Cond, m uint32) stats.Wait {
	if m < c.Lo {
		return stats.Wait{Transition: t, Reason: stats.ReasonMissing, Place: c.Place, Count: c.Lo - m}
	}
	return stats.Wait{Transition: t, Reason: stats.ReasonInhibited, Place: c.Place, Count: m - c.Hi + 1}
}

// waitOf says why an enabled transition has not fired yet.
func (l *look) waitOf(i, t int) stats.Wait {
	w := stats.Wait{Transition: int32(t), Place: stats.NoPlace, Reason: stats.ReasonEnabled}
	switch l.s.modes[t].Kind {
	case Manual:
		w.Reason = stats.ReasonManual
	case Delayed:
		w.Reason = stats.ReasonDelayed
		if id := l.s.clocks.of(i, t); id != none {
			w.Until = l.s.clocks.all[id].due
		}
	}
	return w
}

// enabled adds, for each transition, the instances in which it is enabled: it
// waits for its clock, for the outside, or for its instance's turn.
func (l *look) enabled(rows *stats.Rows) {
	for i := range l.s.clocks.first {
		for id := l.s.clocks.first[i]; id != none; id = l.s.clocks.all[id].next {
			k := &l.s.clocks.all[id]
			r := &l.ready[k.transition]
			r.n++
			r.since = stats.Earlier(r.since, k.since)
		}
	}
	for t, r := range l.ready {
		rows.Transitions[t].Merge(&stats.Transition{Enabled: r.n, EnabledSince: r.since})
	}
}

func (l *look) blocks() []stats.Block {
	var out []stats.Block
	for t := range l.s.rules {
		for k, cond := range l.s.rules[t].conds {
			at := int(l.condBase[t]) + k
			if n := l.short[at]; n > 0 {
				out = append(out, stats.Block{Transition: int32(t), Place: cond.Place, Reason: stats.ReasonMissing, Instances: n})
			}
			if n := l.over[at]; n > 0 {
				out = append(out, stats.Block{Transition: int32(t), Place: cond.Place, Reason: stats.ReasonInhibited, Instances: n})
			}
		}
	}
	return out
}
