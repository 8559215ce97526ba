// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/stats"
)

// Columns are the columns that Look fills in: all except those of queues, for
// which see Work.
const Columns = stats.AllColumns &^ (stats.ColQueues | stats.ColWaiting)

// Look adds the shard's rows as of now. It reads all instances once to count
// the tokens that are present, so that firing need not count them. name returns
// the name of the instance with a number. Look does not ask guards: in an
// instance that waits for its turn, it counts the transitions as enabled that
// have the tokens they need. One part of several cannot decide whether an
// instance has finished or is deadlocked, so it leaves stats.ColInstances out.
func (s *Shard) Look(now int64, name func(number int) string, rows *stats.Rows) {
	s.AddCounts(rows, Columns)
	l := &look{Present: stats.NewPresent[holder](now, s.Tables.Places(), len(s.rules)), s: s}
	for i := range s.instances {
		l.instance(i)
	}
	l.AddTo(rows, func(p int, h holder) (string, []stats.Wait) {
		return name(s.Number(int(h.instance))), s.waits(&s.instances[h.instance], p, h.run)
	})
}

// look is one pass over all instances.
type look struct {
	*stats.Present[holder]
	s     *Shard
	waits []stats.Wait // reused memory
}

// holder is the holder of a token: an instance, and the run with which the
// token is in flight, or none.
type holder struct{ instance, run int32 }

// instance counts the content of one instance.
func (l *look) instance(i int) {
	in := &l.s.instances[i]
	for k := range in.piles {
		p := &in.piles[k]
		for _, lot := range p.left() {
			l.Tokens(int(p.place), int32(i), lot.injected, lot.n, holder{int32(i), none})
		}
	}
	for id := in.runs; id != none; id = l.s.notes.all[id].next {
		l.run(i, id)
	}
	for k := range in.piles {
		if p := &in.piles[k]; !l.s.Tables.Final(int(p.place)) && l.Old(l.s.oldest(in, p)) {
			l.blocked(i, in, int(p.place))
		}
	}
	for id := in.notes; id != none; id = l.s.notes.all[id].next {
		if n := &l.s.notes.all[id]; n.kind == noteClock {
			l.Enabled(int(n.transition), n.since)
		}
	}
	if l.s.pool.Waiting(i) > 0 {
		l.ready(i, in)
	}
}

func (l *look) run(i int, id int32) {
	n := &l.s.notes.all[id]
	l.Running(int(n.transition), n.since)
	for _, t := range l.s.load(id).taken {
		l.Tokens(int(t.Place), int32(i), t.Token.Injected, 1, holder{int32(i), id})
	}
}

// oldest returns the injection time of the oldest token of a place.
func (s *Shard) oldest(in *instance, p *pile) int64 {
	var oldest int64
	if left := p.left(); len(left) > 0 {
		oldest = left[0].injected
	}
	if p.flying == 0 {
		return oldest
	}
	for id := in.runs; id != none; id = s.notes.all[id].next {
		for _, t := range s.load(id).taken {
			if t.Place == p.place {
				oldest = stats.Earlier(oldest, t.Token.Injected)
			}
		}
	}
	return oldest
}

// ready counts the immediate transitions of an instance that waits for its
// turn.
func (l *look) ready(i int, in *instance) {
	count := func(t int32) {
		if !l.Once(t, 2*int64(i)+1) || !l.s.holds(in, int(t)) || l.s.blocked(in, int(t)) {
			return
		}
		since := in.latest(&l.s.rules[t])
		if since == 0 {
			since = l.Now()
		}
		l.Enabled(int(t), since)
	}
	for k := range in.piles {
		for _, t := range l.s.Triggered[in.piles[k].place] {
			count(t)
		}
	}
	for _, t := range l.s.Untriggered {
		count(t)
	}
}

// blocked counts the conditions that block the transitions which need a place
// where an instance has an old token. It counts each transition once per
// instance.
func (l *look) blocked(i int, in *instance, p int) {
	for _, t := range l.s.users[p] {
		if !l.Once(t, 2*int64(i)) {
			continue
		}
		l.waits = l.s.why(in, int(t), l.waits[:0])
		for _, w := range l.waits {
			switch w.Reason {
			case stats.ReasonMissing, stats.ReasonInhibited, stats.ReasonGuarded, stats.ReasonIncident:
				l.Block(w, 1)
			}
		}
	}
}

// waits returns what each transition that needs a place waits for in an
// instance. In a deadlocked instance the deadlock comes first, then the
// conditions that the transition lacks. run is the run with which a token is in
// flight, or none.
func (s *Shard) waits(in *instance, p int, run int32) []stats.Wait {
	var out []stats.Wait
	for _, t := range s.users[p] {
		if len(out) >= stats.MaxWaits {
			break
		}
		if run != none && int32(s.notes.all[run].transition) == t {
			out = append(out, stats.Wait{Transition: t, Place: stats.NoPlace, Reason: stats.ReasonRunning})
			continue
		}
		if in.has(deadlocked) {
			out = append(out, stats.Wait{Transition: t, Reason: stats.ReasonDead, Place: stats.NoPlace})
		}
		out = s.why(in, int(t), out)
	}
	return out[:min(len(out), stats.MaxWaits)]
}

// why appends what a transition waits for: first the reasons in its notes, then
// the conditions that do not hold.
func (s *Shard) why(in *instance, t int, out []stats.Wait) []stats.Wait {
	r := &s.rules[t]
	before := len(out)
	for id := in.notes; id != none; id = s.notes.all[id].next {
		if n := &s.notes.all[id]; int(n.transition) == t {
			if w, ok := s.waitOf(id); ok {
				return append(out, w)
			}
		}
	}
	for _, c := range r.conds {
		if !s.met(in, r, c) {
			available, total := in.count(c.Place)
			w, _ := stats.Unmet(int32(t), c.Place, c.Lo, c.Hi, available, total)
			out = append(out, w)
		}
	}
	for _, p := range s.awaits(in, r.join) {
		out = append(out, stats.Wait{Transition: int32(t), Reason: stats.ReasonMissing, Place: p, Count: 1})
	}
	if len(out) == before {
		w := stats.Wait{Transition: int32(t), Place: stats.NoPlace, Reason: stats.ReasonEnabled}
		if r.held && r.Mode.Kind != plain.Delayed {
			w.Reason = stats.ReasonManual
		}
		return append(out, w)
	}
	return out
}

// waitOf returns what the transition of a note waits for, if it waits.
func (s *Shard) waitOf(id int32) (stats.Wait, bool) {
	n := &s.notes.all[id]
	w := stats.Wait{Transition: int32(n.transition), Place: stats.NoPlace}
	switch n.kind {
	case noteClock:
		w.Reason = stats.ReasonManual
		if s.rules[n.transition].Mode.Kind == plain.Delayed {
			w.Reason, w.Until = stats.ReasonDelayed, n.due
		}
	case noteNo:
		if w.Reason, w.Place = stats.ReasonGuarded, n.ref; s.refusedForGood(id) {
			w.Reason = stats.ReasonIncident
		}
	case noteWait:
		w.Reason, w.Until = stats.ReasonDelayed, n.due
	case noteAwaits:
		w.Reason = stats.ReasonManual
	case noteIncident:
		w.Reason, w.Place = stats.ReasonIncident, n.ref
	default:
		return w, false
	}
	return w, true
}
