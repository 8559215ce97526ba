// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"cmp"
	"slices"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// Columns are the columns that Look fills in.
const Columns = stats.AllColumns &^ (stats.ColFailures | stats.ColRunning | stats.ColDuration | stats.ColTimeouts | stats.ColQueues | stats.ColWaiting | stats.ColNextDue)

// counted adds all counts to rows of the net.
func (r *Replay) counted(rows *stats.Rows) {
	rows.Merge(r.sent)
	r.Unsent(rows)
}

// Unsent adds the counts since the last call of Sent.
func (r *Replay) Unsent(rows *stats.Rows) {
	rows.Merge(r.before)
	r.rec.AddTo(rows)
	for p, n := range r.gone {
		rows.Places[p].Arrivals += n
	}
}

// Sent records that the counts so far are published, so that the next process
// does not publish them again.
func (r *Replay) Sent() {
	r.Unsent(r.sent)
	r.Resume(stats.NewRows(r.tables.Places(), r.tables.Transitions()))
}

// Resume sets the unpublished counts to those of the previous process, as its Unsent returned them.
func (r *Replay) Resume(unsent *stats.Rows) {
	r.rec = stats.NewRecorder(r.tables.Places(), r.tables.Transitions())
	r.before = unsent
	clear(r.gone)
}

// TakeSlowest adds the slowest token of each place since its last call to the
// rows.
func (r *Replay) TakeSlowest(rows *stats.Rows) {
	for p := range r.slowest {
		rows.Places[p].Slowest.Merge(r.slowest[p])
	}
	clear(r.slowest)
}

// Look adds the rows as of now: the counts and the content of the open
// instances. A token that was injected after now, by the clock of its writer,
// has age 0.
func (r *Replay) Look(now int64, rows *stats.Rows) {
	r.counted(rows)
	rows.Columns |= Columns
	l := &look{Present: stats.NewPresent[holder](now, r.tables.Places(), r.tables.Transitions()), r: r}
	l.Tie = func(a, b holder) int { return cmp.Compare(r.all[a.instance].name, r.all[b.instance].name) }
	for i := r.oldest; i != none; i = r.all[i].newer {
		l.instance(i)
	}
	l.AddTo(rows, func(p int, h holder) (string, []stats.Wait) {
		in := &r.all[h.instance]
		r.mark(in)
		defer r.unmark(h.instance)
		return in.name, r.waits(int32(p), h.dead)
	})
	rows.Net.Active += uint64(len(r.byName))
	rows.Net.Deadlocked += l.dead
}

// holder is the holder of a token: an instance. It is dead if nothing in it can
// fire.
type holder struct {
	instance int32
	dead     bool
}

// look is one pass over the open instances.
type look struct {
	*stats.Present[holder]
	r     *Replay
	dead  uint64       // instances
	waits []stats.Wait // reused memory
}

func (l *look) instance(i int32) {
	in := &l.r.all[i]
	l.r.mark(in)
	defer l.r.unmark(i)
	h := holder{i, !l.judge(i, in) && !l.r.atEnd(in)}
	if h.dead {
		l.dead++
	}
	for _, q := range in.runs {
		l.Tokens(int(q.place), i, q.injected, q.n, h)
		if l.Old(q.injected) {
			l.waits = l.r.appendWaits(l.waits[:0], q.place, h.dead)
			l.Group(int(q.place), stats.Foremost(l.waits), q.injected, q.n, h)
		}
	}
}

// judge counts the transitions that are enabled in an instance and, for old
// tokens, the unmet conditions. It reports whether anything can still fire.
func (l *look) judge(i int32, in *instance) (live bool) {
	for k := range in.runs {
		q := &in.runs[k]
		for _, tr := range l.r.users[q.place] {
			if l.r.tables.EnabledIn(l.r.marking, int(tr)) {
				live = true
				if l.Once(tr, int64(i)) {
					l.Enabled(int(tr), l.r.since(in, int(tr)))
				}
			} else if l.Old(q.injected) && !l.r.tables.Final(int(q.place)) && l.Once(tr, int64(i)) {
				for _, w := range l.r.why(nil, tr) {
					l.Block(w, 1)
				}
			}
		}
	}
	return live
}

// since returns when the last token arrived that an enabled transition needs.
// An inclusive join needs one of each of its places that hold tokens.
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

// waits returns what each transition that needs a place waits for in the marked
// instance, at most stats.MaxWaits. In a dead instance each transition has
// ReasonDead first.
func (r *Replay) waits(place int32, dead bool) []stats.Wait {
	return r.appendWaits(nil, place, dead)
}

// appendWaits appends them to an empty list.
func (r *Replay) appendWaits(out []stats.Wait, place int32, dead bool) []stats.Wait {
	for _, tr := range r.users[place] {
		if dead {
			out = append(out, stats.Wait{Transition: tr, Reason: stats.ReasonDead, Place: stats.NoPlace})
		}
		before := len(out)
		if out = r.why(out, tr); len(out) == before {
			out = append(out, stats.Wait{Transition: tr, Reason: stats.ReasonEnabled, Place: stats.NoPlace})
		}
		if len(out) >= stats.MaxWaits {
			return out[:stats.MaxWaits]
		}
	}
	return out
}

// why appends the unmet conditions of a transition in the marked instance; none if it is enabled.
func (r *Replay) why(out []stats.Wait, transition int32) []stats.Wait {
	for _, c := range r.tables.Conds(int(transition)) {
		m := r.marking[c.Place]
		if wait, unmet := stats.Unmet(transition, c.Place, c.Lo, c.Hi, m, m); unmet {
			out = append(out, wait)
		}
	}
	j := r.tables.Join(int(transition))
	if j == nil || j.Ready(petri.Marked(r.marking)) {
		return out
	}
	for _, p := range j.Awaits(petri.Marked(r.marking)) {
		out = append(out, stats.Wait{Transition: transition, Reason: stats.ReasonMissing, Place: p, Count: 1})
	}
	return out
}

// Find returns the tokens of a place that a query selects.
func (r *Replay) Find(place int32, q *stats.Query) stats.Found {
	search := stats.NewSearch(q)
	for i := r.oldest; i != none; i = r.all[i].newer {
		in := &r.all[i]
		waits := func() []stats.Wait {
			r.mark(in)
			defer r.unmark(i)
			return r.waits(place, !r.live(in) && !r.atEnd(in))
		}
		for _, q := range in.runs {
			if q.place == place && search.Named(in.name) {
				search.Offer(stats.FoundToken{Token: stats.Token{Instance: in.name, Injected: q.injected}, N: uint64(q.n)}, nil, waits)
			}
		}
	}
	return search.Found()
}

// live reports whether a transition is enabled in the marked instance.
func (r *Replay) live(in *instance) bool {
	return slices.ContainsFunc(in.runs, func(q run) bool {
		return slices.ContainsFunc(r.users[q.place], func(tr int32) bool { return r.tables.EnabledIn(r.marking, int(tr)) })
	})
}

// Held returns the content of an instance, oldest first and at most limit rows,
// and the number of tokens left out; false if it is not open.
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
