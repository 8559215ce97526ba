// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"cmp"
	"math"
	"slices"

	"github.com/pnagent/pnagent/engine/internal/shard"
)

// candidate is a transition that may fire, in a frame. It takes the tokens from
// to to of change.picked, or the oldest if from is oldest. It is as small as it is
// because it is passed around for every firing.
type candidate struct {
	t        int32
	frame    uint32
	from, to int32
}

const oldest = -1

func (c candidate) picked() bool { return c.from != oldest }

// tokens returns the tokens that a candidate was picked with.
func (x *change) tokensOf(c candidate) []Placed {
	if !c.picked() {
		return nil
	}
	return x.picked[c.from:c.to]
}

// choose returns which of some transitions to fire, if one may fire. contested
// reports whether it was preferred to an enabled rival.
func (x *change) choose(of *shard.Immediate) (c candidate, contested, ok bool) {
	x.found, x.picked = x.found[:0], x.picked[:0]
	for k := range x.in.piles {
		x.find(nil, of.Triggered[x.in.piles[k].place])
	}
	if x.s.frames != nil {
		x.findInside(of)
	}
	x.find(nil, of.Untriggered)
	switch {
	case len(x.found) == 0:
		return candidate{}, false, false
	case len(x.found) == 1:
		return x.found[0], false, true
	case x.s.Shuffle:
		slices.SortFunc(x.found, func(a, b candidate) int { return cmp.Compare(a.t, b.t) })
		x.s.random = x.s.begin(x.i, 0, uint64(x.in.played))
		return x.found[x.byChance()], false, true
	}
	first := x.firstInTurn(int32(x.in.turn))
	order := x.s.Order(x.i)
	if order == nil {
		return x.found[first], false, true
	}
	t, contested := x.s.Tables.Preferred(int(x.found[first].t), order, func(t int) bool { return x.foundAt(int32(t)) >= 0 })
	return x.found[x.foundAt(int32(t))], contested, true
}

// byChance returns an index in found, drawn by the weights.
func (x *change) byChance() int {
	if x.s.weights == nil {
		return x.s.random.Below(len(x.found))
	}
	sum := 0.0
	for _, c := range x.found {
		sum += x.s.weights[c.t]
	}
	left := sum * x.s.delays.Float64()
	for k, c := range x.found {
		left -= x.s.weights[c.t]
		if left < 0 {
			return k
		}
	}
	return len(x.found) - 1
}

// findInside adds the transitions that may fire in runs of scopes to found.
func (x *change) findInside(of *shard.Immediate) {
	for _, f := range x.s.frames[x.in.index].busy {
		for k := range f.piles {
			x.find(f, of.Triggered[f.piles[k].place])
		}
	}
}

// find adds the transitions that may fire in a frame to found, but none that
// is in found for an older frame. If one has a higher priority than those in
// found, it replaces them.
func (x *change) find(f *frame, transitions []int32) {
	for _, t := range transitions {
		rank := x.s.rules[t].rank
		if len(x.found) > 0 && rank > x.s.rules[x.found[0].t].rank || (f != nil || x.s.rules[t].join != nil) && x.foundAt(t) >= 0 {
			continue
		}
		c, ok := x.ready(f, int(t))
		if !ok {
			continue
		}
		if len(x.found) > 0 && rank < x.s.rules[x.found[0].t].rank {
			x.found = x.found[:0]
		}
		x.found = append(x.found, c)
	}
}

func (x *change) foundAt(t int32) int {
	return slices.IndexFunc(x.found, func(c candidate) bool { return c.t == t })
}

// soonest is the shortest time, in µs, after which a guard is asked again at
// its own request. With less, other instances would get no time.
const soonest = 1000

// ready reports whether a transition may fire in a frame without a call, and
// with which tokens. It remembers a rejection by the guard.
func (x *change) ready(f *frame, t int) (candidate, bool) {
	r := &x.s.rules[t]
	if r.single {
		if n, _ := f.in(x.in).count(r.conds[0].Place); n == 0 {
			return candidate{}, false
		}
	} else if !x.s.holds(x.in, f, t) {
		return candidate{}, false
	}
	if *f.listed(x.in) != none && x.s.notes.blocked(x.in, f, t) || r.Action && x.in.running >= x.s.running {
		return candidate{}, false
	}
	if r.oldest {
		return candidate{t: int32(t), frame: f.id(), from: oldest}, true
	}
	c, v, err := x.pick(f, t, nil, nil)
	if err != nil {
		x.unevaluated(f, t, x.tokensOf(c), "guard failed", err, true)
		return candidate{}, false
	}
	if !v.OK {
		id := x.s.notes.addNote(x.in, f, note{kind: noteNo, transition: uint16(t), since: x.now})
		if v.Again > 0 {
			x.s.notes.plan(id, max(v.Again, x.now+soonest))
		}
	}
	return c, v.OK
}

// firstInTurn returns the index in found of the first transition from turn on,
// starting again at 0 after the last transition.
func (x *change) firstInTurn(turn int32) int {
	best, nearest := 0, int32(math.MaxInt32)
	for k := range x.found {
		d := x.found[k].t - turn
		if d < 0 {
			d += int32(len(x.s.rules))
		}
		if d < nearest {
			best, nearest = k, d
		}
	}
	return best
}
