// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"math"
	"slices"

	"github.com/pnagent/pnagent/stats"
)

// room reports whether the tokens that a firing puts fit, or which place would
// overflow. The tokens that it takes are still in their places: those in taken
// if picked is set, else the oldest.
func (x *change) room(f *frame, r *rule, o *outcome, picked bool, taken []Placed) (place int32, fits bool) {
	if x.s.frames != nil && !x.s.framesLeft(x.in, uint64(len(r.outputs)+len(o.puts)+MaxRuns)) {
		return stats.NoPlace, false
	}
	for _, place := range r.outputs {
		home := x.s.around(f, place)
		if home.scope != x.s.Tables.ScopeOf(place) {
			continue // it puts them into a new run
		}
		available, total := home.piles.count(place)
		if uint64(total)+r.most > math.MaxUint32 && !r.fits(place, available, total, o, picked, taken) {
			return place, false
		}
	}
	if t := o.turn; t != nil && !t.ends && t.runs == 0 {
		for _, p := range t.out {
			if _, total := x.s.amount(x.in, f, p.Place); total+p.Put < total {
				return p.Place, false
			}
		}
	}
	return stats.NoPlace, true
}

// fits reports whether the tokens of a place are not too many after a firing.
func (r *rule) fits(place int32, available, total uint32, o *outcome, picked bool, taken []Placed) bool {
	left, more := uint64(total), uint64(0)
	for k := range taken {
		if taken[k].Place == place {
			left--
		}
	}
	for k := range r.effects {
		e := &r.effects[k]
		if e.Place != place {
			continue
		}
		more += uint64(e.Put)
		if e.Reset {
			left = 0
		} else if !picked {
			left -= uint64(min(e.Take, available)) // only a join arc may take fewer
		}
	}
	for k, b := range r.branches {
		if b.Place == place && o.mask>>k&1 != 0 {
			more += uint64(b.Put)
		}
	}
	if o.puts != nil {
		more = 0
		for k := range o.puts {
			if o.puts[k].Place == place {
				more++
			}
		}
	}
	return left+more <= math.MaxUint32
}

// fitsAll reports whether the variables of each run have at most MaxData bytes after a firing in a
// frame, or after an injection, which has no rule.
func (x *change) fitsAll(f *frame, r *rule, o *outcome) bool {
	if !x.s.shared {
		return true
	}
	sum, longest := len(o.data)+x.s.longest, 0
	for k := range o.puts {
		sum += len(o.puts[k].Data)
	}
	for _, w := range o.writes {
		sum += w.fields.size()
	}
	for _, g := range o.given {
		longest = max(longest, g.size())
	}
	if 6*(sum+longest) <= MaxData { // the longest that a byte of a name can become is 6
		return true
	}
	if x.atFreshStart(r) { // it would forget them
		own := &x.in.own
		defer func(forgotten []byte) { *own = forgotten }(*own)
		*own = nil
	}
	if r != nil && r.in != nil && x.s.getsAll(r.in.scope) {
		longest += len(x.s.seenIn(f))
	}
	writes := slices.Clip(o.writes)
	var entered []*frame // as they would be
	open := func(up *frame, scope int32) *frame { return newFrame(up, scope, 0) }
	put := func(place int32, data []byte) {
		run := x.s.enter(x.s.around(f, place), x.s.Tables.ScopeOf(place), &entered, open)
		writes = append(writes, write{x.s.holder(run, place), x.s.fields(data)})
	}
	for k := range o.puts {
		put(o.puts[k].Place, o.puts[k].Data)
	}
	if o.data != nil && o.puts == nil {
		if g, ok := x.s.context(f, r); ok {
			writes = append(writes, write{g, x.s.fields(o.data)})
		} else {
			for _, place := range r.outputs {
				put(place, o.data)
			}
		}
	}
	fits := longest <= MaxData
	for g, values := range x.news(writes) {
		fits = fits && len(x.s.over(g.own, values.data())) <= MaxData
	}
	return fits
}
