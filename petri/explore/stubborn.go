// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// stubborn computes stubborn sets (A. Valmari, Stubborn Sets for Reduced State Space
// Generation, 1991). A set of transitions is stubborn in a marking if
//
//   - one of them is enabled,
//   - one that is disabled stays so until another of the set fires: the set has all
//     transitions that can make one of its false conditions true, and
//   - one that is enabled stays so while others fire, and each sequence of others leads
//     to the same marking before and after it: the set has all transitions that can
//     disable it, that it can disable, and whose effect depends on the order.
//
// To fire only the enabled ones of a stubborn set finds every dead marking: each path to
// one has a transition of the set, and the first of these can as well fire at once. So
// the path has a permutation among the visited ones, and shortest paths stay shortest.
// The conditions here consider the direction in which a firing can change a place, so
// that they hold for weights, read, inhibitor and reset arcs.
type stubborn struct {
	tables *petri.Tables
	up     [][]int32 // by place: the transitions that can add tokens
	down   [][]int32 // by place: those that can remove tokens
	resets [][]int32 // by place: those that empty it

	in      []uint32 // by transition: the closure that it was last added to
	closure uint32
	queue   []int32 // the transitions of the closure
	enabled []int32 // in the marking
	isOn    []bool  // by transition: enabled in the marking
	chosen  []int32
	work    int
}

// maxWork bounds the transitions that are looked at for one marking, after the first
// seed. All enabled transitions are a stubborn set.
const maxWork = 1 << 16

// Reducible reports whether Options.Reduce can be obeyed. It cannot for inclusive
// gateways: tokens in any place can make a join wait. It cannot for scopes either: a marking
// that is left out may be the one in which a scope has several runs. It cannot for urgent
// transitions: each transition that enables one holds back all others. It cannot for the source
// transitions of a process, which fire only first. Other priorities, timers
// and guards do not matter, because a visit ignores them.
func Reducible(t *petri.Tables) bool {
	if t.Scoped() || len(NewPrecedence(t).certain) > 0 {
		return false
	}
	for tr := range t.Transitions() {
		if t.Source(tr) && beginning(t) != nil || t.Join(tr) != nil || len(t.Branches(tr)) > 0 {
			return false
		}
	}
	return true
}

func newStubborn(t *petri.Tables) *stubborn {
	s := &stubborn{tables: t, up: make([][]int32, t.Places()), down: make([][]int32, t.Places()), resets: make([][]int32, t.Places()),
		in: make([]uint32, t.Transitions()), isOn: make([]bool, t.Transitions())}
	for tr := range t.Transitions() {
		for _, e := range t.Effects(tr) {
			up, down := directions(e)
			if up {
				s.up[e.Place] = append(s.up[e.Place], int32(tr))
			}
			if down {
				s.down[e.Place] = append(s.down[e.Place], int32(tr))
			}
			if e.Reset {
				s.resets[e.Place] = append(s.resets[e.Place], int32(tr))
			}
		}
	}
	return s
}

// directions reports whether a firing can add tokens to a place and remove some.
func directions(e petri.Effect) (up, down bool) {
	if e.Reset {
		return e.Put > 0, true
	}
	return e.Put > e.Take, e.Put < e.Take
}

// set returns the enabled transitions of a stubborn set, in ascending order. It is
// empty if and only if no transition is enabled. It is valid until the next call.
func (s *stubborn) set(m []uint32) []int32 {
	s.enabled = s.enabled[:0]
	for tr := range s.isOn {
		s.isOn[tr] = s.tables.EnabledIn(m, tr)
		if s.isOn[tr] {
			s.enabled = append(s.enabled, int32(tr))
		}
	}
	best := s.enabled
	s.work = 0
	for _, seed := range s.enabled {
		if len(best) <= 1 || s.work > maxWork {
			break
		}
		if on := s.close(seed, m, len(best)); on != nil {
			s.chosen = append(s.chosen[:0], on...)
			best = s.chosen
		}
	}
	slices.Sort(best)
	return best
}

// close returns the enabled transitions of the smallest stubborn set that it finds with
// a seed, or nil if there are not fewer than most.
func (s *stubborn) close(seed int32, m []uint32, most int) (on []int32) {
	s.closure++
	s.queue = s.queue[:0]
	s.include(seed)
	for i := 0; i < len(s.queue); i++ {
		tr := int(s.queue[i])
		s.work++
		if !s.isOn[tr] {
			s.includeEnablers(tr, m)
			continue
		}
		if on = append(on, int32(tr)); len(on) >= most {
			return nil
		}
		s.includeDependent(tr)
	}
	return on
}

func (s *stubborn) include(transitions ...int32) {
	for _, tr := range transitions {
		if s.in[tr] != s.closure {
			s.in[tr] = s.closure
			s.queue = append(s.queue, tr)
		}
	}
}

// includeEnablers includes the transitions that can make a false condition of a
// transition true: those of the condition with the fewest that are not included yet.
func (s *stubborn) includeEnablers(tr int, m []uint32) {
	var best []int32
	least := -1
	for _, c := range s.tables.Conds(tr) {
		if c.Holds(m[c.Place]) {
			continue
		}
		by := s.up[c.Place]
		if m[c.Place] >= c.Lo {
			by = s.down[c.Place]
		}
		missing := 0
		for _, u := range by {
			if s.in[u] != s.closure {
				missing++
			}
		}
		if least < 0 || missing < least {
			best, least = by, missing
		}
	}
	s.include(best...)
}

// includeDependent includes the transitions that can disable an enabled one, that it can
// disable, and whose effect on a place depends on the order of both.
func (s *stubborn) includeDependent(tr int) {
	for _, c := range s.tables.Conds(tr) {
		if c.Lo > 0 {
			s.include(s.down[c.Place]...)
		}
		if c.Hi > 0 {
			s.include(s.up[c.Place]...)
		}
	}
	for _, e := range s.tables.Effects(tr) {
		up, down := directions(e)
		for _, w := range s.tables.Watchers(int(e.Place)) {
			if down && w.Lo > 0 || up && w.Hi > 0 {
				s.include(w.Transition)
			}
		}
		if e.Reset {
			s.include(s.up[e.Place]...)
			s.include(s.down[e.Place]...)
		} else if up || down {
			s.include(s.resets[e.Place]...)
		}
	}
}
