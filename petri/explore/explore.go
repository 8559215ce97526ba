// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"math"
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// Result describes the visited state space of a net.
type Result struct {
	Markings  int      // visited, including the initial one
	Complete  bool     // all that were looked for: there are no others
	Stopped   Reason   // why it is not complete
	Deadlocks int      // dead markings among them, in which no transition is enabled, without the proper ends
	Ends      int      // proper ends: dead markings with all tokens in final places, see petri.Net.FinalPlaces
	Bounds    []uint32 // by place: the most tokens
	// Path is a shortest sequence of transitions to a deadlock, or nil if there is
	// none. It is empty, not nil, if the initial marking is one.
	Path []int
	Dead []uint32 // the marking at its end, by place
	// Branches has, by step of Path, the places of the branches that an
	// inclusive split took, in the order of its arcs; nil for another
	// transition. It is nil if no step of Path is a split.
	Branches [][]int32
	// Cut is the indices of the enabled inclusive splits of which not every set of
	// branches was followed.
	Cut []int
	// Together is the indices of the scopes (in petri.Net.Scopes) that had several runs at
	// one time, which the visit takes together: then markings can be missing, and markings
	// that were visited need not be reachable.
	Together []int
	// With Options.Graph:
	Graph *Graph // nil if there was no memory for it
	Fires []bool // by transition: it can fire in a visited marking
}

// Reason is why a visit is not complete.
type Reason string

// The reasons. If there are several, the first that occurred counts.
const (
	AllVisited  Reason = ""
	MaxMarkings Reason = "markings"    // Options.Markings
	MaxMemory   Reason = "memory"      // Options.Memory
	Interrupted Reason = "interrupted" // Options.Continue returned false
	Overflow    Reason = "overflow"    // a place would have more than 4294967295 tokens
	CutBranches Reason = "branches"    // see Result.Cut
	SeveralRuns Reason = "scopes"      // see Result.Together
	Decided     Reason = "decided"     // Options.Each returned false
)

// Options bound and observe a visit.
type Options struct {
	Markings int   // the most markings to visit; at least 1 is visited
	Memory   int64 // the most bytes for markings; 0 for no bound
	// Reduce visits only markings that are needed to find every dead one. Then the
	// dead markings, the proper ends and the length of the path are those of the
	// full visit, but not the number of markings and the bounds. See Reducible.
	Reduce bool
	// Continue is called for each marking, with the numbers of markings visited and
	// found so far, if it is not nil. The visit stops if it returns false.
	Continue func(visited, found int) bool
	// Each is called with each visited marking, which it must not keep, if it is not
	// nil. dead reports that no transition is enabled. The visit stops if it returns
	// false.
	Each func(marking []uint32, dead bool) bool
	// Graph keeps the markings and the firings between them in Result.Graph. They take
	// no more than half of Memory.
	Graph bool
}

// space is the state of a visit.
type space struct {
	tables  *petri.Tables
	limit   int
	choices []choices // by transition; nil if the net has no splits
	store   *store
	from    rows      // by number of a marking: that of the marking before it
	reduce  *stubborn // nil for all transitions
	scopes  *scopes   // nil if the net has none
	first   Precedence
	begins  []uint32 // see beginning
	graph   *Graph   // nil if it is not kept
	fires   []bool   // nil if it is not kept
	stopped Reason
	closed  bool // no more markings are recorded

	at      uint32   // the number of the marking that is left
	marking []uint32 // that marking
	next    []uint32 // the marking after a firing
}

// Visit visits at most limit markings.
func Visit(t *petri.Tables, limit int) Result { return Explore(t, Options{Markings: limit}) }

// Explore visits markings as the options say.
func Explore(t *petri.Tables, o Options) Result {
	b := &budget{left: math.MaxInt64}
	if o.Memory > 0 {
		b.left = o.Memory
	}
	s := &space{tables: t, limit: max(min(o.Markings, math.MaxInt32), 1), choices: splits(t),
		store: newStore(oneBit(t.Places()), nil, b), from: rows{width: 1}, next: make([]uint32, t.Places()), first: NewPrecedence(t), begins: beginning(t)}
	if o.Reduce && Reducible(t) {
		s.reduce = newStubborn(t)
	}
	if t.Scoped() {
		s.scopes = newScopes(t)
	}
	if o.Graph && s.reduce == nil {
		s.graph, s.fires = newGraph(s, o.Memory), make([]bool, t.Transitions())
	}
	r := Result{Bounds: make([]uint32, t.Places())}
	final, firstDead := t.Net.FinalPlaces(), -1
	s.marking = s.store.marking
	s.reach(t.Initial)
	for at := 0; at < s.from.len; at++ {
		if o.Continue != nil && !o.Continue(at, s.from.len) {
			s.stop(Interrupted)
			break
		}
		s.at, s.marking = uint32(at), s.store.get(uint32(at))
		r.Markings++
		for p, n := range s.marking {
			r.Bounds[p] = max(r.Bounds[p], n)
		}
		dead := !s.leave()
		s.graph.close(s)
		switch {
		case !dead:
		case properEnd(s.marking, final):
			r.Ends++
		default:
			r.Deadlocks++
			if firstDead < 0 {
				firstDead = at
			}
		}
		if o.Each != nil && !o.Each(s.marking, dead) {
			s.stop(Decided)
			break
		}
	}
	r.Stopped, r.Cut, r.Together = s.stopped, s.cut(), s.scopes.together()
	r.Complete, r.Graph, r.Fires = r.Stopped == AllVisited, s.graph, s.fires
	if firstDead >= 0 {
		r.Dead = slices.Clone(s.store.get(uint32(firstDead)))
		r.Path, r.Branches = s.path(uint32(firstDead))
	}
	return r
}

// stop records why the visit is not complete.
func (s *space) stop(why Reason) {
	if s.stopped == AllVisited {
		s.stopped = why
	}
}

// properEnd reports whether all tokens of a marking are in final places.
func properEnd(marking []uint32, final []bool) bool {
	for p, n := range marking {
		if n > 0 && !final[p] {
			return false
		}
	}
	return true
}

// leave fires every transition that can fire in the marking, or those of a stubborn set,
// and reports whether there is one.
func (s *space) leave() (alive bool) {
	if s.reduce != nil {
		enabled := s.reduce.set(s.marking)
		for _, tr := range enabled {
			s.follow(int(tr))
		}
		return len(enabled) > 0
	}
	only := s.first.Only(s.marking)
	for tr := range s.tables.Transitions() {
		if s.first.Fires(tr, s.marking, only) && s.allows(tr) {
			alive = true
			s.follow(tr)
		}
	}
	return alive
}

// follow fires an enabled transition.
func (s *space) follow(tr int) {
	if s.fires != nil {
		s.fires[tr] = true
	}
	from := s.leaves(tr)
	if s.scopes != nil && s.scopes.open(tr, from) {
		s.stop(SeveralRuns)
	}
	switch {
	case s.choices != nil && len(s.choices[tr].sets) > 0:
		s.followBranches(tr, from)
	case fire(s.tables, tr, from, s.next):
		s.reach(s.next)
	default:
		s.stop(Overflow)
	}
}

// reach records a marking unless it is known or the limit is reached. The store may
// hold one marking more than from has: that is the one beyond the limit.
func (s *space) reach(marking []uint32) {
	if s.closed {
		return
	}
	before := s.store.len()
	number, ok := s.store.add(marking)
	switch {
	case ok && s.store.len() == before:
		s.graph.add(s, number)
		return
	case ok && before == s.limit:
		s.stop(MaxMarkings)
	case ok && s.from.add([]uint32{s.at}, s.store.budget):
		if number > 0 {
			s.graph.add(s, number)
		}
		return
	default:
		s.stop(MaxMemory)
	}
	s.closed = true
}

// path returns how a marking was first reached. Markings are numbered breadth first,
// so that no path is shorter.
func (s *space) path(at uint32) (path []int, branches [][]int32) {
	path = []int{}
	split := false
	for ; at > 0; at = s.from.at(at)[0] {
		after := slices.Clone(s.store.get(at))
		s.at = s.from.at(at)[0]
		s.marking = s.store.get(s.at)
		tr, set := s.step(after)
		path = append(path, tr)
		branches = append(branches, s.chosen(tr, set))
		split = split || len(s.tables.Branches(tr)) > 0
	}
	if !split {
		branches = nil
	}
	slices.Reverse(path)
	slices.Reverse(branches)
	return path, branches
}

// step returns the first firing that leads from the marking to another one: its
// transition, and the branches of an inclusive split.
func (s *space) step(to []uint32) (tr int, set uint64) {
	only := s.first.Only(s.marking)
	for tr := range s.tables.Transitions() {
		if !s.first.Fires(tr, s.marking, only) || !s.allows(tr) {
			continue
		}
		sets := []uint64{0}
		if s.choices != nil && len(s.choices[tr].sets) > 0 {
			sets = s.choices[tr].sets
		}
		for _, set := range sets {
			if fire(s.tables, tr, s.leaves(tr), s.next) && putBranches(s.tables.Branches(tr), set, s.next) && slices.Equal(s.next, to) {
				return tr, set
			}
		}
	}
	panic("explore: a marking without a firing that reaches it")
}

// fire writes the marking after a firing and reports whether it fits.
func fire(t *petri.Tables, tr int, m, after []uint32) bool {
	copy(after, m)
	for _, e := range t.Effects(tr) {
		left := uint64(after[e.Place] - e.Take)
		if e.Reset || e.Join && after[e.Place] < e.Take {
			left = 0
		}
		if left+uint64(e.Put) > math.MaxUint32 {
			return false
		}
		after[e.Place] = uint32(left + uint64(e.Put))
	}
	return true
}
