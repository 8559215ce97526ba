// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"fmt"

	"github.com/pnagent/pnagent/petri"
)

// FromTables returns the graph of a net and the edges to start at, one for each
// token of the initial marking, in the order of its places.
//
// Transitions are nodes. A place with at most one transition before it and at most
// one after it is an edge with its id. Any other place is a choice, and its arcs are
// edges with names like "p>t"; its initial tokens are on an edge with its id. Edges
// out of a node are in the order of the places.
//
// The error is a *petri.Fault for what a trace cannot express:
//   - arcs that are not normal, weigh more than 1 or are parallel;
//   - a transition without inputs, or one that preempts;
//   - a transition that competes for a place and takes from another one, because then
//     the choice is not that of one place;
//   - a guard on a transition that does not compete for a place; for those that do,
//     Choose evaluates guards;
//   - a place without arcs.
//
// Priorities and triggers are ignored, because the ring determines the order.
func FromTables(t *petri.Tables) (g *Graph, starts []int, err error) {
	b := &builder{net: t.Net, graph: &Graph{}}
	if err := b.arcs(t); err != nil {
		return nil, nil, err
	}
	if err := b.transitions(); err != nil {
		return nil, nil, err
	}
	for p := range t.Net.Places {
		if err := b.place(p); err != nil {
			return nil, nil, err
		}
	}
	if err := b.graph.Validate(); err != nil {
		return nil, nil, b.fault(t.Net.Pos, "net %q: %v", t.Net.ID, err)
	}
	return b.graph, b.starts, nil
}

// builder builds the graph of a net.
type builder struct {
	net    *petri.Net
	graph  *Graph
	starts []int

	before, behind [][]int // by place: transitions
	inputs         [][]int // by transition: places
}

func (b *builder) fault(pos petri.Pos, format string, args ...any) error {
	return &petri.Fault{File: b.net.File, Pos: pos, Msg: fmt.Sprintf(format, args...)}
}

// arcs records which nodes the arcs connect.
func (b *builder) arcs(t *petri.Tables) error {
	b.before, b.behind = make([][]int, len(b.net.Places)), make([][]int, len(b.net.Places))
	b.inputs = make([][]int, len(b.net.Transitions))
	known := make(map[[2]string]bool, len(b.net.Arcs))
	for i := range b.net.Arcs {
		a := &b.net.Arcs[i]
		ends := [2]string{a.Source, a.Target}
		switch {
		case a.Kind != petri.Normal:
			return b.fault(a.Pos, "%s arc %q from %q to %q has no place in a trace; expected normal arcs", a.Kind, a.ID, a.Source, a.Target)
		case a.Weight != 1 || known[ends]:
			return b.fault(a.Pos, "the arcs from %q to %q weigh more than 1; a trace has no place for that", a.Source, a.Target)
		}
		known[ends] = true
		if p, toTransition := t.PlaceIndex(a.Source); toTransition {
			tr, _ := t.TransitionIndex(a.Target)
			b.behind[p] = append(b.behind[p], tr)
			b.inputs[tr] = append(b.inputs[tr], p)
		} else {
			p, _ := t.PlaceIndex(a.Target)
			tr, _ := t.TransitionIndex(a.Source)
			b.before[p] = append(b.before[p], tr)
		}
	}
	return nil
}

// transitions adds their nodes, with the same indices.
func (b *builder) transitions() error {
	for tr := range b.net.Transitions {
		n := &b.net.Transitions[tr]
		b.graph.Nodes = append(b.graph.Nodes, Node{ID: n.ID, Name: n.Name})
		competes := false
		for _, p := range b.inputs[tr] {
			if len(b.behind[p]) > 1 {
				competes = true
				if len(b.inputs[tr]) > 1 {
					return b.fault(n.Pos, "transition %q competes for place %q and takes from others besides; a trace cannot choose there", n.ID, b.net.Places[p].ID)
				}
			}
		}
		switch {
		case len(b.inputs[tr]) == 0:
			return b.fault(n.Pos, "transition %q has no inputs; a trace never comes to it", n.ID)
		case n.Preempts:
			return b.fault(n.Pos, "transition %q preempts; a trace has nothing in flight", n.ID)
		case n.Guard != "" && !competes:
			return b.fault(n.Pos, "transition %q has a guard and no other to choose instead; a trace cannot wait for it", n.ID)
		}
	}
	return nil
}

// place adds an edge, or a node and its edges.
func (b *builder) place(p int) error {
	n, before, behind := &b.net.Places[p], b.before[p], b.behind[p]
	if len(before)+len(behind) == 0 {
		return b.fault(n.Pos, "place %q has no arcs; a trace never comes to it", n.ID)
	}
	if room := MaxThreads - len(b.starts); n.Initial > uint32(room) {
		return b.fault(n.Pos, "place %q starts with %d tokens, %d with those before it; expected %d or fewer",
			n.ID, n.Initial, uint64(n.Initial)+uint64(len(b.starts)), MaxThreads)
	}
	if len(before) <= 1 && len(behind) <= 1 {
		b.start(n, b.edge(n.ID, first(before), first(behind)))
		return nil
	}
	node := len(b.graph.Nodes)
	b.graph.Nodes = append(b.graph.Nodes, Node{ID: n.ID, Name: n.Name, Choice: true})
	if n.Initial > 0 {
		b.start(n, b.edge(n.ID, None, node))
	}
	for _, tr := range before {
		b.edge(b.net.Transitions[tr].ID+">"+n.ID, tr, node)
	}
	for _, tr := range behind {
		b.edge(n.ID+">"+b.net.Transitions[tr].ID, node, tr)
	}
	return nil
}

func first(transitions []int) int {
	if len(transitions) == 0 {
		return None
	}
	return transitions[0]
}

// edge adds an edge and returns its index.
func (b *builder) edge(id string, from, to int) int {
	b.graph.Edges = append(b.graph.Edges, Edge{ID: id, From: from, To: to})
	return len(b.graph.Edges) - 1
}

// start adds an edge to the starts for each token of a place.
func (b *builder) start(p *petri.Place, edge int) {
	for range p.Initial {
		b.starts = append(b.starts, edge)
	}
}
