// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"math"

	"github.com/pnagent/pnagent/stats"
)

// room reports whether the tokens that a firing puts fit, or which place would
// overflow. The tokens that it takes are still in their places: those in taken
// if picked is set, else the oldest.
func (x *change) room(f *frame, r *rule, o *outcome, picked bool, taken []Placed) (place int32, fits bool) {
	if x.s.frames != nil && !x.s.framesLeft(x.in, uint64(len(r.effects)+len(r.branches)+len(o.puts)+MaxRuns)) {
		return stats.NoPlace, false
	}
	byArcs := o.puts == nil && o.values == nil
	for k := range r.effects {
		if e := &r.effects[k]; (e.Put > 0 || !byArcs) && !x.fits(f, r, e.Place, o, picked, taken) {
			return e.Place, false
		}
	}
	for _, b := range r.branches {
		if !x.fits(f, r, b.Place, o, picked, taken) {
			return b.Place, false
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

func (x *change) fits(f *frame, r *rule, place int32, o *outcome, picked bool, taken []Placed) bool {
	var available, total uint32
	if x.s.frames == nil {
		available, total = x.in.piles.count(place)
	} else if home := x.s.around(f, place); home.scopeID() == x.s.Tables.ScopeOf(place) {
		available, total = home.in(x.in).count(place)
	}
	if o.puts == nil && o.values == nil && uint64(total)+r.most <= math.MaxUint32 {
		return true
	}
	more, left := uint64(0), uint64(total)
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
		switch {
		case e.Reset:
			left = 0
		case !picked && e.Join:
			left -= uint64(min(e.Take, available))
		case !picked:
			left -= uint64(e.Take)
		}
	}
	for k, b := range r.branches {
		if b.Place == place && o.mask>>k&1 != 0 {
			more += uint64(b.Put)
		}
	}
	for _, v := range o.values {
		if v.Place == place {
			more += uint64(v.Put)
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
	if !x.s.shared || o.data == nil && o.values == nil && o.puts == nil && o.writes == nil && o.given == nil && o.turn == nil {
		return true
	}
	sum := len(o.data)
	o.eachPut(func(_ int32, data []byte) { sum += len(data) })
	given := []object{o.given}
	if o.turn != nil {
		given = append(given, o.turn.given...)
	}
	longest := 0
	for _, g := range given {
		longest = max(longest, g.size())
	}
	for _, w := range o.writes {
		sum += w.fields.size()
	}
	if 6*(sum+longest+x.s.longest) <= MaxData { // the longest that a byte of a name can become is 6
		return true
	}
	if r != nil && r.in != nil && x.s.getsAll(r.in.scope) {
		longest += len(x.s.seenIn(x.in, f))
	}
	all, entering, fits := news{}, object{}, true
	if o.data != nil && o.puts == nil {
		if g, ok := x.s.context(f, r); ok {
			all.add(x.s, x.in, func(name string) (*frame, bool) { return x.s.owner(g, name), true }, x.s.fields(o.data))
		}
	}
	o.eachPut(func(place int32, data []byte) {
		fields := x.s.fields(data)
		home := x.s.around(f, place)
		if home.scopeID() == x.s.Tables.ScopeOf(place) {
			home = x.s.holder(home, place)
		}
		all.add(x.s, x.in, func(name string) (*frame, bool) {
			g, ok := x.s.ownerAround(home, place, name)
			if !ok {
				entering[name] = fields[name]
			}
			return g, ok
		}, fields)
	})
	for _, w := range o.writes {
		all.add(x.s, x.in, func(name string) (*frame, bool) { return x.s.owner(w.f, name), true }, w.fields)
	}
	for g, values := range all {
		fits = fits && len(x.s.over(*x.s.owned(x.in, g), values.data())) <= MaxData
	}
	return fits && longest <= MaxData && len(entering.data()) <= MaxData
}

// eachPut calls do for the places and the data of the tokens that an outcome puts with data of
// their own.
func (o *outcome) eachPut(do func(place int32, data []byte)) {
	for k := range o.puts {
		do(o.puts[k].Place, o.puts[k].Data)
	}
	for _, v := range o.values {
		do(v.Place, v.data)
	}
}
