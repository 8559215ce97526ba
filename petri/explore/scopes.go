// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// scopes finds the scopes that have several runs at one time.
type scopes struct {
	opens [][]opening // by transition
	seen  []bool      // by scope: it had several runs
}

// opening is a scope in which a transition opens a run.
type opening struct {
	scope int32
	each  bool    // a run for each element of a list: any number of them
	rest  []int32 // places of the scope, and of those inside, that the transition does not empty
}

func newScopes(t *petri.Tables) *scopes {
	s := &scopes{opens: make([][]opening, t.Transitions()), seen: make([]bool, t.Scopes())}
	for tr := range t.Transitions() {
		for _, e := range t.Effects(tr) {
			if e.Put > 0 {
				s.add(t, tr, e.Place)
			}
		}
		for _, b := range t.Branches(tr) {
			s.add(t, tr, b.Place)
		}
		for _, a := range t.Inscribed(tr) {
			if !a.Each {
				continue
			}
			scope := t.ScopeOf(a.Place) // Each opens the innermost scope for each element
			for i := range s.opens[tr] {
				if o := &s.opens[tr][i]; t.Encloses(o.scope, scope) {
					o.each = true
				}
			}
		}
	}
	return s
}

// add adds what a token put into a place opens: the outermost scope of the place that does
// not enclose the scope in which the transition acts.
func (s *scopes) add(t *petri.Tables, tr int, place int32) {
	acts, scope := t.ActsIn(tr), t.ScopeOf(place)
	if t.Encloses(scope, acts) {
		return
	}
	for !t.Encloses(t.ScopeParent(scope), acts) {
		scope = t.ScopeParent(scope)
	}
	if slices.ContainsFunc(s.opens[tr], func(o opening) bool { return o.scope == scope }) {
		return
	}
	o := opening{scope: scope}
	for p := range int32(t.Places()) {
		emptied := slices.ContainsFunc(t.Effects(tr), func(e petri.Effect) bool { return e.Place == p && e.Reset })
		if t.Encloses(scope, t.ScopeOf(p)) && !emptied {
			o.rest = append(o.rest, p)
		}
	}
	s.opens[tr] = append(s.opens[tr], o)
}

// open reports whether a transition that fires in a marking opens a run of a scope that has
// one, or a run for each element of a list.
func (s *scopes) open(tr int, m []uint32) (several bool) {
	for i := range s.opens[tr] {
		o := &s.opens[tr][i]
		if o.each || slices.ContainsFunc(o.rest, func(p int32) bool { return m[p] > 0 }) {
			s.seen[o.scope], several = true, true
		}
	}
	return several
}

// together returns the indices of the scopes that had several runs.
func (s *scopes) together() (all []int) {
	if s == nil {
		return nil
	}
	for i, seen := range s.seen {
		if seen {
			all = append(all, i-1)
		}
	}
	return all
}
