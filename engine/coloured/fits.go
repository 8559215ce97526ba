// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"math"
	"slices"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// room reports whether the tokens that a firing puts fit, or which place would
// overflow. The tokens that it takes are still in their places: those in taken
// if picked is set, else the oldest.
func (s *Shard) room(in *instance, f *frame, r *rule, o *outcome, picked bool, taken []Placed) (place int32, fits bool) {
	if s.frames != nil && !s.framesLeft(in, uint64(len(r.effects)+len(r.branches)+len(o.puts)+MaxEach)) {
		return stats.NoPlace, false
	}
	byArcs := o.puts == nil && o.values == nil
	for k := range r.effects {
		if e := &r.effects[k]; (e.Put > 0 || !byArcs) && !s.fits(in, f, r, e.Place, o, picked, taken) {
			return e.Place, false
		}
	}
	for _, b := range r.branches {
		if !s.fits(in, f, r, b.Place, o, picked, taken) {
			return b.Place, false
		}
	}
	if t := o.turn; t != nil && !t.ends && t.runs == 0 {
		for _, p := range t.out {
			if _, total := s.amount(in, f, p.place); total+p.n < total {
				return p.place, false
			}
		}
	}
	return stats.NoPlace, true
}

func (s *Shard) fits(in *instance, f *frame, r *rule, place int32, o *outcome, picked bool, taken []Placed) bool {
	var available, total uint32
	if s.frames == nil {
		available, total = in.piles.count(place)
	} else if home := s.around(f, place); home.scopeID() == s.Tables.ScopeOf(place) {
		available, total = home.in(in).count(place)
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
	for k, v := range o.values {
		if a := &(*r.inscribed)[k]; a.Place == place {
			more += uint64(a.Put) * uint64(len(v))
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

// fitsAll reports whether tokens can carry the variables that a firing in a frame writes.
// taken is nil if it takes the oldest tokens.
func (s *Shard) fitsAll(in *instance, f *frame, r *rule, o *outcome, c candidate, taken []Placed) bool {
	if !s.shared || o.data == nil && o.values == nil && o.puts == nil {
		return true
	}
	sum := len(o.data)
	for k := range o.puts {
		sum += len(o.puts[k].Data)
	}
	for _, values := range o.values {
		for _, v := range values {
			sum += len(v)
		}
	}
	if 6*(sum+s.longest) <= MaxData { // the longest that a byte of a name can become is 6
		return true
	}
	took := s.taking(in, f, r, c, taken)
	out, entering := s.putting(f, r, o, took)
	x := s.sharing(in, took, out, entering)
	fits, passes := true, o.passes(r)
	s.eachData(in, func(h held) {
		for k := range took {
			if t := &took[k]; !passes && t.spot == h.spot && t.id >= h.id && t.id-h.id < uint64(h.n) {
				h.n -= min(h.n, t.n)
			}
		}
		fits = fits && (h.n == 0 || len(x.after(h.data, h.spot)) <= max(MaxData, len(h.data)))
	})
	for _, h := range out {
		fits = fits && len(x.after(h.data, h.spot)) <= MaxData
	}
	for k := range entering {
		fits = fits && len(x.afterEntering(&entering[k])) <= MaxData
	}
	return fits
}

// passes reports whether a firing puts a token with the data of those that it takes.
func (o *outcome) passes(r *rule) bool {
	if o.puts != nil {
		return slices.ContainsFunc(o.puts, func(p Put) bool { return p.Moved != 0 })
	}
	if o.data != nil {
		return false
	}
	for k, b := range r.branches {
		if o.mask>>k&1 != 0 && b.Put > 0 {
			return true
		}
	}
	return slices.ContainsFunc(r.effects, func(e petri.Effect) bool { return e.Put > 0 })
}

// eachData calls do for all lots of an instance, including tokens in flight.
func (s *Shard) eachData(in *instance, do func(held)) {
	for f := range s.each(in) {
		for k := range *f.in(in) {
			p := &(*f.in(in))[k]
			for _, l := range s.standing(in, f, p) {
				do(held{l, spot{p.place, f.id()}})
			}
		}
	}
}

// taking returns the tokens that a firing will take.
func (s *Shard) taking(in *instance, f *frame, r *rule, c candidate, taken []Placed) (took []held) {
	for k := range taken {
		took = append(took, held{lot{taken[k].Token.ID, taken[k].Token.Injected, taken[k].Token.Data, 1}, taken[k].at()})
	}
	if c.picked() || r == nil {
		return took
	}
	for k := range r.effects {
		e := &r.effects[k]
		home, left := s.around(f, e.Place), e.Take
		if p := home.in(in).pile(e.Place); p != nil {
			for _, l := range p.left() {
				if l.n = min(l.n, left); l.n > 0 {
					took = append(took, held{l, spot{e.Place, home.id()}})
					left -= l.n
				}
			}
		}
	}
	return took
}

// putting returns the tokens with new data that a firing in a frame will put: into runs that
// are open, and entering others, see sharing.
func (s *Shard) putting(f *frame, r *rule, o *outcome, took []held) (out, entering []held) {
	data := o.data
	for k := range took {
		data = s.over(took[k].place, took[k].data, data)
	}
	put := func(place int32, data []byte) {
		home := s.around(f, place)
		to := &out
		if home.scopeID() != s.Tables.ScopeOf(place) {
			to = &entering
		}
		*to = append(*to, held{lot{data: data}, spot{place, home.id()}})
	}
	if o.data != nil && o.puts == nil {
		for k := range r.effects {
			if r.effects[k].Put > 0 {
				put(r.effects[k].Place, data)
			}
		}
		for k, b := range r.branches {
			if o.mask>>k&1 != 0 && b.Put > 0 {
				put(b.Place, data)
			}
		}
	}
	for k, values := range o.values {
		for _, v := range values {
			put((*r.inscribed)[k].Place, v)
		}
	}
	for k := range o.puts {
		put(o.puts[k].Place, o.puts[k].Data)
	}
	return out, entering
}
