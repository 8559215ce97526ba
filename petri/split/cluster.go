// SPDX-License-Identifier: Apache-2.0

package split

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// clusters are sets of transitions that have to be in one region, as a forest: the
// root of a set is a transition that is its own parent.
type clusters struct {
	tables *petri.Tables
	names  []string  // by transition: its named region, or ""
	users  [][]int32 // by place: the transitions that test it, take from it or look at it
	puts   [][]int32 // by place: the transitions that put into it; both in the net's order
	parent []int32
	named  []int32 // by root: the transition of the set that names a region, or none
	found  []*petri.Fault
}

const none int32 = -1

func newClusters(t *petri.Tables, names []string) *clusters {
	c := &clusters{tables: t, names: names, users: make([][]int32, t.Places()), puts: make([][]int32, t.Places()),
		parent: make([]int32, len(names)), named: make([]int32, len(names))}
	for tr := range names {
		c.parent[tr], c.named[tr] = int32(tr), none
		if names[tr] != "" {
			c.named[tr] = int32(tr)
		}
	}
	for i := range t.Net.Arcs {
		a := &t.Net.Arcs[i]
		if p, ok := t.PlaceIndex(a.Source); ok {
			tr, _ := t.TransitionIndex(a.Target)
			c.users[p] = append(c.users[p], int32(tr))
		} else {
			p, _ := t.PlaceIndex(a.Target)
			tr, _ := t.TransitionIndex(a.Source)
			c.puts[p] = append(c.puts[p], int32(tr))
		}
	}
	for p := range c.users {
		c.users[p] = sorted(append(c.users[p], t.Joins(p)...))
		c.puts[p] = sorted(c.puts[p])
	}
	return c
}

func sorted(list []int32) []int32 {
	slices.Sort(list)
	return slices.Compact(list)
}

// of returns the root of the set of a transition.
func (c *clusters) of(tr int32) int32 {
	for c.parent[tr] != tr {
		c.parent[tr] = c.parent[c.parent[tr]]
		tr = c.parent[tr]
	}
	return tr
}

// join merges the sets of all transitions that look at a place, unless they name
// different regions.
func (c *clusters) join(place int32) {
	for _, tr := range c.users[place] {
		first, other := c.of(c.users[place][0]), c.of(tr)
		a, b := c.named[first], c.named[other]
		switch {
		case first == other:
		case a != none && b != none && c.names[a] != c.names[b]:
			net := c.tables.Net
			c.found = append(c.found, &petri.Fault{File: net.File, Pos: net.Places[place].Pos, Msg: fmt.Sprintf(
				"%s and %s both look at place %q; expected one region, or that the two are merged",
				c.describe(c.users[place][0]), c.describe(tr), net.Places[place].ID)})
		default:
			c.parent[other] = first
			if a == none {
				c.named[first] = b
			}
		}
	}
}

// describe returns the region of a transition and the transition that names it.
func (c *clusters) describe(tr int32) string {
	id, by := c.tables.Net.Transitions[tr].ID, c.named[c.of(tr)]
	if c.names[tr] != "" || by == tr {
		return fmt.Sprintf("transition %q in region %q", id, c.names[tr])
	}
	return fmt.Sprintf("transition %q, which shares places with %q in region %q,", id, c.tables.Net.Transitions[by].ID, c.names[by])
}

func (c *clusters) faults() error {
	if len(c.found) == 0 {
		return nil
	}
	slices.SortStableFunc(c.found, func(a, b *petri.Fault) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column))
	})
	var errs []error
	for _, f := range c.found[:min(len(c.found), petri.MaxFaults)] {
		errs = append(errs, f)
	}
	if more := len(c.found) - len(errs); more > 0 {
		errs = append(errs, &petri.Fault{File: c.tables.Net.File, Msg: fmt.Sprintf("%d more faults not shown", more)})
	}
	return errors.Join(errs...)
}

// plan makes regions of the sets. Sets without a named region are in rest.
func (c *clusters) plan(rest string) *Plan {
	p := &Plan{owner: make([]int32, c.tables.Places())}
	index, of := map[string]int32{}, make([]int32, len(c.names)) // by name, by transition
	region := func(name string) int32 {
		k, ok := index[name]
		if !ok {
			k = int32(len(p.Regions))
			index[name] = k
			p.Regions = append(p.Regions, Part{Name: name,
				Transitions: make([]bool, len(c.names)), Places: make([]bool, c.tables.Places())})
		}
		return k
	}
	for tr := range c.names {
		name := rest
		if by := c.named[c.of(int32(tr))]; by != none {
			name = c.names[by]
		}
		of[tr] = region(name)
		p.Regions[of[tr]].Transitions[tr] = true
	}
	if len(p.Regions) == 0 {
		region(rest)
	}
	for place := range p.owner {
		for _, list := range [][]int32{c.puts[place], c.users[place]} {
			if len(list) > 0 {
				p.owner[place] = of[list[0]]
			}
		}
		p.Regions[p.owner[place]].Places[place] = true
	}
	c.streams(p, of)
	return p
}

// streams finds which parts put tokens into which other parts.
func (c *clusters) streams(p *Plan, of []int32) {
	for place, owner := range p.owner {
		for _, tr := range c.puts[place] {
			if from := of[tr]; from != owner {
				p.Regions[owner].Upstream = append(p.Regions[owner].Upstream, int(from))
				p.Regions[from].Downstream = append(p.Regions[from].Downstream, int(owner))
			}
		}
	}
	for k := range p.Regions {
		for _, list := range []*[]int{&p.Regions[k].Upstream, &p.Regions[k].Downstream} {
			slices.Sort(*list)
			*list = slices.Compact(*list)
		}
	}
}
