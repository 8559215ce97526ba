// SPDX-License-Identifier: Apache-2.0

package ledger

import "github.com/pnagent/pnagent/petri"

// MaxRows is the largest number of places, and of transitions, of a Definition.
const MaxRows = 10_000

// Definition is the definition of a net, which grows. The Model of Def may be replaced in
// a poll; other fields than that, places, transitions and arcs may be set before the first poll ends.
type Definition struct {
	Def *petri.Net

	places, transitions map[string]int // by id
	arcs                map[string]bool
}

// NewDefinition returns the definition of an empty net.
func NewDefinition(id, name string) *Definition {
	return &Definition{Def: &petri.Net{ID: id, Name: name}, places: map[string]int{}, transitions: map[string]int{}, arcs: map[string]bool{}}
}

// Place returns the index of a place, and adds it if the net lacks it. It returns
// -1 if there is no room.
func (n *Definition) Place(id, name string) int {
	i, fresh := number(n.places, id)
	if fresh {
		n.Def.Places = append(n.Def.Places, petri.Place{ID: id, Name: name})
	}
	return i
}

// Transition returns the index of a transition, and adds it if the net lacks it.
// It returns -1 if there is no room.
func (n *Definition) Transition(id, name string) int {
	i, fresh := number(n.transitions, id)
	if fresh {
		n.Def.Transitions = append(n.Def.Transitions, petri.Transition{ID: id, Name: name})
	}
	return i
}

// number returns the number of an id, and whether it is a new one; -1 if there is no room.
func number(ids map[string]int, id string) (i int, fresh bool) {
	i = find(ids, id)
	if i >= 0 || len(ids) >= MaxRows {
		return i, false
	}
	ids[id] = len(ids)
	return ids[id], true
}

// Arc adds an arc between a place and a transition of the net, by their ids, if
// the net lacks it.
func (n *Definition) Arc(from, to string) {
	if id := from + ">" + to; !n.arcs[id] {
		n.arcs[id] = true
		n.Def.Arcs = append(n.Def.Arcs, petri.Arc{ID: id, Source: from, Target: to, Kind: petri.Normal, Weight: 1})
	}
}

// HasArc reports whether the net has an arc.
func (n *Definition) HasArc(from, to string) bool { return n.arcs[from+">"+to] }

// FindPlace returns the index of a place, or -1.
func (n *Definition) FindPlace(id string) int { return find(n.places, id) }

// FindTransition returns the index of a transition, or -1.
func (n *Definition) FindTransition(id string) int { return find(n.transitions, id) }

func find(ids map[string]int, id string) int {
	if i, ok := ids[id]; ok {
		return i
	}
	return -1
}
