// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"cmp"
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// rule is a transition in the form in which it is played.
type rule struct {
	*Binding
	rank     uint16 // 0 for the highest priority
	held     bool   // it is delayed or manual, so it does not fire at once
	preempts bool
	throws   bool
	source   bool // it has no inputs
	// A permanent rejection by the guard is an incident.
	alternative bool
	single      bool // its only condition is a token in its trigger
	oldest      bool // it takes the oldest tokens, whatever they carry
	conds       []petri.Cond
	effects     []petri.Effect
	outputs     []int32 // the places of its output arcs
	reach       []int32 // those, and into which it puts tokens for a loop
	branches    []petri.BranchArc
	join        *petri.JoinTest
	values      bool        // it evaluates something before it fires: see valued
	in          *exchange   // what a run gets that it begins; nil for nothing
	outs        []*exchange // what runs give that it ends, or that something leaves
	begins      *loop       // of which it begins the activity; nil for none
	ends        *loop       // of which it ends a run; nil for none
	sights      []sight
}

// sight is the tokens of one place that a transition tests or takes.
type sight struct {
	place      int32
	show, take uint32 // it tests the show oldest tokens and takes the first take of them
	join       bool   // of a join arc: the last of show is optional
}

// sights returns the sights of a transition, by place.
func sights(t *petri.Tables, tr int) []sight {
	var out []sight
	for _, c := range t.Conds(tr) {
		if c.Lo > 0 {
			out = append(out, sight{place: c.Place, show: c.Lo})
		}
	}
	for _, e := range t.Effects(tr) {
		if e.Take == 0 {
			continue
		}
		k := slices.IndexFunc(out, func(s sight) bool { return s.place == e.Place })
		if k < 0 {
			k = len(out)
			out = append(out, sight{place: e.Place})
		}
		out[k].show, out[k].take, out[k].join = max(out[k].show, e.Take), e.Take, e.Join
	}
	slices.SortFunc(out, func(a, b sight) int { return cmp.Compare(a.place, b.place) })
	return out
}

// looksAt reports whether a change of the tokens in a place can enable or disable the transition.
func (r *rule) looksAt(place int32) bool {
	return slices.ContainsFunc(r.conds, func(c petri.Cond) bool { return c.Place == place }) ||
		slices.ContainsFunc(r.sights, func(v sight) bool { return v.place == place }) ||
		r.join != nil && r.join.Reach[place] != 0
}

// compile fills in the rules.
func (s *Shard) compile(bindings []Binding) {
	t := s.Tables
	s.rules = make([]rule, t.Transitions())
	s.users, s.wide, s.inward = make([][]int32, t.Places()), make([]bool, t.Places()), make([]bool, t.Places())
	for tr, rank := range s.Ranks() {
		r := rule{Binding: &bindings[tr], rank: rank, held: t.Held(tr),
			preempts: t.Net.Transitions[tr].Preempts, source: t.Source(tr), throws: t.Net.Transitions[tr].Throws.Kind != petri.EventNone, alternative: t.Net.Transitions[tr].Alternative, conds: t.Conds(tr), join: t.Join(tr), sights: sights(t, tr)}
		r.effects, r.branches = t.Effects(tr), t.Branches(tr)
		for _, e := range r.effects {
			if e.Put > 0 {
				r.outputs = append(r.outputs, e.Place)
			}
		}
		for _, b := range r.branches {
			r.outputs = append(r.outputs, b.Place)
		}
		r.reach = slices.Clip(r.outputs)
		r.single = len(r.conds) == 1 && r.conds[0] == (petri.Cond{Place: r.conds[0].Place, Lo: 1}) && r.join == nil && !r.preempts
		r.oldest = r.Guard == nil && r.Until == nil && r.Event == nil && r.Branches == nil && !r.Action && !r.preempts
		s.rules[tr] = r
		s.look(tr, &r)
		if s.Elsewhere(tr) {
			continue
		}
		for _, v := range r.sights {
			s.users[v.place] = append(s.users[v.place], int32(tr))
		}
	}
	s.compileScopes()
}

// look notes the places at which a transition looks from another scope that is not around.
func (s *Shard) look(tr int, r *rule) {
	if !s.Tables.Scoped() {
		return
	}
	acts := s.Tables.ActsIn(tr)
	at := func(place int32) {
		scope := s.Tables.ScopeOf(place)
		s.inward[place] = s.inward[place] || !s.Tables.Encloses(acts, scope)
		s.wide[place] = s.wide[place] || !s.Tables.Encloses(acts, scope) && !s.Tables.Encloses(scope, acts)
	}
	s.asks = s.asks || r.held && r.Guard != nil
	for _, c := range r.conds {
		at(c.Place)
	}
	for _, v := range r.sights {
		at(v.place)
	}
	if r.join != nil {
		for place := range s.wide {
			if r.looksAt(int32(place)) {
				at(int32(place))
			}
		}
	}
}

// holds reports whether the tokens enable a transition in a frame. It does not ask the guard.
func (s *Shard) holds(in *instance, f *frame, t int) bool {
	r := &s.rules[t]
	for _, c := range r.conds {
		if !s.met(in, f, r, c) {
			return false
		}
	}
	return r.join == nil || s.joins(in, f, r.join)
}

// met reports whether one condition holds: enough tokens that can be taken, and not too many in all.
func (s *Shard) met(in *instance, f *frame, r *rule, c petri.Cond) bool {
	available, total := s.amount(in, f, c.Place)
	if c.Hi > 0 && total >= c.Hi {
		return false
	}
	if available >= c.Lo {
		return true
	}
	return r.preempts && total >= c.Lo && r.takes(c.Place) && uint64(available)+uint64(len(s.flights(in, spot{c.Place, s.around(f, c.Place).number}))) >= uint64(c.Lo)
}

func (r *rule) takes(place int32) bool {
	return slices.ContainsFunc(r.sights, func(v sight) bool { return v.place == place && v.take > 0 })
}

// joins reports whether an inclusive join is ready, and none of its places holds only tokens in flight.
func (s *Shard) joins(in *instance, f *frame, j *petri.JoinTest) bool {
	for _, place := range j.Places {
		if available, total := s.amount(in, f, place); available == 0 && total > 0 {
			return false
		}
	}
	return j.Ready(f.marked)
}

// flights returns the tokens of a spot that are in flight and that a transition which preempts may take,
// oldest first. The next call reuses the memory.
func (s *Shard) flights(in *instance, at spot) []Placed {
	s.flown = s.flown[:0]
	for id, h := range s.inFlight(in) {
		if h.spot == at && !s.rules[s.notes.all[id].transition].preempts {
			s.flown = h.single(s.flown, 1)
		}
	}
	slices.SortFunc(s.flown, func(a, b Placed) int {
		return cmp.Or(cmp.Compare(a.Token.Injected, b.Token.Injected), cmp.Compare(a.Token.ID, b.Token.ID))
	})
	return s.flown
}
