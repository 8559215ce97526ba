// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"encoding/json"
	"slices"

	"github.com/pnagent/pnagent/engine/internal/shard"
	"github.com/pnagent/pnagent/engine/plain"
)

// reader applies operations of a log to a shard. The first one that does not fit is an error.
type reader struct {
	shard.Reader
	s      *Shard
	in     *instance // of the operation
	number int       // of the instance
	now    int64     // of the log
	turn   *turn     // what the next firing does to a loop
}

// Replay applies and counts the Log of a Ready, as of now, the time at which it happened. It asks no guards
// and performs no actions. The shard must have been created for the same time and must not have played yet.
// Replay skips the instances that the shard does not hold, and what firings put into other parts. Call
// [Shard.Resume] when everything is replayed.
func (s *Shard) Replay(text []byte, now int64) error {
	defer func(on bool) {
		s.log.on = on
		s.change.rewritten = s.change.rewritten[:0] // the log says what followed from variables, too
	}(s.log.on)
	s.log.on = false
	r := &reader{Reader: shard.Reader{Left: text}, s: s, now: now}
	c := s.log.codec
	c.from = &r.Reader
	o := op{}
	for len(r.Left) > 0 && r.Err == nil {
		o = op{took: o.took[:0], puts: o.puts[:0], refs: o.refs[:0], lots: o.lots[:0]} // their memory is used again
		c.op(&o)
		i, err := s.Index(o.number)
		if r.Err == nil && err == nil {
			r.in, r.number = &s.instances[i], o.number
			r.apply(&o)
		}
	}
	return r.Err
}

// frame returns the run of a scope with a number, which must be open.
func (r *reader) frame(number uint32) *frame {
	f := r.s.frame(r.in, number)
	if f.number != number {
		r.Fail("instance %d: run %d of a scope, which is not open", r.number, number)
	}
	return f
}

// actor is frame for a run in which a transition acts.
func (r *reader) actor(t int32, number uint32) *frame {
	f := r.frame(number)
	if r.Err == nil && (r.s.Elsewhere(int(t)) || f.scope != r.s.Tables.ActsIn(int(t))) {
		r.Fail("instance %d: transition %q acts in run %d of another scope, or in another part", r.number, r.s.Tables.Net.Transitions[t].ID, number)
	}
	return f
}

// home is frame for a run that has a place.
func (r *reader) home(at spot) *frame {
	f, id := r.frame(at.frame), r.s.Tables.Net.Places[at.place].ID
	switch {
	case r.Err != nil:
	case f.scope != r.s.Tables.ScopeOf(at.place):
		r.Fail("place %q in run %d of another scope", id, at.frame)
	case r.s.Outside(int(at.place)):
		r.Fail("place %q: %w", id, plain.ErrElsewhere)
	}
	return f
}

// apply applies an operation.
func (r *reader) apply(o *op) {
	s, i := r.s, int(r.in.index)
	switch o.kind {
	case opFire:
		r.fire(o)
	case opInject:
		r.inject(o)
	case opRest:
		r.rest(o.rest)
	case opStart:
		r.starts(o)
	case opEnd:
		r.ends(o)
	case opOpen:
		r.open(o)
	case opClock:
		r.clock(o)
	case opLoop:
		r.loop(o)
	case opOver:
		f := r.frame(o.frame)
		if f.of() == nil || f.ended {
			r.Fail("instance %d: run %d of a loop that is over, or is none", r.number, o.frame)
			return
		}
		r.turn = &turn{series: f.up.loop, ends: true, last: o.flag, result: o.data}
	case opOwn:
		f, values := r.frame(o.frame), objectOf(o.data)
		if r.Err == nil && (values == nil || !s.shared || !s.at(i, r.now).setOwn(f, values, false)) {
			r.Fail("variables of run %d, which owns none, or which are too large", o.frame)
		}
	case opAfresh:
		if s.shared {
			r.in.own = nil
		}
	case opIs:
		r.is(o)
	case opPile:
		r.pile(o)
	default:
		s.tally(o.kind, int(o.transition))
	}
}

// rest puts an instance at rest or makes it active again.
func (r *reader) rest(flags uint8) {
	switch {
	case flags&(flags-1) != 0:
		r.Fail("instance %d is at rest as %b", r.number, flags)
	case flags == revived:
		r.s.Revive(&r.in.flags)
	default:
		r.s.rest(r.in, flags)
	}
}

// open opens a run of a scope.
func (r *reader) open(o *op) {
	s, up, open := r.s, r.frame(o.up), r.s.opened(r.in)
	if o.scope == 0 || up.scope != s.Tables.ScopeParent(o.scope) || o.frame == 0 || len(open) > 0 && o.frame <= open[len(open)-1].number {
		r.Fail("instance %d: run %d of scope %d opens in run %d", r.number, o.frame, o.scope, o.up)
	}
	if r.Err != nil {
		return
	}
	all := &s.frames[r.in.index]
	defer func(last uint32) { all.last = max(all.last, last) }(all.last)
	all.last = o.frame - 1
	f := s.at(int(r.in.index), r.now).openFrame(up, o.scope, int(o.turn))
	f.turn, f.ended = int(o.turn), o.flag
}

// loop begins a loop in a run of the scope around, or makes it what it was.
func (r *reader) loop(o *op) {
	var l *loop
	for k := range r.s.rules {
		if b := r.s.rules[k].begins; b != nil && b.scope == o.scope {
			l = b
		}
	}
	f, n := r.frame(o.frame), int(o.n)-1
	if l == nil || l.around != f.scope || (n < 0) == l.Multi() || n > MaxRuns {
		r.Fail("instance %d: a loop of scope %d in run %d of another scope", r.number, o.scope, o.frame)
		return
	}
	q := &series{loop: l, n: n, text: o.data, begun: int(o.begun), over: int(o.ended), results: slices.Clone(o.texts)}
	if o.data != nil && (json.Unmarshal(o.data, &q.list) != nil || len(q.list) != n) || (l.List.Text != "") != (o.data != nil) {
		r.Fail("a list of other than %d elements in run %d", n, f.number)
	}
	if q.over > q.begun || n >= 0 && q.begun > n || len(q.results) > q.begun {
		r.Fail("%d of %d runs have begun in run %d, %d are over, and %d have results", q.begun, n, f.number, q.over, len(q.results))
	}
	for _, result := range q.results {
		q.size += len(result)
	}
	f.loop = q
}

// ends forgets a run of an action that is over, and counts it if it has fired.
func (r *reader) ends(o *op) {
	t := int(o.transition)
	name := runID(o.id, t)
	p := r.s.runs.unended[name]
	if p == nil {
		r.Fail("run %d ends without a start", o.id)
		return
	}
	delete(r.s.runs.unended, name)
	if o.flag {
		r.s.Rec.Ran(t, p.i, p.since, r.now)
	}
}

// starts records a run of an action as not over.
func (r *reader) starts(o *op) {
	s, p := r.s, o.run
	f := r.actor(p.transition, p.frame)
	if o.id == 0 || !s.rules[p.transition].Action {
		r.Fail("run %d of transition %q, which has no runs", o.id, s.Tables.Net.Transitions[p.transition].ID)
	}
	r.located(f, p.taken, false)
	r.located(f, p.read, o.flag)
	name := runID(o.id, int(p.transition))
	if s.runs.unended[name] != nil {
		r.Fail("run %d starts twice", o.id)
	}
	if r.Err != nil {
		return
	}
	p.i = int(r.in.index)
	s.runs.unended[name] = p
	s.runs.last = max(s.runs.last, o.id)
}

// located fills in where tokens are that a transition in a frame sees, and what they are unless they
// are whole.
func (r *reader) located(f *frame, tokens []Placed, whole bool) {
	for k := range tokens {
		p := &tokens[k]
		p.Scope = r.s.around(f, p.Place).number
		if whole {
			continue
		}
		pile, at := r.s.pile(f, p.Place), -1
		if pile != nil {
			at = pile.lotOf(p.Token.ID)
		}
		if at < 0 {
			r.Fail("a run has token %d of place %q, which does not hold it", p.Token.ID, r.s.Tables.Net.Places[p.Place].ID)
			return
		}
		p.Token.Injected, p.Token.Data = pile.left()[at].injected, pile.left()[at].data
	}
}

// clock starts a clock, or sets when it is due. One of a transition that has another binding now is not used.
func (r *reader) clock(o *op) {
	s, f, t := r.s, r.frame(o.frame), int(o.transition)
	b := s.rules[t].Binding
	if b.Mode.Kind != plain.Delayed || b.Until == nil && o.due > 0 || r.Err != nil || s.Elsewhere(t) || f.scope != s.Tables.ActsIn(t) || !s.holds(r.in, f, t) {
		return
	}
	id := s.notes.clock(f, t)
	if id == none {
		id = s.notes.addNote(r.in, f, note{kind: noteClock, transition: uint16(t)})
	}
	n := &s.notes.all[id]
	n.since, n.due, n.token = o.time, o.due, o.id
}

func (r *reader) inject(o *op) {
	f := r.home(o.spot) // if that is a run of a scope, it has opened before
	if _, total := f.piles.count(o.place); r.Err == nil && (total+o.n < o.n || o.id == 0 || o.n == 0 || r.s.at(int(r.in.index), r.now).inject(o.held) != nil) {
		r.Fail("instance %d: %d tokens from %d on more in place %q", r.number, o.n, o.id, r.s.Tables.Net.Places[o.place].ID)
	}
}

// fire fires a transition.
func (r *reader) fire(o *op) {
	s, f := r.s, r.actor(o.transition, o.frame)
	if r.Err != nil {
		return
	}
	x := s.at(int(r.in.index), r.now)
	x.renew()
	for k := range o.took {
		r.take(x, f, &o.took[k])
	}
	for k := range o.puts {
		h := &o.puts[k]
		r.home(h.spot)
		if ref := o.refs[k]; ref >= refLot {
			h.data = o.took[ref-refLot].data
		}
	}
	x.out = append(x.out, o.puts...)
	if r.Err == nil {
		r.refire(x, f, int(o.transition), o.flag)
	}
	if r.Err != nil {
		x.untake()
	}
}

// take takes a lot out of its place, for a transition that acts in f. One recorded lot may be
// several lots here.
func (r *reader) take(x *change, f *frame, h *held) {
	h.frame = r.s.around(f, h.place).number
	from, all := len(x.took), false
	if p := r.s.pile(f, h.place); p != nil {
		x.took, all = p.remove(h.id, h.n, h.frame, x.took)
	}
	if !all {
		r.Fail("%d tokens from %d on are taken from place %q, which does not hold it", h.n, h.id, r.s.Tables.Net.Places[h.place].ID)
		return
	}
	if from < len(x.took) {
		h.data = x.took[from].data
	}
}

// refire completes a firing whose tokens were taken.
func (r *reader) refire(x *change, f *frame, t int, contested bool) {
	rule, id := &r.s.rules[t], r.s.Tables.Net.Transitions[t].ID
	if (r.turn != nil) != (rule.ends != nil && f.up.loop != nil) {
		r.Fail("instance %d: transition %q ends a run of a loop, and the log does not say how", r.number, id)
		return
	}
	if !x.fair(f, rule) {
		r.Fail("instance %d: a firing of transition %q that cannot have been", r.number, id)
		return
	}
	for k := range x.out {
		h := &x.out[k]
		x.in.lastID = max(x.in.lastID, h.id+uint64(h.n)-1)
	}
	x.pass(f, t, contested)
	x.finish(f, t, &outcome{turn: r.turn})
	r.turn = nil
}

// fair reports whether the transition can have taken the tokens in took and put those in out: as many of each
// place as its arcs take, and only into its outputs.
func (x *change) fair(f *frame, r *rule) bool {
	all := uint64(0)
	for k := range x.took {
		all += uint64(x.took[k].n)
	}
	for _, v := range r.sights {
		n := uint64(0)
		for k := range x.took {
			if x.took[k].place == v.place {
				n += uint64(x.took[k].n)
			}
		}
		few := v.join && n+1 == uint64(v.take) // a join arc takes nothing from an empty place
		if n != uint64(v.take) && !few {
			return false
		}
		all -= n
	}
	sees := f
	if r.ends != nil { // the end of a run begins others
		sees = f.up
	}
	for k := range x.out {
		h := &x.out[k]
		if h.n == 0 || h.id == 0 || x.s.Outside(int(h.place)) || !slices.Contains(r.reach, h.place) || !x.s.sees(x.in, sees, h.spot) {
			return false
		}
	}
	_, full := x.full(r, false)
	return all == 0 && !full
}
