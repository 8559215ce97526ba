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
	}
	return s
}

// entered returns the scope of which a token opens a run that is put into a place by what acts
// in another scope: the outermost one around the place that does not enclose that other one.
func entered(t *petri.Tables, acts, place int32) (scope int32, opens bool) {
	scope = t.ScopeOf(place)
	if t.Encloses(scope, acts) {
		return 0, false
	}
	for !t.Encloses(t.ScopeParent(scope), acts) {
		scope = t.ScopeParent(scope)
	}
	return scope, true
}

// add adds the scope of which a transition opens a run by a token in a place.
func (s *scopes) add(t *petri.Tables, tr int, place int32) {
	scope, opens := entered(t, t.ActsIn(tr), place)
	if !opens || slices.ContainsFunc(s.opens[tr], func(o opening) bool { return o.scope == scope }) {
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

// open reports whether a transition that fires in a marking opens a run of a scope that has one.
func (s *scopes) open(tr int, m []uint32) (several bool) {
	for i := range s.opens[tr] {
		o := &s.opens[tr][i]
		if slices.ContainsFunc(o.rest, func(p int32) bool { return m[p] > 0 }) {
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

// Runs finds what would open a second run of a scope at one time. The zero Runs finds nothing.
type Runs struct {
	tables *petri.Tables
	scopes *scopes // nil if the net has none
}

// NewRuns returns the Runs of a net.
func NewRuns(t *petri.Tables) Runs {
	r := Runs{tables: t}
	if t.Scoped() {
		r.scopes = newScopes(t)
	}
	return r
}

// Second returns the id of a scope of which a transition opens a run although there is one in
// the marking, or "".
func (r Runs) Second(tr int, m []uint32) (scope string) {
	if r.scopes == nil {
		return ""
	}
	for _, o := range r.scopes.opens[tr] {
		if slices.ContainsFunc(o.rest, func(p int32) bool { return m[p] > 0 }) {
			return r.tables.Net.Scopes[o.scope-1].ID
		}
	}
	return ""
}

// SecondIn is Second for tokens that are put into a place from outside.
func (r Runs) SecondIn(place int, m []uint32) (scope string) {
	if r.scopes == nil {
		return ""
	}
	opened, opens := entered(r.tables, 0, int32(place))
	if !opens {
		return ""
	}
	for p, n := range m {
		if n > 0 && r.tables.Encloses(opened, r.tables.ScopeOf(int32(p))) {
			return r.tables.Net.Scopes[opened-1].ID
		}
	}
	return ""
}

// several reports whether a transition opens a second run of a scope in a marking, or a run for each
// element of a list.
func (r Runs) several(tr int, m []uint32) bool { return r.scopes != nil && r.scopes.open(tr, m) }

// minds reports whether tokens in a place can make a transition open a second run of a scope.
func (r Runs) minds(tr int, place int32) bool {
	return r.scopes != nil && slices.ContainsFunc(r.scopes.opens[tr], func(o opening) bool { return slices.Contains(o.rest, place) })
}
