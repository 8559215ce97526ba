// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"math"
	"slices"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

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
