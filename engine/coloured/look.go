// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"cmp"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/stats"
)

// Columns are the columns that Look fills in: all except those of queues, for which see Work.
const Columns = stats.AllColumns &^ (stats.ColQueues | stats.ColWaiting | stats.ColNextDue)

// Look adds the shard's rows as of now. It reads all instances once to count the tokens that are present, so
// that firing need not count them. name returns the name of the instance with a number. Look does not ask
// guards: in an instance that waits for its turn, it counts the transitions as enabled that have the tokens
// they need. One part of several cannot decide whether an instance has finished or is deadlocked, so it leaves
// stats.ColInstances out.
func (s *Shard) Look(now int64, name func(number int) string, rows *stats.Rows) {
	s.AddCounts(rows, Columns)
	l := &look{Present: stats.NewPresent[holder](now, s.Tables.Places(), len(s.rules)), s: s}
	for i := range s.instances {
		l.instance(i)
	}
	l.AddTo(rows, func(p int, h holder) (string, []stats.Wait) {
		waits := s.waits(nil, &s.instances[h.instance], spot{int32(p), h.frame}, h.run)
		for k := range waits {
			waits[k].What = "" // it can contain data of tokens
		}
		return name(s.Number(int(h.instance))), waits
	})
}

// look is one pass over all instances.
type look struct {
	*stats.Present[holder]
	s     *Shard
	waits []stats.Wait // reused memory
}

// holder is the holder of a token: an instance, and the run with which the
// token is in flight, or none; and its frame.
type holder struct {
	instance, run int32
	frame         uint32
}

// instance counts the content of one instance.
func (l *look) instance(i int) {
	in := &l.s.instances[i]
	failed, _ := l.s.pending(in) // has an incident
	for run, h := range l.s.holding(in) {
		at := holder{int32(i), run, h.frame}
		l.Tokens(int(h.place), int32(i), h.injected, h.n, at)
		if l.Old(h.injected) || failed {
			l.waits = l.s.waits(l.waits[:0], in, h.spot, run)
			l.Group(int(h.place), stats.Foremost(l.waits), h.injected, h.n, at)
		}
	}
	for id := in.runs; id != none; id = l.s.notes.all[id].next {
		l.Running(int(l.s.notes.all[id].transition), l.s.notes.all[id].since)
	}
	for f, p := range l.s.filled(in) {
		if !l.s.Tables.Final(int(p.place)) && l.Old(l.s.standing(in, f, p)[0].injected) {
			l.blocked(i, in, f, p.place)
		}
	}
	for id := range l.s.notes.each(in) {
		if n := &l.s.notes.all[id]; n.kind == noteClock {
			l.Enabled(int(n.transition), n.since)
		}
	}
	if l.s.pool.Waiting(i) > 0 {
		l.ready(i, in)
	}
}

// ready counts the immediate transitions of an instance that waits for its turn, each once.
func (l *look) ready(i int, in *instance) {
	count := func(f *frame, t int32) {
		if !l.s.holds(in, f, int(t)) || l.s.notes.blocked(f, int(t)) || !l.Once(t, 2*int64(i)+1) {
			return
		}
		l.Enabled(int(t), cmp.Or(l.s.latest(f, &l.s.rules[t]), l.Now()))
	}
	for f, p := range l.s.filled(in) {
		for _, t := range l.s.Triggered[p.place] {
			count(f, t)
		}
	}
	for _, t := range l.s.Untriggered {
		count(&in.frame, t)
	}
}

// blocked counts the conditions that block the transitions which need a place where an instance has an old
// token. It counts each transition once per instance.
func (l *look) blocked(i int, in *instance, f *frame, p int32) {
	for _, t := range l.s.users[p] {
		if !l.Once(t, 2*int64(i)) {
			continue
		}
		l.waits = l.s.why(l.waits[:0], in, spot{p, f.number}, int(t))
		for _, w := range l.waits {
			switch w.Reason {
			case stats.ReasonMissing, stats.ReasonInhibited, stats.ReasonGuarded, stats.ReasonIncident:
				l.Block(w, 1)
			}
		}
	}
}

// Find offers the tokens of an instance in a place, including those in flight. name is the name of the
// instance, which is given by its index, and show returns what may be seen of the data of a token.
func (s *Shard) Find(place, i int, name string, show func(data []byte) string, into *stats.Search) {
	in := &s.instances[i]
	for run, h := range s.holding(in) {
		if int(h.place) == place {
			into.Offer(stats.FoundToken{Token: stats.Token{Instance: name, Injected: h.injected}, N: uint64(h.n)},
				func() string { return show(s.view(in, h.spot, h.data)) }, func() []stats.Wait { return s.waits(nil, in, h.spot, run) })
		}
	}
}

// Inside adds the content of an instance, given by its index: all its tokens,
// including those in flight, what each waits for, and what show returns of its data.
func (s *Shard) Inside(i int, show func(data []byte) string, into *stats.HeldList) {
	in := &s.instances[i]
	for run, h := range s.holding(in) {
		into.Add(stats.Held{Place: h.place, Tokens: uint64(h.n), Injected: h.injected, Waits: s.waits(nil, in, h.spot, run), Data: show(s.view(in, h.spot, h.data))})
	}
}

// waits appends to an empty list what each transition that needs a place waits for in an instance. In a
// deadlocked instance the deadlock comes first, then the conditions that the transition lacks. run is the run
// with which a token is in flight, or none.
func (s *Shard) waits(out []stats.Wait, in *instance, at spot, run int32) []stats.Wait {
	for _, t := range s.users[at.place] {
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
		out = s.why(out, in, at, int(t))
	}
	return out[:min(len(out), stats.MaxWaits)]
}

// actor returns the oldest frame in which a transition can act that sees a
// spot; the instance, and false, if none is open.
func (s *Shard) actor(in *instance, t int, at spot) (f *frame, ok bool) {
	home := s.frame(in, at.frame)
	for f := range s.actors(in, t) {
		if f.within(home) {
			return f, true
		}
	}
	return &in.frame, false
}

// why appends what a transition waits for that could take or test a token of a
// spot: first the reasons in its notes, then the conditions that do not hold.
func (s *Shard) why(out []stats.Wait, in *instance, at spot, t int) []stats.Wait {
	r := &s.rules[t]
	f, ok := s.actor(in, t, at)
	if !ok { // no token is in its scope
		for _, v := range r.sights {
			if s.Tables.ScopeOf(v.place) == s.Tables.ActsIn(t) {
				return append(out, stats.Wait{Transition: int32(t), Reason: stats.ReasonMissing, Place: v.place, Count: v.show})
			}
		}
	}
	before := len(out)
	for id := f.notes; id != none; id = s.notes.all[id].next {
		if int(s.notes.all[id].transition) == t {
			if w, ok := s.waitOf(id); ok {
				return append(out, w)
			}
		}
	}
	for _, c := range r.conds {
		if !s.met(in, f, r, c) {
			available, total := s.amount(in, f, c.Place)
			w, _ := stats.Unmet(int32(t), c.Place, c.Lo, c.Hi, available, total)
			out = append(out, w)
		}
	}
	for _, p := range s.awaits(in, f, r.join) {
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
	w := stats.Wait{Transition: int32(n.transition), Place: stats.NoPlace, What: n.why}
	switch n.kind {
	case noteClock:
		w.Reason = stats.ReasonManual
		if s.rules[n.transition].Mode.Kind == plain.Delayed {
			w.Reason, w.Until = stats.ReasonDelayed, n.due
		}
	case noteNo:
		w.Reason = stats.ReasonGuarded
		if s.refusedForGood(id) {
			w.Reason, w.What = stats.ReasonIncident, s.located(int(n.transition), errNoAlternative).Error()
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
