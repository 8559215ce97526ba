// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"math"
	"math/bits"

	"github.com/pnagent/pnagent/petri"
)

// MaxGuarded is the maximum number of guarded branches of an inclusive split for
// which every set is followed.
const MaxGuarded = 10

// choices are the sets of branches with which an inclusive split is followed.
type choices struct {
	sets []uint64 // bits in the order of Tables.Branches
	cut  bool     // there are more sets
	met  bool     // it was enabled in a visited marking
}

// splits returns the choices of every transition, nil if none is a split.
func splits(t *petri.Tables) []choices {
	var all []choices
	for tr := range t.Transitions() {
		if len(t.Branches(tr)) == 0 {
			continue
		}
		if all == nil {
			all = make([]choices, t.Transitions())
		}
		all[tr] = choicesOf(t.BranchMasks(tr))
	}
	return all
}

// choicesOf returns the sets that a split can take: always with every set of guarded,
// and otherwise instead of the empty set.
func choicesOf(always, guarded, otherwise uint64) choices {
	var c choices
	add := func(set uint64) {
		if set |= always; set == 0 {
			set = otherwise
		}
		if set != 0 {
			c.sets = append(c.sets, set)
		}
	}
	add(0)
	if c.cut = bits.OnesCount64(guarded) > MaxGuarded; c.cut {
		for rest := guarded; rest != 0; rest &= rest - 1 {
			add(rest & -rest)
		}
		add(guarded)
		return c
	}
	for set := -guarded & guarded; set != 0; set = (set - guarded) & guarded { // counts up in the bits of guarded
		add(set)
	}
	return c
}

// followBranches follows an enabled split from a marking with each of its choices.
func (s *space) followBranches(tr int, from []uint32) {
	c := &s.choices[tr]
	c.met = true
	if c.cut {
		s.stop(CutBranches)
	}
	for _, set := range c.sets {
		if fire(s.tables, tr, from, s.next) && putBranches(s.tables.Branches(tr), set, s.next) {
			s.reach(s.next)
		} else {
			s.stop(Overflow)
		}
	}
}

// putBranches adds the tokens of the chosen branches and reports whether they fit.
func putBranches(branches []petri.BranchArc, set uint64, m []uint32) bool {
	for i := range branches {
		b := &branches[i]
		if set>>i&1 == 0 {
			continue
		}
		if m[b.Place] > math.MaxUint32-b.Put {
			return false
		}
		m[b.Place] += b.Put
	}
	return true
}

// chosen returns the places of some branches of a transition.
func (s *space) chosen(tr int, set uint64) (places []int32) {
	for i, b := range s.tables.Branches(tr) {
		if set>>i&1 != 0 {
			places = append(places, b.Place)
		}
	}
	return places
}

// cut returns the enabled splits that were not followed with every set.
func (s *space) cut() (transitions []int) {
	for tr := range s.choices {
		if s.choices[tr].cut && s.choices[tr].met {
			transitions = append(transitions, tr)
		}
	}
	return transitions
}
