// SPDX-License-Identifier: Apache-2.0

// Package petritest holds what tests of token games share: [Reference], a simple
// interpreter that is independent of the fast forms, and random nets with and without
// inclusive gateways.
package petritest

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// Reference plays a net and checks every arc in each step.
type Reference struct {
	Net     *petri.Net
	Marking map[string]uint64

	chosen map[string]int // when each transition was last chosen before a rival
	last   int

	// Computed once for the net.
	into  map[string][]petri.Arc // by transition: the arcs that lead to it
	rival []verdict              // by two transitions
}

// verdict is whether two transitions are rivals.
type verdict uint8

const (
	unknown verdict = iota
	no
	yes
)

// NewReference returns the net at its initial marking.
func NewReference(n *petri.Net) *Reference {
	r := &Reference{Net: n, Marking: map[string]uint64{}, chosen: map[string]int{}}
	for _, p := range n.Places {
		r.Marking[p.ID] = uint64(p.Initial)
	}
	return r
}

// arcs returns the arcs that lead to a transition.
func (r *Reference) arcs(transition string) []petri.Arc {
	if r.into == nil {
		r.into = map[string][]petri.Arc{}
		for _, a := range r.Net.Arcs {
			r.into[a.Target] = append(r.into[a.Target], a)
		}
	}
	return r.into[transition]
}

// weight adds up the arcs of a kind from a place to a transition.
func (r *Reference) weight(place, transition string, kind petri.ArcKind) (sum uint64) {
	for _, a := range r.arcs(transition) {
		if a.Source == place && a.Kind == kind {
			sum += uint64(a.Weight)
		}
	}
	return sum
}

// Enabled reports whether every input condition of a transition holds.
func (r *Reference) Enabled(transition string) bool {
	for _, a := range r.arcs(transition) {
		switch m := r.Marking[a.Source]; a.Kind {
		case petri.Normal, petri.Read:
			if m < r.weight(a.Source, transition, a.Kind) {
				return false
			}
		case petri.Inhibitor:
			if m >= uint64(a.Weight) {
				return false
			}
		}
	}
	return len(r.Awaits(transition)) == 0
}

// HeldBack reports whether a transition has to wait because an urgent one is enabled that
// fires for any data.
func (r *Reference) HeldBack(transition string) bool {
	urgent, own := false, false
	for _, t := range r.Net.Transitions {
		if t.Priority < petri.Urgent {
			continue
		}
		own = own || t.ID == transition
		branches, free := 0, 0
		for _, a := range r.Net.Arcs {
			if a.Source == t.ID && a.Kind == petri.Branch {
				branches++
				if a.Guard == "" {
					free++
				}
			}
		}
		sure := t.Guard == "" && t.Trigger.Kind == petri.TriggerNone && (branches == 0 || free > 0)
		urgent = urgent || sure && !r.Source(t.ID) && r.Enabled(t.ID)
	}
	return urgent && !own
}

// Urgently makes some transitions of a net urgent, and gives some of these a guard or a
// trigger.
func Urgently(r *rand.Rand, n *petri.Net) *petri.Net {
	for i := range n.Transitions {
		if t := &n.Transitions[i]; r.IntN(3) == 0 {
			t.Priority = petri.Urgent
			switch r.IntN(6) {
			case 0:
				t.Guard = "ok"
			case 1:
				t.Trigger.Kind = petri.TriggerEvent
			}
		}
	}
	return n
}

// Source reports whether a transition has no inputs.
func (r *Reference) Source(transition string) bool { return len(r.arcs(transition)) == 0 }

// Final reports whether no transition takes tokens from a place.
func (r *Reference) Final(place string) bool {
	return !slices.ContainsFunc(r.Net.Arcs, func(a petri.Arc) bool {
		return a.Source == place && (a.Kind == petri.Normal || a.Kind == petri.Join || a.Kind == petri.Reset)
	})
}

// Fire takes from all inputs, then puts to all outputs including all branches. It
// reports whether the transition was enabled and no place overflows.
func (r *Reference) Fire(transition string) bool {
	return r.FireBranches(transition, func(int) bool { return true })
}

// FireBranches is Fire with only those branch arcs, by index in the net, that
// are taken.
func (r *Reference) FireBranches(transition string, taken func(arc int) bool) bool {
	if !r.Enabled(transition) {
		return false
	}
	next := maps.Clone(r.Marking)
	for _, a := range r.arcs(transition) {
		if a.Kind == petri.Normal {
			next[a.Source] -= uint64(a.Weight)
		}
	}
	for _, p := range r.joined(transition) {
		if next[p] > 0 {
			next[p]--
		}
	}
	for _, a := range r.arcs(transition) {
		if a.Kind == petri.Reset {
			next[a.Source] = 0
		}
	}
	for i, a := range r.Net.Arcs {
		if a.Source == transition && (a.Kind != petri.Branch || taken(i)) {
			if next[a.Target] += uint64(a.Weight); next[a.Target] > math.MaxUint32 {
				return false
			}
		}
	}
	r.Marking = next
	return true
}

// Next returns the index of the enabled transition that fires first, or -1: of the
// highest priority, the first at or after turn; and while an enabled rival of it was
// not chosen for longer, that rival.
func (r *Reference) Next(turn int) int {
	best := r.first(turn)
	if best < 0 {
		return best
	}
	contested := false
	for {
		next := best
		for i, t := range r.Net.Transitions {
			if !r.rivals(best, i) || !r.Enabled(t.ID) {
				continue
			}
			contested = true
			if r.chosen[t.ID] < r.chosen[r.Net.Transitions[next].ID] {
				next = i
			}
		}
		if next == best {
			break
		}
		best = next
	}
	if contested {
		r.last++
		r.chosen[r.Net.Transitions[best].ID] = r.last
	}
	return best
}

func (r *Reference) first(turn int) int {
	best := -1
	for i := range r.Net.Transitions {
		k := (turn + i) % len(r.Net.Transitions)
		t := &r.Net.Transitions[k]
		if r.Enabled(t.ID) && !r.Source(t.ID) && (best < 0 || t.Priority > r.Net.Transitions[best].Priority) {
			best = k
		}
	}
	return best
}

// rivals reports whether two transitions are rivals.
func (r *Reference) rivals(i, j int) bool {
	if r.rival == nil {
		r.rival = make([]verdict, len(r.Net.Transitions)*len(r.Net.Transitions))
	}
	known := &r.rival[i*len(r.Net.Transitions)+j]
	if *known == unknown {
		*known = no
		if r.compete(i, j) {
			*known = yes
		}
	}
	return *known == yes
}

func (r *Reference) compete(i, j int) bool {
	a, b := r.Net.Transitions[i], r.Net.Transitions[j]
	return i != j && a.Priority == b.Priority && !r.Source(a.ID) && !r.Source(b.ID) &&
		(r.mayDisable(a.ID, b.ID) || r.mayDisable(b.ID, a.ID))
}

// mayDisable reports whether firing t can break a condition of u: t takes tokens from a
// place that u needs or joins, or puts tokens into one that inhibits u or for which a
// join waits.
func (r *Reference) mayDisable(t, u string) bool {
	for _, p := range r.Net.Places {
		needs, inhibits, joins := false, false, false
		for _, a := range r.Net.Arcs {
			if a.Source == p.ID && a.Target == u {
				needs = needs || a.Kind == petri.Normal || a.Kind == petri.Read
				inhibits = inhibits || a.Kind == petri.Inhibitor
				joins = joins || a.Kind == petri.Join
			}
		}
		lowers, raises := r.changes(t, p.ID)
		if lowers && (needs || joins) || raises && (inhibits || !joins && r.leads(p.ID, r.joined(u), u)) {
			return true
		}
	}
	return false
}

// changes reports whether a firing can leave a place with fewer tokens, or with more. A
// branch may be taken or not.
func (r *Reference) changes(transition, place string) (lowers, raises bool) {
	take := 0
	put := 0
	joins := 0
	resets := false
	branches := false
	for _, a := range r.Net.Arcs {
		switch {
		case a.Source == place && a.Target == transition && a.Kind == petri.Normal:
			take += int(a.Weight)
		case a.Source == place && a.Target == transition && a.Kind == petri.Join:
			joins++
		case a.Source == place && a.Target == transition && a.Kind == petri.Reset:
			resets = true
		case a.Source == transition && a.Target == place && a.Kind == petri.Branch:
			branches = true
		case a.Source == transition && a.Target == place:
			put += int(a.Weight)
		}
	}
	return resets || take+joins > put, branches || put > take
}
