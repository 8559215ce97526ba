// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"slices"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// subNet is the content of a sub-process of WoPeD. It is a <net> in a <page>, whose id
// is that of the transition that stands for the sub-process in the net around it. The
// sub-net repeats the places before and behind that transition under their ids.
type subNet struct {
	id          string // of the page and of the transition
	pos         petri.Pos
	first, last int // its places, those of sub-nets in it included
}

// page reads a page of the drawing, which may be a sub-process of WoPeD.
func (n *netReader) page(e *element) error {
	id := ""
	for _, a := range e.attrs {
		if a.Name.Space == "" && a.Name.Local == "id" {
			id = string(a.Value)
		}
	}
	return n.each(e, elements, func(c *element) error {
		if c.name != "net" {
			return n.content(c)
		}
		sub := subNet{id: id, pos: c.pos, first: n.places.n}
		err := n.each(c, elements, func(c *element) error {
			if c.name == "name" {
				return n.Skip()
			}
			return n.content(c)
		})
		sub.last = n.places.n
		n.subNets = append(n.subNets, sub)
		return err
	})
}

// replaceSubProcesses replaces each transition that stands for a sub-process by its
// sub-net. It adds faults for what is not a sub-process as WoPeD writes it.
func (n *netReader) replaceSubProcesses() {
	if len(n.subNets) == 0 {
		return
	}
	subs := n.subProcesses()
	inside := n.placesOfSubNets()
	repeated := make([]bool, len(n.net.Places))
	arcs := n.net.Arcs[:0]
	for _, a := range n.net.Arcs {
		s, place := subs[a.Source], a.Target
		if s == nil {
			s, place = subs[a.Target], a.Source
		}
		if s == nil {
			arcs = append(arcs, a)
			continue
		}
		if at, ok := inside[placeIn{s, place}]; ok {
			repeated[at] = true
		} else {
			n.faults.Add(a.Pos, "arc %s joins place %s and sub-process %s, whose net does not have the place; expected the place in it",
				xmlscan.Quote(a.ID), xmlscan.Quote(place), xmlscan.Quote(s.id))
		}
	}
	n.net.Arcs = arcs
	n.net.Transitions = slices.DeleteFunc(n.net.Transitions, func(t petri.Transition) bool { return subs[t.ID] != nil })
	n.dropPlaces(repeated)
}

// subProcesses returns the sub-nets by the ids of their transitions.
func (n *netReader) subProcesses() map[string]*subNet {
	transitions := make(map[string]bool, len(n.net.Transitions))
	for i := range n.net.Transitions {
		transitions[n.net.Transitions[i].ID] = true
	}
	subs := make(map[string]*subNet, len(n.subNets))
	for i := range n.subNets {
		s := &n.subNets[i]
		switch {
		case !transitions[s.id]:
			n.faults.Add(s.pos, "a net in the page %s; expected a page with the id of the transition that stands for this sub-process", xmlscan.Quote(s.id))
		case subs[s.id] != nil:
			n.faults.Add(s.pos, "a second net of the sub-process %s; expected one", xmlscan.Quote(s.id))
		default:
			subs[s.id] = s
		}
	}
	return subs
}

// placeIn is a place that is directly in a sub-net.
type placeIn struct {
	sub *subNet
	id  string
}

func (n *netReader) placesOfSubNets() map[placeIn]int {
	known := make([]bool, len(n.net.Places))
	inside := make(map[placeIn]int)
	for i := range n.subNets { // a sub-net comes before the one around it
		s := &n.subNets[i]
		for p := s.first; p < s.last; p++ {
			if !known[p] {
				known[p], inside[placeIn{s, n.net.Places[p].ID}] = true, p
			}
		}
	}
	return inside
}

// dropPlaces removes the places that repeat another one, which must have the same
// marking.
func (n *netReader) dropPlaces(repeated []bool) {
	initial := make(map[string]uint32, len(n.net.Places))
	for i := range n.net.Places {
		if p := &n.net.Places[i]; !repeated[i] {
			initial[p.ID] = p.Initial
		}
	}
	places := make([]petri.Place, 0, len(n.net.Places))
	for i := range n.net.Places {
		p := &n.net.Places[i]
		switch {
		case !repeated[i]:
			places = append(places, *p)
		case p.Initial != 0 && p.Initial != initial[p.ID]:
			n.faults.Add(p.Pos, "place %s has %d tokens in a sub-process and %d outside; expected the same number",
				xmlscan.Quote(p.ID), p.Initial, initial[p.ID])
		}
	}
	n.net.Places = places
}
