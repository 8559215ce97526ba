// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"reflect"
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// union joins all definitions of one net, by id. Indices never move: a definition
// only appends.
type union struct {
	def         *petri.Net // nil before the first definition
	final       []bool     // its final places
	places      map[string]int32
	transitions map[string]int32
	scopes      map[string]int32
}

// columns map the rows of one definition to the union.
type columns struct {
	places, transitions []int32 // union index of each row
	same                bool    // every index maps to itself
}

func (u *union) sizes() (places, transitions int) {
	if u.def == nil {
		return 0, 0
	}
	return len(u.def.Places), len(u.def.Transitions)
}

// added returns how many rows a definition would append.
func (u *union) added(d *petri.Net) int {
	n := 0
	for i := range d.Places {
		if _, known := u.places[d.Places[i].ID]; !known {
			n++
		}
	}
	for i := range d.Transitions {
		if _, known := u.transitions[d.Transitions[i].ID]; !known {
			n++
		}
	}
	return n
}

// add adds a definition and returns the mapping of its rows. If names is true, its
// names, texts, arcs, scopes and drawings replace those of the same places and transitions.
// The definition of the union is a new one if anything of it changed, and the same
// one otherwise.
func (u *union) add(d *petri.Net, names bool) *columns {
	if u.def == nil {
		u.def = &petri.Net{ID: d.ID}
		u.places, u.transitions, u.scopes = make(map[string]int32), make(map[string]int32), make(map[string]int32)
		u.def.Shared = d.Shared
	}
	next := &petri.Net{ID: u.def.ID, Name: u.def.Name, Doc: u.def.Doc, Model: u.def.Model, Shared: u.def.Shared,
		Places: slices.Clone(u.def.Places), Transitions: slices.Clone(u.def.Transitions), Scopes: slices.Clone(u.def.Scopes)}
	if names {
		next.Name = d.Name
		next.Doc = d.Doc
		next.Model = d.Model
		next.Shared = d.Shared
		next.Arcs = u.arcs(d)
	} else {
		next.Arcs = u.newArcs(d)
	}
	c := &columns{}
	for _, p := range d.Places {
		p.Pos = petri.Pos{}
		i := indexOf(u.places, p.ID)
		next.Places = put(next.Places, i, p, names)
		c.places = append(c.places, i)
	}
	for _, t := range d.Transitions {
		t.Pos = petri.Pos{}
		i := indexOf(u.transitions, t.ID)
		next.Transitions = put(next.Transitions, i, t, names)
		c.transitions = append(c.transitions, i)
	}
	for _, scope := range d.Scopes {
		scope.Pos = petri.Pos{}
		next.Scopes = put(next.Scopes, indexOf(u.scopes, scope.ID), scope, names)
	}
	c.same = rising(c.places) && rising(c.transitions)
	if !reflect.DeepEqual(next, u.def) {
		u.def, u.final = next, next.FinalPlaces()
	}
	return c
}

// arcs returns the arcs of a new definition, and the former arcs that touch a node
// which the new definition lacks.
func (u *union) arcs(d *petri.Net) []petri.Arc {
	has := make(map[string]bool, len(d.Places)+len(d.Transitions))
	for i := range d.Places {
		has[d.Places[i].ID] = true
	}
	for i := range d.Transitions {
		has[d.Transitions[i].ID] = true
	}
	arcs := make([]petri.Arc, 0, len(d.Arcs))
	for _, a := range d.Arcs {
		a.Pos = petri.Pos{}
		arcs = append(arcs, a)
	}
	for _, a := range u.def.Arcs {
		if !has[a.Source] || !has[a.Target] {
			arcs = append(arcs, a)
		}
	}
	return arcs
}

// newArcs returns the arcs in use, and those of a new definition that touch a node
// which none had before.
func (u *union) newArcs(d *petri.Net) []petri.Arc {
	has := func(id string) bool {
		_, place := u.places[id]
		_, transition := u.transitions[id]
		return place || transition
	}
	arcs := slices.Clone(u.def.Arcs)
	for _, a := range d.Arcs {
		if !has(a.Source) || !has(a.Target) {
			a.Pos = petri.Pos{}
			arcs = append(arcs, a)
		}
	}
	return arcs
}

func indexOf(index map[string]int32, id string) int32 {
	i, known := index[id]
	if !known {
		i = int32(len(index))
		index[id] = i
	}
	return i
}

func put[T any](rows []T, i int32, row T, replace bool) []T {
	if int(i) == len(rows) {
		return append(rows, row)
	}
	if replace {
		rows[i] = row
	}
	return rows
}

// rising reports whether indices are 0, 1, 2 …
func rising(indices []int32) bool {
	for i, at := range indices {
		if int(at) != i {
			return false
		}
	}
	return true
}
