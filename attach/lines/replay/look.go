// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"slices"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// Columns is what Look fills in: all that events and the net tell.
const Columns = stats.AllColumns &^ (stats.ColFailures | stats.ColRunning | stats.ColDuration | stats.ColTimeouts | stats.ColQueues | stats.ColWaiting)

// BlockedAfter is how old a token is, in microseconds, before the arcs that
// hold its transitions back are counted in Rows.Blocks. It is that of package
// game.
const BlockedAfter = 10_000_000

// counted adds what was counted to rows of the net.
func (r *Replay) counted(rows *stats.Rows) {
	rows.Merge(r.sent)
	r.Unsent(rows)
}

// Unsent adds what was counted since the last call of Sent.
func (r *Replay) Unsent(rows *stats.Rows) {
	rows.Merge(r.before)
	r.rec.AddTo(rows)
	for p, n := range r.gone {
		rows.Places[p].Arrivals += n
	}
}

// Sent says that what was counted so far is told, and that a process which
// follows this one need not tell it again.
func (r *Replay) Sent() {
	r.Unsent(r.sent)
	r.Resume(stats.NewRows(r.tables.Places(), r.tables.Transitions()))
}

// Resume makes what is unsent that of the process before this one, as its Unsent gave it.
func (r *Replay) Resume(unsent *stats.Rows) {
	r.rec = stats.NewRecorder(r.tables.Places(), r.tables.Transitions())
	r.before = unsent
	clear(r.gone)
}

// TakeSlowest adds to the rows whose token stayed longest in each place, since
// the last call.
func (r *Replay) TakeSlowest(rows *stats.Rows) {
	for p := range r.slowest {
		rows.Places[p].Slowest.Merge(r.slowest[p])
	}
	clear(r.slowest)
}

// Look adds the rows as of now: what was counted, and what the open instances hold.
// A token that was injected after now, by the clock of whoever wrote the event, is as young as can be.
func (r *Replay) Look(now int64, rows *stats.Rows) {
	r.counted(rows)
	rows.Columns |= Columns
	l := &look{r: r, now: now, rungs: stats.NewRungs(now), rows: rows, ladders: make([][]uint64, r.tables.Places()),
		seen: make([]int32, r.tables.Transitions()), blocks: map[stats.Block]uint64{}}
	for i := r.oldest; i != none; i = r.all[i].newer {
		l.instance(i)
	}
	for p, counts := range l.ladders {
		if counts != nil {
			ladder := l.rungs.Ladder(counts)
			rows.Places[p].Ages.Merge(&ladder)
		}
	}
	rows.Net.Active += uint64(len(r.byName))
	rows.Blocks = stats.MergeBlocks(rows.Blocks, l.blocked())
}

// look is one pass over the open instances.
type look struct {
	r       *Replay
	now     int64
	rungs   *stats.Rungs
	rows    *stats.Rows
	ladders [][]uint64 // by place and rung
	seen    []int32    // by transition: 1 + the last instance in which it was judged
	blocks  map[stats.Block]uint64
}

func (l *look) instance(i int32) {
	in := &l.r.all[i]
	l.r.mark(in)
	dead := !l.judge(i, in) && !l.r.atEnd(in)
	for k := range in.runs {
		q := &in.runs[k]
		l.tokens(in, q, !slices.ContainsFunc(in.runs[:k], func(o run) bool { return o.place == q.place }), dead)
	}
	if dead {
		l.rows.Net.Deadlocked++
	}
	l.r.unmark(i)
}

// tokens counts one run. first says that it is the first of its place.
func (l *look) tokens(in *instance, q *run, first, dead bool) {
	row := &l.rows.Places[q.place]
	n := uint64(q.n)
	row.Tokens += n
	row.Arrivals += n
	if first {
		row.Instances++
	}
	row.Oldest = stats.Earlier(row.Oldest, q.injected)
	row.Injected.Merge(stats.TimeSum{Sec: uint64(q.injected) / 1e6 * n})
	row.Injected.Merge(stats.TimeSum{Micro: uint64(q.injected) % 1e6 * n})
	if l.ladders[q.place] == nil {
		l.ladders[q.place] = make([]uint64, l.rungs.Len())
	}
	l.ladders[q.place][l.rungs.Index(q.injected)] += n
	k := len(row.Stuck)
	if k == stats.MaxStuck && q.injected >= row.Stuck[k-1].Injected {
		return
	}
	one := stats.Token{Instance: in.name, Injected: q.injected, Waits: l.r.waits(q.place, dead)}
	at, _ := slices.BinarySearchFunc(row.Stuck, one, func(a, b stats.Token) int { return a.Compare(&b) })
	for range min(int(min(q.n, stats.MaxStuck)), stats.MaxStuck-at) {
		row.Stuck = slices.Insert(row.Stuck, at, one)
	}
	row.Stuck = row.Stuck[:min(len(row.Stuck), stats.MaxStuck)]
}

// judge counts the transitions that are enabled in an instance and, where old
// tokens wait, the conditions that are not met. It reports whether anything can
// still fire.
func (l *look) judge(i int32, in *instance) (live bool) {
	old := l.now - BlockedAfter
	for k := range in.runs {
		q := &in.runs[k]
		for _, tr := range l.r.users[q.place] {
			if l.seen[tr] == i+1 {
				continue
			}
			if l.r.enabled(l.r.marking, int(tr)) {
				l.seen[tr] = i + 1
				live = true
				t := &l.rows.Transitions[tr]
				t.Enabled++
				t.EnabledSince = stats.Earlier(t.EnabledSince, l.r.since(in, int(tr)))
			} else if q.injected <= old && !l.r.tables.Final(int(q.place)) {
				l.seen[tr] = i + 1
				l.block(tr)
			}
		}
	}
	return live
}

func (l *look) block(transition int32) {
	for _, w := range l.r.why(nil, transition) {
		l.blocks[stats.Block{Transition: w.Transition, Place: w.Place, Reason: w.Reason}]++
	}
}

func (l *look) blocked() []stats.Block {
	var out []stats.Block
	for b, n := range l.blocks {
		b.Instances = n
		out = append(out, b)
	}
	slices.SortFunc(out, stats.Block.Compare)
	return out
}

// since returns when the last token came that an enabled transition needs. An
// inclusive join needs one of each of its places that hold tokens.
func (r *Replay) since(in *instance, transition int) (since int64) {
	need := func(place int32, left uint32) {
		for k := range in.runs {
			if q := &in.runs[k]; left > 0 && q.place == place {
				since = max(since, q.injected)
				left -= min(left, q.n)
			}
		}
	}
	for _, c := range r.tables.Conds(transition) {
		need(c.Place, c.Lo)
	}
	if j := r.tables.Join(transition); j != nil {
		for _, p := range j.Places {
			need(p, 1)
		}
	}
	return since
}

func unmet(t int32, c petri.Cond, m uint32) (stats.Wait, bool) {
	switch {
	case m < c.Lo:
		return stats.Wait{Transition: t, Reason: stats.ReasonMissing, Place: c.Place, Count: c.Lo - m}, true
	case c.Hi > 0 && m >= c.Hi:
		return stats.Wait{Transition: t, Reason: stats.ReasonInhibited, Place: c.Place, Count: m - c.Hi + 1}, true
	}
	return stats.Wait{}, false
}

// maxWaits bounds what one token is said to wait for.
const maxWaits = 16

// waits returns what each transition that needs a place waits for in the instance
// that is marked, at most maxWaits. In a dead instance it says so first, then
// what each one lacks.
func (r *Replay) waits(place int32, dead bool) []stats.Wait {
	var out []stats.Wait
	for _, tr := range r.users[place] {
		if dead {
			out = append(out, stats.Wait{Transition: tr, Reason: stats.ReasonDead, Place: stats.NoPlace})
		}
		before := len(out)
		if out = r.why(out, tr); len(out) == before {
			out = append(out, stats.Wait{Transition: tr, Reason: stats.ReasonEnabled, Place: stats.NoPlace})
		}
		if len(out) >= maxWaits {
			return out[:maxWaits]
		}
	}
	return out
}

// why appends the conditions of a transition that are not met in the instance
// that is marked; none if it is enabled.
func (r *Replay) why(out []stats.Wait, transition int32) []stats.Wait {
	for _, c := range r.tables.Conds(int(transition)) {
		if wait, unmet := unmet(transition, c, r.marking[c.Place]); unmet {
			out = append(out, wait)
		}
	}
	j := r.tables.Join(int(transition))
	if j == nil || j.Ready(marked(r.marking)) {
		return out
	}
	for _, p := range j.Awaits(marked(r.marking)) {
		out = append(out, stats.Wait{Transition: transition, Reason: stats.ReasonMissing, Place: p, Count: 1})
	}
	return out
}

// Held returns what an instance holds, oldest first and at most limit rows, and how many tokens are left out;
// false if it is not open.
func (r *Replay) Held(name string, limit int) (held []stats.Held, leftOut uint64, open bool) {
	i, open := r.byName[name]
	if !open {
		return nil, 0, false
	}
	in := &r.all[i]
	r.mark(in)
	defer r.unmark(i)
	list := stats.HeldList{Limit: limit}
	for _, q := range in.runs {
		list.Add(stats.Held{Place: q.place, Tokens: uint64(q.n), Injected: q.injected, Waits: r.waits(q.place, false)})
	}
	return list.Oldest(), list.LeftOut, true
}
