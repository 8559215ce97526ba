// SPDX-License-Identifier: Apache-2.0

package petri

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// The errors of a firing or an injection. Neither changes the marking.
var (
	ErrNotEnabled = errors.New("not enabled")
	ErrOverflow   = errors.New("a place would hold more than 4294967295 tokens")
)

// State is one instance of a net in full form. It is for one goroutine. It takes all runs of
// a scope together, and puts the tokens of an arc for each element once.
type State struct {
	tables    *Tables
	marking   []uint32
	countdown []int32  // by transition: the number of conditions that do not hold
	enabled   []uint64 // a bit for each transition with a countdown of 0 that fires by itself
	joined    bool     // the net has inclusive joins
	gateways  bool     // the net has inclusive joins or splits
}

// NewState returns an instance at the initial marking.
func (t *Tables) NewState() *State {
	s := &State{
		tables:    t,
		marking:   make([]uint32, t.Places()),
		countdown: make([]int32, t.Transitions()),
		enabled:   make([]uint64, (t.Transitions()+63)/64),
		joined:    t.joins != nil,
		gateways:  t.joins != nil || len(t.branches.all) > 0,
	}
	copy(s.marking, t.Initial)
	for tr := range s.countdown {
		if s.joinWaits(int32(tr)) {
			s.countdown[tr]++
		}
		for _, c := range t.Conds(tr) {
			if !c.Holds(s.marking[c.Place]) {
				s.countdown[tr]++
			}
		}
		s.note(int32(tr))
	}
	return s
}

// note updates the set of enabled transitions after a change of a countdown.
func (s *State) note(transition int32) {
	bit := uint64(1) << (transition & 63)
	if s.countdown[transition] == 0 && !s.tables.held[transition] {
		s.enabled[transition>>6] |= bit
	} else {
		s.enabled[transition>>6] &^= bit
	}
}

// Tokens returns the number of tokens of a place.
func (s *State) Tokens(place int) uint32 { return s.marking[place] }

// Marking returns the marking, by place. It is the state's own memory, valid until the
// next change, and read-only.
func (s *State) Marking() []uint32 { return s.marking }

// Enabled reports whether all conditions of a transition hold.
func (s *State) Enabled(transition int) bool { return s.countdown[transition] == 0 }

// Dead reports whether no transition is enabled that fires by itself.
func (s *State) Dead() bool {
	for _, w := range s.enabled {
		if w != 0 {
			return false
		}
	}
	return true
}

// Next returns the enabled transition that fires first: of the highest priority, the
// first at or after turn, cyclically, and, unless order is nil, not before a rival that
// has waited longer (see Order), which it records. It never returns a held transition;
// -1 is no transition.
func (s *State) Next(turn int, order Order) int {
	first := s.first(turn)
	if first < 0 || len(order) == 0 || s.tables.stamp[first] == 0 {
		return first
	}
	return s.tables.Choose(first, order, s.fires)
}

// fires reports whether a transition is enabled and fires by itself.
func (s *State) fires(transition int) bool {
	return s.enabled[transition>>6]>>(transition&63)&1 != 0
}

// first is Next without rivals.
func (s *State) first(turn int) int {
	if len(s.enabled) == 0 {
		return -1
	}
	pick := choice{tables: s.tables, best: -1, prio: math.MinInt32}
	word := turn >> 6
	below := uint64(1)<<(turn&63) - 1
	if pick.among(word, s.enabled[word]&^below) {
		return pick.best
	}
	for w := word + 1; w < len(s.enabled); w++ {
		if pick.among(w, s.enabled[w]) {
			return pick.best
		}
	}
	for w := range word {
		if pick.among(w, s.enabled[w]) {
			return pick.best
		}
	}
	pick.among(word, s.enabled[word]&below)
	return pick.best
}

// Any returns one of the enabled transitions of the highest priority, each with the same
// probability if random is uniform; -1 is no transition.
func (s *State) Any(random uint64) int {
	best := s.first(0)
	if best < 0 {
		return best
	}
	prio, n := s.tables.prio[best], 0
	s.each(prio, func(int) bool { n++; return true })
	k := int(random % uint64(n))
	s.each(prio, func(tr int) bool {
		best = tr
		k--
		return k >= 0
	})
	return best
}

// each calls do for every enabled transition of a priority, in order, while it
// returns true.
func (s *State) each(prio int32, do func(int) bool) {
	for w, set := range s.enabled {
		for ; set != 0; set &= set - 1 {
			if tr := w<<6 + bits.TrailingZeros64(set); s.tables.prio[tr] == prio && !do(tr) {
				return
			}
		}
	}
}

// choice finds the first transition of the highest priority.
type choice struct {
	tables *Tables
	best   int
	prio   int32
}

// among checks the transitions of one word of the enabled set, and reports whether no
// later one can fire first.
func (c *choice) among(word int, set uint64) bool {
	for ; set != 0; set &= set - 1 {
		tr := word<<6 + bits.TrailingZeros64(set)
		if p := c.tables.prio[tr]; p > c.prio {
			c.best, c.prio = tr, p
			if p == c.tables.topPrio {
				return true
			}
		}
	}
	return false
}

// Fire fires a transition: it takes from all inputs, then puts to all outputs, including
// all branches of an inclusive split. If it returns ErrNotEnabled or ErrOverflow, it
// changes nothing.
func (s *State) Fire(transition int) error {
	if s.countdown[transition] != 0 {
		return fmt.Errorf("transition %q: %w", s.tables.Net.Transitions[transition].ID, ErrNotEnabled)
	}
	if s.gateways {
		return s.fireGateway(transition, math.MaxUint64)
	}
	effects := s.tables.Effects(transition)
	for i := range effects {
		if e := &effects[i]; uint64(e.after(s.marking[e.Place]))+uint64(e.Put) > math.MaxUint32 {
			return s.overflow(transition, e.Place)
		}
	}
	for i := range effects {
		e := &effects[i]
		s.set(int(e.Place), e.after(s.marking[e.Place])+e.Put)
	}
	return nil
}

// FireBranches is Fire with only the branches of an inclusive split whose bits, in the
// order of Tables.Branches, are set. The caller decides by the tokens' data: see
// Tables.BranchMasks.
func (s *State) FireBranches(transition int, branches uint64) error {
	if s.countdown[transition] != 0 || !s.gateways {
		return s.Fire(transition)
	}
	return s.fireGateway(transition, branches)
}

func (s *State) overflow(transition int, place int32) error {
	return fmt.Errorf("transition %q, place %q: %w", s.tables.Net.Transitions[transition].ID, s.tables.Net.Places[place].ID, ErrOverflow)
}

// fireGateway is FireBranches for an enabled transition of a net with inclusive
// gateways.
func (s *State) fireGateway(transition int, branches uint64) error {
	effects, split := s.tables.Effects(transition), s.tables.Branches(transition)
	if place := s.tooFull(effects, split, branches); place >= 0 {
		return s.overflow(transition, place)
	}
	for i := range effects {
		e := &effects[i]
		s.set(int(e.Place), e.afterJoin(s.marking[e.Place])+e.Put)
	}
	for i, b := range split {
		if branches>>i&1 != 0 {
			s.set(int(b.Place), s.marking[b.Place]+b.Put)
		}
	}
	return nil
}

// tooFull returns a place that a firing would overflow, or -1.
func (s *State) tooFull(effects []Effect, split []BranchArc, branches uint64) int32 {
	for i := range effects {
		e := &effects[i]
		if uint64(e.afterJoin(s.marking[e.Place]))+uint64(e.Put)+put(split, branches, e.Place) > math.MaxUint32 {
			return e.Place
		}
	}
	for _, b := range split {
		affected := slices.ContainsFunc(effects, func(e Effect) bool { return e.Place == b.Place })
		if !affected && uint64(s.marking[b.Place])+put(split, branches, b.Place) > math.MaxUint32 {
			return b.Place
		}
	}
	return -1
}

// put returns the number of tokens that the chosen branches put into a place.
func put(split []BranchArc, branches uint64, place int32) (n uint64) {
	for i := range split {
		if split[i].Place == place && branches>>i&1 != 0 {
			n += uint64(split[i].Put)
		}
	}
	return n
}

// after returns what is left of m tokens after the effect, which is not of a join arc,
// takes its tokens.
func (e *Effect) after(m uint32) uint32 {
	if e.Reset {
		return 0
	}
	return m - e.Take
}

// afterJoin is after for any effect.
func (e *Effect) afterJoin(m uint32) uint32 {
	if e.Join && m < e.Take {
		return 0
	}
	return e.after(m)
}

// Add puts n tokens into a place from outside, or returns ErrOverflow.
func (s *State) Add(place int, n uint32) error {
	if uint64(s.marking[place])+uint64(n) > math.MaxUint32 {
		return fmt.Errorf("place %q: %w", s.tables.Net.Places[place].ID, ErrOverflow)
	}
	s.set(place, s.marking[place]+n)
	return nil
}

// Set makes a place hold m tokens.
func (s *State) Set(place int, m uint32) { s.set(place, m) }

func (s *State) set(place int, m uint32) {
	was := s.marking[place]
	if was == m {
		return
	}
	if s.joined && (was == 0 || m == 0) { // joins depend only on whether there is a token
		s.setForJoins(place, m)
	}
	s.marking[place] = m
	watchers := s.tables.watch.of(place)
	for i := range watchers {
		w := &watchers[i]
		c := Cond{Lo: w.Lo, Hi: w.Hi}
		if held, holds := c.Holds(was), c.Holds(m); held != holds {
			if holds {
				s.countdown[w.Transition]--
			} else {
				s.countdown[w.Transition]++
			}
			s.note(w.Transition)
		}
	}
}

// setForJoins sets the tokens of a place and updates the inclusive joins that look at
// it.
func (s *State) setForJoins(place int, m uint32) {
	joins := s.tables.Joins(place)
	for _, tr := range joins {
		if s.joinWaits(tr) {
			s.countdown[tr]--
		}
	}
	s.marking[place] = m
	for _, tr := range joins {
		if s.joinWaits(tr) {
			s.countdown[tr]++
		}
		s.note(tr)
	}
}

// joinWaits reports whether a transition is an inclusive join whose test does not hold,
// which is one more condition in its countdown.
func (s *State) joinWaits(transition int32) bool {
	j := s.tables.Join(int(transition))
	return j != nil && !j.Ready(Marked(s.marking))
}

// Awaits returns the empty places of an inclusive join for which it waits; none for
// another transition, or if its test holds.
func (s *State) Awaits(transition int) []int32 {
	j := s.tables.Join(transition)
	if j == nil || j.Ready(Marked(s.marking)) {
		return nil
	}
	return j.Awaits(Marked(s.marking))
}

// Unmet returns the conditions of a transition that do not hold. Awaits returns what an
// inclusive join waits for.
func (s *State) Unmet(transition int) []Cond {
	var unmet []Cond
	for _, c := range s.tables.Conds(transition) {
		if !c.Holds(s.marking[c.Place]) {
			unmet = append(unmet, c)
		}
	}
	return unmet
}
