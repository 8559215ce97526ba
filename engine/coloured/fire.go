// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/split"
	"github.com/pnagent/pnagent/stats"
)

// perform fires a transition that may fire, or starts its action. It reports
// whether it could, and remembers the obstacle if not.
func (x *change) perform(c candidate, contested bool) bool {
	t, f := int(c.t), x.s.frame(x.in, c.frame)
	r := &x.s.rules[t]
	if r.Action {
		x.start(c, contested, nil)
		return true
	}
	switch no := x.try(f, c, &outcome{contested: contested}); {
	case no == nil:
		return true
	case no.full:
		x.s.done.fault(x.i, t, no.what, no.err)
		x.incident(f, t, 0, no.place, no.err.Error())
	default:
		x.unevaluated(f, t, x.tokensOf(c), no.what, no.err, no.timed)
	}
	return false
}

// try fires a transition in a frame unless something hinders that.
func (x *change) try(f *frame, c candidate, o *outcome) *hindrance {
	r := &x.s.rules[c.t]
	taken, read := r.split(x.tokensOf(c))
	x.renew()
	switch {
	case r.preempts: // the runs that have its tokens are cancelled if it fires
		x.hold(taken)
	case c.picked():
		x.takePicked(taken)
	default:
		for k := range r.effects {
			x.takeOldest(f, &r.effects[k])
		}
	}
	no := x.plan(f, int(c.t), o, taken, read, r.preempts)
	switch {
	case no != nil && !r.preempts:
		x.untake()
	case no == nil && r.preempts:
		x.took = x.took[:0]
		x.takePicked(taken)
	}
	if no != nil {
		return no
	}
	x.pass(f, int(c.t), o.contested)
	x.finish(f, int(c.t), o)
	return nil
}

// hold fills took with tokens that stay where they are.
func (x *change) hold(taken []Placed) {
	for k := range taken {
		x.took = append(x.took, taken[k].held())
	}
}

// untake puts back what was taken.
func (x *change) untake() {
	for _, h := range x.took {
		x.openPile(x.s.frame(x.in, h.frame), h.place).add(h.lot)
	}
}

// hindrance is why a transition cannot fire that is enabled.
type hindrance struct {
	what  string // in words, for a log: that of which err is the reason
	err   error
	timed bool  // it can depend on the time
	full  bool  // tokens do not fit into a place, or variables into a run
	place int32 // of full; stats.NoPlace if it is none
}

// at returns the error of a call that cannot fire a transition of a net.
func (h *hindrance) at(n *petri.Net) error {
	if h.full && h.place != stats.NoPlace {
		return fmt.Errorf("place %q: %w", n.Places[h.place].ID, h.err)
	}
	return h.err
}

// plan determines what a firing in a frame does whose tokens are in took: the branches, the values and
// the tokens to put, in out; it opens the runs of scopes that they need, and gives variables their
// values. It returns what hinders the firing, and then has changed nothing; nil for nothing. If
// inPlace is set, the tokens in took are still in their places or in flight.
func (x *change) plan(f *frame, t int, o *outcome, taken, read []Placed, inPlace bool) *hindrance {
	r := &x.s.rules[t]
	var data []byte
	if o.puts == nil {
		mask, err := x.branch(r, taken, o.data)
		o.mask = mask
		if r.values && err == nil {
			err = x.valued(f, r, o, taken, read)
		}
		if err != nil {
			return &hindrance{what: "transition failed", err: err, timed: !errors.Is(err, errNoBranch)}
		}
		data = x.passes(f, t, o.data)
	}
	if err := x.unnamed(r, taken, o.data); err != nil {
		return &hindrance{what: "event not thrown", err: err}
	}
	if x.s.frames != nil && !x.s.framesLeft(x.in, uint64(len(r.outputs)+len(o.puts)+MaxRuns)) {
		return &hindrance{what: "tokens do not fit", err: petri.ErrOverflow, full: true, place: stats.NoPlace}
	}
	m := x.mark()
	if r.throws {
		x.throw(t, o.data)
	}
	if x.s.shared {
		x.writeReturned(f, r, o)
	}
	if o.puts != nil {
		x.explicit(f, o.puts)
	} else {
		x.byArcs(f, r, o, data)
	}
	no := x.fits(r, inPlace, true)
	if no != nil {
		x.undo(m)
	}
	return no
}

// split divides the picked tokens into those that are taken, the first ones of each place, and those that are
// only tested. The results do not share memory with picked.
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

// branch returns which branches of a split are taken: all whose guards hold, or the default if none does.
// Guards see the tokens that were taken, with the new data if data is not nil.
func (x *change) branch(r *rule, taken []Placed, data []byte) (mask uint64, err error) {
	if len(r.branches) == 0 {
		return 0, nil
	}
	if r.Branches != nil {
		taken = x.s.with(x.in, taken, data)
	}
	var otherwise uint64
	for k, b := range r.branches {
		switch {
		case b.Default:
			otherwise |= 1 << k
		case r.Branches == nil || r.Branches[k] == nil:
			mask |= 1 << k
		default:
			v, err := ask(r.Branches[k], taken, x.now)
			if err != nil {
				n := x.s.Tables.Net
				return 0, located(n, n.Arcs[b.Arc].Pos, err)
			} else if v.OK {
				mask |= 1 << k
			}
		}
	}
	if mask == 0 {
		mask = otherwise
	}
	if mask == 0 {
		return 0, errNoBranch
	}
	return mask, nil
}

// takeOldest takes the tokens that an arc takes, oldest first.
func (x *change) takeOldest(f *frame, e *petri.Effect) {
	if e.Take == 0 {
		return
	}
	if x.s.frames != nil {
		f = x.s.around(f, e.Place)
	}
	if p := f.piles.pile(e.Place); p != nil {
		x.took = p.pop(min(e.Take, p.n), f.number, x.took) // only a join arc may take fewer
	}
}

// takePicked takes the given tokens, which are in their places or in flight.
func (x *change) takePicked(taken []Placed) {
	for k := range taken {
		var ok bool
		for !ok {
			p := x.s.pileOf(x.in, &taken[k])
			x.took, ok = p.remove(taken[k].Token.ID, 1, taken[k].Scope, x.took)
			if !ok {
				x.cancelHolder(func(t held) bool { return t.id == taken[k].Token.ID })
			}
		}
	}
}

// outcome describes what a firing does with the tokens in change.took.
type outcome struct {
	mask      uint64
	data      []byte
	puts      []Put    // if not nil, the tokens to put instead of those of the arcs
	turn      *turn    // what it does to a loop; nil for nothing
	given     []object // what each run gets that it begins; nil for nothing
	writes    []write  // what runs give that it ends, or that something leaves
	contested bool
}

// finish completes a firing in a frame: its tokens are in took and no longer in their places, and
// those to put are in out.
func (x *change) finish(f *frame, t int, o *outcome) {
	r := &x.s.rules[t]
	for k := range x.took {
		x.left(&x.took[k])
	}
	for k := range r.effects {
		if e := &r.effects[k]; e.Reset && !o.turn.skips(x.s, e.Place) {
			x.empty(f, r.effects[k].Place)
		}
	}
	if o.turn != nil && o.turn.ends {
		x.endRun(f, o.turn)
	}
	if x.s.Part != nil {
		x.cross()
	}
	x.name()
	if x.s.log.on {
		x.s.log.fire(x, f, t, o.contested)
	}
	x.place()
	x.s.Rec.Fired(t, x.now)
	x.in.move()
	if f.notes != none {
		if id := x.s.notes.trouble(f, t, 0); id != none {
			x.s.notes.dropNote(x.in, id)
		}
	}
	x.changed()
}

// left records that tokens have left their place.
func (x *change) left(h *held) {
	x.s.Rec.LeftMany(int(h.place), x.i, h.injected, x.now, uint64(h.n))
	x.touched = append(x.touched, h.spot)
	x.close(h.spot)
	if !x.s.notes.quiet(x.in) {
		for f := range x.s.frame(x.in, h.frame).all {
			x.s.notes.forget(x.in, f, h.id, h.n)
		}
	}
}

// pass records that a transition was chosen, perhaps before a rival: the next
// transition gets the turn, and the transition's delay starts again.
func (x *change) pass(f *frame, t int, contested bool) {
	if contested {
		x.s.Tables.NoteChosen(t, x.s.Order(x.i))
	}
	x.in.played++
	x.in.turn = uint16(t + 1)
	if t+1 == len(x.s.rules) {
		x.in.turn = 0
	}
	if x.s.rules[t].held {
		x.restartClock(f, t)
	}
}

// empty destroys the tokens of a place that a reset arc covers, also those in flight.
func (x *change) empty(f *frame, place int32) {
	home, scope := x.s.around(f, place), x.s.Tables.ScopeOf(place)
	if home.scope == scope {
		x.emptySpot(home, place)
		return
	}
	for g := range home.all {
		if g.scope == scope {
			x.emptySpot(g, place)
		}
	}
}

func (x *change) emptySpot(f *frame, place int32) {
	p, at := f.piles.pile(place), spot{place, f.number}
	if p == nil {
		return
	}
	for p.flying > 0 {
		x.cancelHolder(func(t held) bool { return t.spot == at })
		p = f.piles.pile(place)
	}
	from := len(x.took)
	x.took = p.pop(p.n, f.number, x.took)
	for k := range x.took[from:] {
		x.left(&x.took[from+k])
	}
	x.took = x.took[:from]
}

// writeReturned writes what an action or a call returned for a firing.
func (x *change) writeReturned(f *frame, r *rule, o *outcome) {
	if r.source {
		x.startAfresh(true)
	}
	if o.data == nil || o.puts != nil {
		return
	}
	if g, ok := x.s.context(f, r); ok {
		if fields := x.s.fields(o.data); fields != nil {
			x.writes = append(x.writes, write{g, fields})
		}
	}
}

// byArcs fills out with the tokens that the output arcs put. A token that the
// transition takes from a place and puts back there stays as it was; new ones carry data.
func (x *change) byArcs(f *frame, r *rule, o *outcome, data []byte) {
	for k := range r.effects {
		e := &r.effects[k]
		left := e.Put
		if o.turn != nil && o.turn.skips(x.s, e.Place) {
			continue
		}
		for j := range x.took {
			if left == 0 {
				break
			}
			if x.took[j].place != e.Place {
				continue
			}
			h := x.took[j]
			h.n = min(h.n, left)
			left -= h.n
			if o.data != nil {
				h.data = x.s.carried(o.data)
			}
			x.out = append(x.out, h)
		}
		if left > 0 {
			x.putNew(spot{e.Place, x.aim(f, e.Place)}, left, data)
		}
	}
	for k, b := range r.branches {
		if o.mask>>k&1 != 0 && b.Put > 0 && !o.turn.skips(x.s, b.Place) {
			x.putNew(spot{b.Place, x.aim(f, b.Place)}, b.Put, data)
		}
	}
	if o.turn != nil {
		x.turnPuts(f, o, data)
	} else if o.given != nil {
		for _, g := range x.entered {
			if g.scope == r.in.scope {
				x.writes = append(x.writes, write{g, o.given[0]})
			}
		}
	}
	x.writes = append(x.writes, o.writes...)
}

// explicit fills out with the tokens that an action puts. They have been checked.
func (x *change) explicit(f *frame, puts []Put) {
	for k := range puts {
		at := spot{puts[k].Place, x.aim(f, puts[k].Place)}
		h := held{lot{data: puts[k].Data, n: 1}, at}
		if h.id = puts[k].Moved; h.id != 0 {
			j := slices.IndexFunc(x.took, func(t held) bool { return t.id == h.id })
			h.data = x.took[j].data
		}
		h.data = x.keep(at, h.data)
		x.out = append(x.out, h)
	}
}

// name gives an identity to the new tokens in out.
func (x *change) name() {
	for k := range x.out {
		if h := &x.out[k]; h.id == 0 {
			h.id = x.in.lastID + 1
			x.in.lastID += uint64(h.n)
		}
	}
}

// place puts the tokens in out.
func (x *change) place() {
	for k := range x.out {
		h := &x.out[k]
		h.injected = x.now
		x.openPile(x.s.frame(x.in, h.frame), h.place).add(h.lot)
		x.s.Rec.Arrived(int(h.place), x.now)
		x.touched = append(x.touched, h.spot)
	}
}

// refuse returns the reason why a transition is not enabled in a frame.
func (s *Shard) refuse(in *instance, f *frame, t int) error {
	r, id := &s.rules[t], s.Tables.Net.Transitions[t].ID
	for _, c := range r.conds {
		if !s.met(in, f, r, c) {
			available, total := s.amount(in, f, c.Place)
			return s.Refusal(t, c, available, total)
		}
	}
	for _, p := range s.awaits(in, f, r.join) {
		return fmt.Errorf("transition %q: %w: it waits for a token in place %q", id, petri.ErrNotEnabled, s.Tables.Net.Places[p].ID)
	}
	return fmt.Errorf("transition %q: %w", id, petri.ErrNotEnabled)
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
	return j.Awaits(f.marked)
}

// restartClock restarts the delay of a transition that fired.
func (x *change) restartClock(f *frame, t int) {
	id := x.s.notes.clock(f, t)
	if id == none {
		if x.s.rules[t].Mode.Kind != plain.Delayed {
			return
		}
		id = x.s.notes.addNote(x.in, f, note{kind: noteClock, transition: uint16(t)})
	}
	x.s.notes.due.Drop(id)
	x.s.notes.setRipe(id, false)
	x.s.unsettle(x.in, f)
	n := &x.s.notes.all[id]
	n.since, n.due = x.now, 0
}

// putNew adds new tokens, to which a firing passes on data, to out.
func (x *change) putNew(at spot, n uint32, data []byte) {
	x.out = append(x.out, held{lot{data: x.keep(at, data), n: n}, at})
}

// cross moves the tokens for other parts out of out.
func (x *change) cross() {
	kept := x.out[:0]
	for _, h := range x.out {
		if x.s.Outside(int(h.place)) {
			x.s.done.Crossings = append(x.s.done.Crossings, split.Crossing{Instance: x.s.Number(x.i), Place: h.place, Tokens: h.n, Data: h.data})
		} else {
			kept = append(kept, h)
		}
	}
	x.out = kept
}
