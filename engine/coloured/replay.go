// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"math"
	"slices"

	"github.com/pnagent/pnagent/engine/internal/shard"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri"
)

// reader reads a log or a state for a shard. It skips what is of instances that the shard does not
// hold: it reads their bytes, and no more.
type reader struct {
	shard.Reader
	s    *Shard
	in   *instance // of what is read; nil if the shard does not hold it
	now  int64     // of the log
	turn *turn     // what the next firing of the log does to a loop
}

// of makes an instance by its number the one of what is read next.
func (r *reader) of(number uint64) {
	i, err := r.s.Index(int(min(number, math.MaxInt64)))
	if r.in = nil; err == nil {
		r.in = &r.s.instances[i]
	}
}

// instance returns the number of the instance of what is read, for people.
func (r *reader) instance() int { return r.s.Number(int(r.in.index)) }

// data returns the next data: its own bytes, or those of a lot.
func (r *reader) data(lots []held) []byte {
	ref := r.Next(uint64(len(lots)) + refLot - 1)
	switch {
	case r.Err != nil || ref == refNone:
		return nil
	case ref >= refLot:
		return lots[ref-refLot].data
	}
	return append([]byte{}, r.Bytes(r.Next(MaxData))...)
}

// Replay applies and counts the Log of a Ready, as of now, the time at which
// it happened. It asks no guards and performs no actions. The shard must have
// been created for the same time and must not have played yet. Replay skips the
// instances that the shard does not hold, so one set of shards can read the log
// of another. It does not repeat what firings put into other parts: those
// tokens crossed when they were played. Call [Shard.Resume] when everything is
// replayed.
func (s *Shard) Replay(text []byte, now int64) error {
	defer func(on bool) { s.log.on = on }(s.log.on)
	s.log.on = false
	for r := (&reader{Reader: shard.Reader{Left: text}, s: s, now: now}); len(r.Left) > 0; {
		head := r.Next(math.MaxUint64)
		if r.of(head >> 1); head&1 == opFire {
			r.operation()
		} else {
			r.inject(false)
		}
		if r.Err != nil {
			return r.Err
		}
	}
	return nil
}

// operation applies an operation whose first number is that of a firing.
func (r *reader) operation() {
	n := 2 * uint64(len(r.s.rules))
	head := r.Next(n + opBeyond - 1)
	if r.Err == nil && head < n {
		r.fire(int(head>>1), head&1 != 0)
		return
	}
	switch what := head - n; what {
	case opInjectAs:
		r.inject(true)
	case opRest:
		r.rest()
	case opRan:
		t, took := r.Index(len(r.s.rules)), int64(r.Next(maxTime))
		if r.Err == nil && r.in != nil {
			r.s.Rec.Ran(t, int(r.in.index), r.now-took, r.now)
		}
	case opStart:
		r.runStarts()
	case opEnd:
		r.runEnds()
	case opOpen:
		r.open()
	case opLoop, opOver, opOwn:
		r.loop(what)
	case opAfresh:
		if r.in != nil && r.s.shared {
			r.s.variables[r.in.index] = nil
		}
	case opDue:
		r.due()
	default:
		if t := r.Index(len(r.s.rules)); r.Err == nil && r.in != nil {
			r.s.tally(what, t)
		}
	}
}

// rest puts an instance at rest or makes it active again.
func (r *reader) rest() {
	flags := uint8(r.Next(uint64(revived)))
	switch {
	case r.Err != nil:
	case flags&(flags-1) != 0:
		r.Fail("at rest as %b", flags)
	case r.in == nil:
	case flags == revived:
		r.s.unrest(r.in)
	default:
		r.s.rest(r.in, flags)
	}
}

// open opens a run of a scope.
func (r *reader) open() {
	s := r.s
	number, scope, up := uint32(r.Next(maxFrames)), int32(r.Index(s.Tables.Scopes())), uint32(r.Next(maxFrames))
	if r.Err != nil || r.in == nil {
		return
	}
	f := s.frame(r.in, up)
	if scope == 0 || f.id() != up || f.scopeID() != s.Tables.ScopeParent(scope) || s.frames == nil || number <= s.frames[r.in.index].last {
		r.Fail("instance %d: run %d of scope %d opens in run %d", r.instance(), number, scope, up)
		return
	}
	s.frames[r.in.index].last = number - 1
	s.of(r.in, r.now).openFrame(f, scope)
}

// frame reads what writer.frame wrote.
func (r *reader) frame() (f *frame) {
	if r.s.frames == nil {
		return nil
	}
	number := uint32(r.Next(math.MaxUint32))
	if r.in == nil || r.Err != nil {
		return nil
	}
	if f = r.s.frame(r.in, number); f.id() != number {
		r.Fail("run %d of a scope, which is not open", number)
	}
	return f
}

// spot reads a place and a frame of its scope.
func (r *reader) spot() spot {
	at := spot{place: int32(r.Index(r.s.Tables.Places()))}
	f := r.frame()
	if at.frame = f.id(); r.Err == nil && r.in != nil && f.scopeID() != r.s.Tables.ScopeOf(at.place) {
		r.Fail("place %q in run %d of another scope", r.s.Tables.Net.Places[at.place].ID, at.frame)
	}
	return at
}

func (r *reader) inject(named bool) {
	s, h := r.s, held{spot: r.spot()}
	if named {
		if h.id = r.Next(maxID); h.id == 0 {
			r.Fail("a token without an identity")
		}
	}
	h.n = uint32(r.Next(math.MaxUint32))
	h.data = r.data(nil)
	if r.Err != nil || r.in == nil {
		return
	}
	id := s.Tables.Net.Places[h.place].ID
	if s.Outside(int(h.place)) {
		r.Fail("place %q: %w", id, plain.ErrElsewhere)
		return
	}
	if _, total := s.frame(r.in, h.frame).in(r.in).count(h.place); h.n == 0 || total+h.n < h.n {
		r.Fail("instance %d: %d tokens more in place %q", r.instance(), h.n, id)
		return
	}
	s.of(r.in, r.now).inject(h) // the runs that it is put into have opened before
}

// maxID bounds the identities of tokens that are read, so that they cannot
// overflow.
const maxID = 1 << 62

// fire fires a transition.
func (r *reader) fire(t int, contested bool) {
	s := r.s
	if r.Err == nil && r.in != nil && s.Elsewhere(t) {
		r.Fail("transition %q: %w", s.Tables.Net.Transitions[t].ID, plain.ErrElsewhere)
	}
	f := r.frame()
	if r.Err == nil && r.in != nil && f.scopeID() != s.Tables.ActsIn(t) {
		r.Fail("transition %q acts in run %d of another scope", s.Tables.Net.Transitions[t].ID, f.id())
	}
	x := &s.change
	if r.in != nil {
		x = s.of(r.in, r.now)
	}
	x.renew()
	r.takesAndPuts(x, f, t, contested)
	if r.Err != nil && r.in != nil {
		for _, h := range x.took { // it did not fire
			x.openPile(s.frame(r.in, h.frame), h.place).add(h.lot)
		}
	}
}

// takesAndPuts moves the tokens of a firing.
func (r *reader) takesAndPuts(x *change, f *frame, t int, contested bool) {
	var lots []held // in the form in which they were recorded
	for range r.Next(uint64(len(r.Left))) {
		lots = append(lots, r.take(x, f))
		if r.Err != nil {
			return
		}
	}
	for range r.Next(uint64(len(r.Left))) {
		h := held{spot: r.spot()}
		h.id, h.n = r.Next(maxID), uint32(r.Next(math.MaxUint32))
		h.data = r.data(lots)
		if r.Err != nil {
			return
		}
		x.out = append(x.out, h)
	}
	if r.Err == nil && r.in != nil {
		r.refire(x, f, t, contested)
	}
}

// take takes a lot out of its place, for a transition that acts in f. One recorded lot may be
// several lots here.
func (r *reader) take(x *change, f *frame) held {
	h := held{spot: spot{place: int32(r.Index(r.s.Tables.Places()))}}
	h.frame = r.s.around(f, h.place).id()
	h.id, h.n = r.Next(maxID), uint32(r.Next(math.MaxUint32))
	if r.Err != nil || r.in == nil {
		return h
	}
	from := len(x.took)
	for id, left := h.id, h.n; left > 0; {
		p := r.s.pile(r.in, f, h.place)
		var n uint32
		if p != nil {
			n = p.from(id)
		}
		if n == 0 {
			r.Fail("token %d is taken from place %q, which does not hold it", id, r.s.Tables.Net.Places[h.place].ID)
			return h
		}
		n = min(n, left)
		x.took, _ = p.remove(id, n, h.frame, x.took)
		id, left = id+uint64(n), left-n
	}
	if from < len(x.took) {
		h.data = x.took[from].data
	}
	return h
}

// refire completes a firing whose tokens were taken.
func (r *reader) refire(x *change, f *frame, t int, contested bool) {
	rule, id := &r.s.rules[t], r.s.Tables.Net.Transitions[t].ID
	if (r.turn != nil) != (rule.ends != nil && f.up.loop != nil) {
		r.Fail("instance %d: transition %q ends a run of a loop, and the log does not say how", r.instance(), id)
		return
	}
	if !x.fair(f, rule) {
		r.Fail("instance %d: a firing of transition %q that cannot have been", r.instance(), id)
		return
	}
	for k := range x.out {
		h := &x.out[k]
		x.in.lastID = max(x.in.lastID, h.id+uint64(h.n)-1)
		h.data = x.keep(h.spot, h.data) // earlier versions wrote variables with the tokens
	}
	if contested {
		r.s.Tables.NoteChosen(t, r.s.Order(x.i))
	}
	x.pass(f, t)
	x.finish(f, t, &outcome{turn: r.turn, replayed: true})
	r.turn = nil
}

// fair reports whether a transition can have taken the tokens in took and put
// those in out: as many of each place as its arcs take, and only into its
// outputs.
func (x *change) fair(f *frame, r *rule) bool {
	for k := range x.took {
		if !r.takes(x.took[k].place) {
			return false
		}
	}
	for _, v := range r.sights {
		n := uint64(0)
		for k := range x.took {
			if x.took[k].place == v.place {
				n += uint64(x.took[k].n)
			}
		}
		if v.join && n+1 == uint64(v.take) {
			continue // a join arc takes nothing from an empty place
		}
		if n != uint64(v.take) {
			return false
		}
	}
	for k := range x.out {
		h := &x.out[k]
		_, total := x.s.frame(x.in, h.frame).in(x.in).count(h.place)
		if slices.ContainsFunc(r.effects, func(e petri.Effect) bool { return e.Place == h.place && e.Reset }) {
			total = 0
		}
		sum := uint64(total)
		for j := range x.out[:k+1] {
			if x.out[j].spot == h.spot {
				sum += uint64(x.out[j].n)
			}
		}
		if h.n == 0 || h.id == 0 || x.s.Outside(int(h.place)) || !r.puts(h.place) && !r.turns(h.place) || !x.s.sees(x.in, r.from(f), h.spot) || sum > math.MaxUint32 {
			return false
		}
	}
	return true
}
