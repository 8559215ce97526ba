// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// perform fires a transition that may fire, or starts its action. It reports
// whether it could, and remembers the obstacle if not.
func (s *Shard) perform(i int, in *instance, c candidate, contested bool, now int64) bool {
	t, f := int(c.t), s.frame(in, c.frame)
	r := &s.rules[t]
	if r.Action {
		s.start(i, in, c, contested, nil, now)
		return true
	}
	took, read := r.split(s.tokensOf(c))
	mask, a := s.branch(in, r, took, nil, now)
	o := outcome{mask: mask, contested: contested}
	if r.values && a.OK {
		a.panicked = s.valued(in, f, r, &o, took, read, now)
	}
	switch {
	case a.panicked != nil:
		s.panicked(i, in, f, t, s.tokensOf(c), "transition failed", a.panicked, now)
		return false
	case !a.OK:
		s.unevaluated(i, in, f, t, s.tokensOf(c), "transition failed", errNoBranch)
		return false
	}
	if err := s.unnamed(in, r, took, nil, now); err != nil {
		s.unevaluated(i, in, f, t, s.tokensOf(c), "event not thrown", err)
		return false
	}
	if place, fits := s.room(in, f, r, &o, c.picked(), took); !fits {
		s.overflow(i, in, f, t, place, petri.ErrOverflow)
		return false
	}
	if !s.fitsAll(in, f, r, &o) {
		s.overflow(i, in, f, t, stats.NoPlace, errVariables)
		return false
	}
	s.fire(i, in, f, c, took, &o, now)
	return true
}

// split divides the picked tokens into those that are taken, the first ones of
// each place, and those that are only tested. The results do not share memory
// with picked.
func (r *rule) split(picked []Placed) (taken, read []Placed) {
	left, k := uint32(0), -1
	for i := range picked {
		if i == 0 || picked[i].Place != picked[i-1].Place {
			for k++; r.sights[k].place != picked[i].Place; k++ {
			}
			left = r.sights[k].take
		}
		if left == 0 {
			read = append(read, picked[i])
			continue
		}
		left--
		if taken == nil {
			taken = make([]Placed, 0, len(picked)-i)
		}
		taken = append(taken, picked[i])
	}
	return taken, read
}

func firstID(taken []Placed) uint64 {
	if len(taken) == 0 {
		return 0
	}
	return taken[0].Token.ID
}

// branch returns which branches of a split are taken: all whose guards hold, or
// the default if none does. Guards see the tokens that were taken, with the new
// data if data is not nil. The answer is no if there is no branch to take.
func (s *Shard) branch(in *instance, r *rule, taken []Placed, data []byte, now int64) (mask uint64, a answer) {
	if len(r.branches) == 0 {
		return 0, answer{Verdict: Verdict{OK: true}}
	}
	if r.Branches != nil {
		taken = s.with(in, taken, data)
	}
	var otherwise uint64
	for k, b := range r.branches {
		switch {
		case b.Default:
			otherwise |= 1 << k
		case r.Branches == nil || r.Branches[k] == nil:
			mask |= 1 << k
		default:
			if a = ask(r.Branches[k], taken, now); a.panicked != nil {
				return 0, a
			} else if a.OK {
				mask |= 1 << k
			}
		}
	}
	if mask == 0 {
		mask = otherwise
	}
	return mask, answer{Verdict: Verdict{OK: mask != 0}}
}

// fire fires a transition without an action.
func (s *Shard) fire(i int, in *instance, f *frame, c candidate, taken []Placed, o *outcome, now int64) {
	r := &s.rules[c.t]
	s.took = s.took[:0]
	if c.picked() {
		s.takePicked(in, taken)
	} else {
		for k := range r.effects {
			s.takeOldest(in, f, &r.effects[k])
		}
	}
	s.pass(i, in, f, int(c.t), now)
	s.finish(i, in, f, int(c.t), o, now)
}

// takeOldest takes the tokens that an arc takes, oldest first.
func (s *Shard) takeOldest(in *instance, f *frame, e *petri.Effect) {
	if e.Take == 0 {
		return
	}
	if f != nil {
		f = s.aroundInner(f, e.Place)
	}
	if p := f.in(in).pile(e.Place); p != nil {
		s.took = p.pop(min(e.Take, p.n), f.id(), s.took) // only a join arc may take fewer
	}
}

// takePicked takes the given tokens, which are in their places or in flight.
func (s *Shard) takePicked(in *instance, taken []Placed) {
	for k := range taken {
		var ok bool
		for !ok {
			p := s.frame(in, taken[k].Scope).in(in).pile(taken[k].Place)
			if s.took, ok = p.remove(taken[k].Token.ID, 1, taken[k].Scope, s.took); !ok {
				s.cancelHolder(in, func(t Placed) bool { return t.Token.ID == taken[k].Token.ID })
			}
		}
	}
}

// outcome describes what a firing does with the tokens in Shard.took.
type outcome struct {
	mask      uint64
	data      []byte
	values    [][][]byte // of inscribed arcs: see inscribe
	puts      []Put      // if not nil, the tokens to put instead of those of the arcs
	turn      *turn      // what it does to a loop; nil for nothing
	given     object     // what the run gets that it begins
	writes    []write    // what runs give that it ends, or that something leaves
	contested bool
	replayed  bool // the tokens to put are in Shard.out
}

// finish completes a firing in a frame whose tokens are in s.took and no longer
// in their places.
func (s *Shard) finish(i int, in *instance, f *frame, t int, o *outcome, now int64) {
	r := &s.rules[t]
	if r.throws && !o.replayed {
		s.throw(i, in, t, o.data)
	}
	if s.shared && !o.replayed {
		s.writeReturned(i, in, f, t, o)
	}
	for k := range s.took {
		h := &s.took[k]
		s.Rec.LeftMany(int(h.place), i, h.injected, now, uint64(h.n))
		s.touched = append(s.touched, h.spot)
		s.close(in, h.spot)
		if in.notes != none {
			s.forget(in, h.id, h.n)
		}
	}
	for k := range r.effects {
		if e := &r.effects[k]; e.Reset && !o.turn.skips(s, e.Place) {
			s.empty(i, in, f, r.effects[k].Place, now)
		}
	}
	if o.turn != nil && o.turn.ends {
		s.endRun(i, in, f, o.turn, now)
	}
	s.entered = s.entered[:0]
	switch {
	case o.replayed: // out was filled from the log
	case o.puts != nil:
		s.explicit(i, in, f, o.puts)
	default:
		s.byArcs(i, in, f, t, o)
	}
	if s.shared {
		s.settleWrites(i, in, true)
	}
	if s.Part != nil {
		s.cross(i)
	}
	s.name(in)
	if s.logging {
		s.noteFire(i, f, t, o.contested)
	}
	s.place(in, now)
	s.Rec.Fired(t, now)
	in.move()
	if in.notes != none {
		if id := s.trouble(in, f, t, 0); id != none {
			s.dropNote(in, id)
		}
	}
	s.changed(in)
}

// pass records that a transition was chosen: the next transition gets the turn,
// and the transition's delay starts again.
func (s *Shard) pass(i int, in *instance, f *frame, t int, now int64) {
	in.played++
	if in.turn = uint16(t + 1); t+1 == len(s.rules) {
		in.turn = 0
	}
	if s.rules[t].held {
		s.restartClock(i, in, f, t, now)
	}
}

// empty destroys the tokens of a place that a reset arc covers, also those in
// flight.
func (s *Shard) empty(i int, in *instance, f *frame, place int32, now int64) {
	if s.frames == nil {
		s.emptySpot(i, in, &in.piles, spot{place: place}, now)
		return
	}
	for g := range s.covered(in, f, place) {
		s.emptySpot(i, in, g.in(in), spot{place, g.id()}, now)
	}
}

func (s *Shard) emptySpot(i int, in *instance, ps *piles, at spot, now int64) {
	p := ps.pile(at.place)
	if p == nil {
		return
	}
	for p.flying > 0 {
		s.cancelHolder(in, func(t Placed) bool { return t.at() == at })
		p = ps.pile(at.place)
	}
	from := len(s.took)
	s.took = p.pop(p.n, at.frame, s.took)
	for _, h := range s.took[from:] {
		s.Rec.LeftMany(int(at.place), i, h.injected, now, uint64(h.n))
		if in.notes != none {
			s.forget(in, h.id, h.n)
		}
	}
	s.took = s.took[:from]
	s.touched = append(s.touched, at)
	s.close(in, at)
}

// writeReturned writes what an action or a call returned for a firing.
func (s *Shard) writeReturned(i int, in *instance, f *frame, t int, o *outcome) {
	s.writes, s.fresh = s.writes[:0], s.fresh[:0]
	if s.Tables.Source(t) {
		s.startAfresh(i, in, true)
	}
	if o.data == nil || o.puts != nil {
		return
	}
	if g, ok := s.context(f, &s.rules[t]); ok {
		if fields := s.fields(o.data); fields != nil {
			s.writes = append(s.writes, write{g, fields})
		}
	}
}

// byArcs fills out with the tokens that the output arcs put. A token that the
// transition takes from a place and puts back there stays as it was.
func (s *Shard) byArcs(i int, in *instance, f *frame, t int, o *outcome) {
	s.out = s.out[:0]
	r, p := &s.rules[t], passing{t: t, data: o.data}
	if s.shared && o.data != nil {
		_, p.written = s.context(f, r)
	}
	for k := range r.effects {
		e := &r.effects[k]
		left := e.Put
		if o.turn.skips(s, e.Place) {
			continue
		}
		for j := range s.took {
			if left == 0 {
				break
			}
			if s.took[j].place != e.Place {
				continue
			}
			h := s.took[j]
			h.n = min(h.n, left)
			if left -= h.n; o.data != nil {
				h.data = s.carried(h.place, o.data)
			}
			s.out = append(s.out, h)
		}
		if left > 0 {
			s.putNew(i, in, spot{e.Place, s.aim(i, in, f, e.Place, false)}, left, &p)
		}
	}
	for k, b := range r.branches {
		if o.mask>>k&1 != 0 && b.Put > 0 && !o.turn.skips(s, b.Place) {
			s.putNew(i, in, spot{b.Place, s.aim(i, in, f, b.Place, false)}, b.Put, &p)
		}
	}
	if o.values != nil {
		s.inscribed(i, in, f, r, o)
	}
	s.writeGiven(r, o.given)
	if o.turn != nil {
		s.turnPuts(i, in, f, o.turn, &p)
	}
	s.writes = append(s.writes, o.writes...)
}

// explicit fills out with the tokens that an action puts. They have been
// checked.
func (s *Shard) explicit(i int, in *instance, f *frame, puts []Put) {
	s.out = s.out[:0]
	for k := range puts {
		at := spot{puts[k].Place, s.aim(i, in, f, puts[k].Place, false)}
		h := held{lot{data: puts[k].Data, n: 1}, at}
		if h.id = puts[k].Moved; h.id != 0 {
			j := slices.IndexFunc(s.took, func(t held) bool { return t.id == h.id })
			h.data = s.took[j].data
			if s.ownData(at.place) {
				h.data = s.view(in, s.took[j].spot, h.data)
			}
		}
		h.data = s.keep(in, at, h.data)
		s.out = append(s.out, h)
	}
}

// name gives an identity to the new tokens in out.
func (s *Shard) name(in *instance) {
	for k := range s.out {
		if h := &s.out[k]; h.id == 0 {
			h.id = in.lastID + 1
			in.lastID += uint64(h.n)
		}
	}
}

// place puts the tokens in out.
func (s *Shard) place(in *instance, now int64) {
	for k := range s.out {
		h := &s.out[k]
		h.injected = now
		s.openPile(in, s.frame(in, h.frame), h.place).add(h.lot)
		s.Rec.Arrived(int(h.place), now)
		s.touched = append(s.touched, h.spot)
	}
}

// refuse returns the reason why a transition is not enabled in a frame.
func (s *Shard) refuse(in *instance, f *frame, t int) error {
	net, r := s.Tables.Net, &s.rules[t]
	for _, c := range r.conds {
		if s.met(in, f, r, c) {
			continue
		}
		place := net.Places[c.Place].ID
		available, total := s.amount(in, f, c.Place)
		if available < c.Lo && (c.Hi == 0 || total < c.Hi) {
			return fmt.Errorf("transition %q: %w: place %q holds %d tokens, expected %d or more", net.Transitions[t].ID, petri.ErrNotEnabled, place, available, c.Lo)
		}
		return fmt.Errorf("transition %q: %w: place %q holds %d tokens, expected fewer than %d", net.Transitions[t].ID, petri.ErrNotEnabled, place, total, c.Hi)
	}
	for _, p := range s.awaits(in, f, r.join) {
		return fmt.Errorf("transition %q: %w: it waits for a token in place %q", net.Transitions[t].ID, petri.ErrNotEnabled, net.Places[p].ID)
	}
	return fmt.Errorf("transition %q: %w", net.Transitions[t].ID, petri.ErrNotEnabled)
}

// awaits returns the places from which an inclusive join still waits for a
// token. It returns none if the join is ready.
func (s *Shard) awaits(in *instance, f *frame, j *petri.JoinTest) []int32 {
	if j == nil || s.joins(in, f, j) {
		return nil
	}
	for _, place := range j.Places {
		if available, total := s.amount(in, f, place); available == 0 && total > 0 {
			return []int32{place}
		}
	}
	return j.Awaits(s.marked(in, f))
}

// restartClock restarts the delay of a transition that fired.
func (s *Shard) restartClock(i int, in *instance, f *frame, t int, now int64) {
	id := s.clock(in, f, t)
	if id == none {
		if s.rules[t].Mode.Kind != plain.Delayed {
			return
		}
		id = s.addNote(in, f, note{kind: noteClock, instance: int32(i), transition: uint16(t)})
	}
	s.notes.due.Drop(id)
	s.setRipe(id, false)
	s.unsettle(in, f)
	n := &s.notes.all[id]
	n.since, n.due = now, 0
}
