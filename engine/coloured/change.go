// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"math"
	"slices"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// change is what happens in one instance at one time: what is chosen, taken and put, and what has to
// be looked at again because of that.
type change struct {
	s   *Shard
	i   int // the instance's index
	in  *instance
	now int64

	// Of one choice.
	found  []candidate
	picked []Placed // tokens of found that guards accepted
	search search

	// Of one firing, or one injection.
	took, out []held
	datas     [][]byte // of took
	entered   []*frame // that it has opened for its tokens
	writes    []write
	opens     []*frame // runs of scopes that have opened in it

	// Since the last call of changed.
	touched   []spot   // whose tokens have changed
	emptied   []*frame // that have lost their last token
	rewritten []rewrite
}

// at begins a change of an instance. It reuses the memory of the one before.
func (s *Shard) at(i int, now int64) *change {
	x := &s.change
	x.i, x.in, x.now = i, &s.instances[i], now
	return x
}

// renew forgets the firing before.
func (x *change) renew() {
	x.took = x.took[:0]
	x.out = x.out[:0]
	x.entered = x.entered[:0]
	x.writes = x.writes[:0]
	x.opens = x.opens[:0]
}

// rewrite is variables of a run that have changed, and what they were.
type rewrite struct {
	f   *frame
	was []byte
}

// mark is a point to which a change can be undone that has neither taken tokens nor put any.
type mark struct{ log, thrown, rewritten int }

func (x *change) mark() mark {
	return mark{len(x.s.log.text), len(x.s.done.Thrown), len(x.rewritten)}
}

// undo takes back what has been written since a mark, and the runs of scopes in opens.
func (x *change) undo(m mark) {
	x.s.log.text, x.s.done.Thrown = x.s.log.text[:m.log], x.s.done.Thrown[:m.thrown]
	for _, w := range slices.Backward(x.rewritten[m.rewritten:]) {
		w.f.own = w.was
	}
	x.rewritten = x.rewritten[:m.rewritten]
	for _, f := range slices.Backward(x.opens) {
		all := &x.s.frames[x.i]
		all.open = all.open[:len(all.open)-1]
		all.last--
		f.up.inside = f.up.inside[:len(f.up.inside)-1]
		if q := f.of(); q != nil {
			q.begun--
			if q.begun == 0 {
				f.up.loop = nil
			}
		}
	}
}

// fits gives variables their values, and returns a hindrance if these are too large in any run, or if
// the tokens in out are too many for a place. r is nil for an injection.
func (x *change) fits(r *rule, inPlace, log bool) *hindrance {
	all := x.in.lastID // there are no more tokens
	for k := range x.out {
		all += uint64(x.out[k].n)
	}
	if all > math.MaxUint32 {
		if place, full := x.full(r, inPlace); full {
			return &hindrance{what: "tokens do not fit", err: petri.ErrOverflow, full: true, place: place}
		}
	}
	if !x.settleWrites(log) {
		return &hindrance{what: "tokens do not fit", err: errVariables, full: true, place: stats.NoPlace}
	}
	return nil
}

// full returns a place that would hold too many tokens with those in out. If inPlace is set, those in
// took have not left their places.
func (x *change) full(r *rule, inPlace bool) (place int32, full bool) {
	sum := func(of []held, at spot) (n uint64) {
		for k := range of {
			if of[k].spot == at {
				n += uint64(of[k].n)
			}
		}
		return n
	}
	for k := range x.out {
		h := &x.out[k]
		_, total := x.s.frame(x.in, h.frame).piles.count(h.place)
		left := uint64(total)
		if r != nil && slices.ContainsFunc(r.effects, func(e petri.Effect) bool { return e.Place == h.place && e.Reset }) {
			left = 0
		} else if inPlace {
			left -= sum(x.took, h.spot)
		}
		if left+sum(x.out, h.spot) > math.MaxUint32 {
			return h.place, true
		}
	}
	return stats.NoPlace, false
}
