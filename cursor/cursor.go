// SPDX-License-Identifier: Apache-2.0

package cursor

import (
	"errors"
	"fmt"
	"slices"
)

// MaxThreads bounds the threads in the ring.
const MaxThreads = 1 << 16

// What stops a step. All leave the cursor as it was.
var (
	ErrDone    = errors.New("no thread is left")
	ErrChoice  = errors.New("the answer is no edge out of the node")
	ErrThreads = errors.New("more than 65536 threads")
)

// Choose answers which of the edges out of a choice is taken. It is not asked
// where there is only one.
type Choose func(node int, out []int) (edge int)

// Stamp says when a step is made, in microseconds since the Unix epoch, and by
// whom.
type Stamp struct {
	When int64
	Who  string
}

// Cursor is one walk through a graph. It is for one goroutine.
type Cursor struct {
	graph   *Graph
	in, out [][]int // by node: its edges
	arrived []int   // by edge: how often it was taken and its target did not go on
	ring    []thread
	pointer int // from 1; 0 if the ring is empty
	history history
}

// thread is an edge in the ring, and the step that put it there.
type thread struct{ edge, parent int }

// New returns a cursor whose threads are the edges to start at, the pointer at
// the first: step 0 of its history. An edge may be there several times, once
// for each token.
func New(g *Graph, starts []int, by Stamp) (*Cursor, error) {
	if err := g.Validate(); err != nil {
		return nil, fmt.Errorf("cursor: %w", err)
	}
	if len(starts) == 0 {
		return nil, errors.New("cursor: there is no edge to start at")
	}
	if len(starts) > MaxThreads {
		return nil, fmt.Errorf("cursor: %d edges to start at: %w", len(starts), ErrThreads)
	}
	c := &Cursor{graph: g, in: make([][]int, len(g.Nodes)), out: make([][]int, len(g.Nodes)), arrived: make([]int, len(g.Edges)), pointer: 1}
	for i, e := range g.Edges {
		if e.From != None {
			c.out[e.From] = append(c.out[e.From], i)
		}
		if e.To != None {
			c.in[e.To] = append(c.in[e.To], i)
		}
	}
	for _, e := range starts {
		if e < 0 || e >= len(g.Edges) {
			return nil, fmt.Errorf("cursor: start at edge %d; expected one of %d edges", e, len(g.Edges))
		}
		c.ring = append(c.ring, thread{edge: e})
	}
	c.history.add(Entry{Edge: None, Parent: None, Stamp: by})
	return c, nil
}

// Step takes the edge at the pointer. It returns ErrDone, ErrChoice or
// ErrThreads, and then changes nothing.
func (c *Cursor) Step(choose Choose, by Stamp) (Entry, error) {
	if len(c.ring) == 0 {
		return Entry{}, ErrDone
	}
	at := c.pointer - 1
	taken := c.ring[at]
	out, err := c.onward(taken.edge, choose)
	if err != nil {
		return Entry{}, err
	}
	if len(c.ring)-1+len(out) > MaxThreads {
		return Entry{}, fmt.Errorf("edge %q: %w", c.graph.Edges[taken.edge].ID, ErrThreads)
	}
	entry := Entry{Step: c.Last().Step + 1, Edge: taken.edge, Parent: taken.parent, Stamp: by}
	c.arrive(taken.edge)
	threads := make([]thread, len(out))
	for i, e := range out {
		threads[i] = thread{edge: e, parent: entry.Step}
	}
	atEnd := c.pointer == len(c.ring)
	c.ring = slices.Replace(c.ring, at, at+1, threads...)
	switch {
	case len(c.ring) == 0:
		c.pointer = 0
	case atEnd:
		c.pointer = 1
	default:
		c.pointer += len(out)
	}
	c.history.add(entry)
	return entry, nil
}

// onward returns the edges by which the target of an edge goes on when the edge
// is taken; none if it does not.
func (c *Cursor) onward(edge int, choose Choose) ([]int, error) {
	node := c.graph.Edges[edge].To
	if !c.goesOn(edge) {
		return nil, nil
	}
	out := c.out[node]
	if !c.graph.Nodes[node].Choice || len(out) == 1 {
		return out, nil
	}
	if choose == nil {
		return nil, fmt.Errorf("node %q has %d edges and nobody to choose: %w", c.graph.Nodes[node].ID, len(out), ErrChoice)
	}
	chosen := choose(node, slices.Clone(out))
	if !slices.Contains(out, chosen) {
		return nil, fmt.Errorf("node %q, edge %d: %w", c.graph.Nodes[node].ID, chosen, ErrChoice)
	}
	return []int{chosen}, nil
}

// goesOn reports whether the target of an edge goes on when the edge is taken.
func (c *Cursor) goesOn(edge int) bool {
	node := c.graph.Edges[edge].To
	if node == None {
		return false
	}
	if c.graph.Nodes[node].Choice {
		return len(c.out[node]) > 0
	}
	return !slices.ContainsFunc(c.in[node], func(e int) bool { return e != edge && c.arrived[e] == 0 })
}

// arrive counts an edge that was taken, or uses up what its target waited for.
func (c *Cursor) arrive(edge int) {
	if !c.goesOn(edge) {
		c.arrived[edge]++
		return
	}
	if node := c.graph.Edges[edge].To; !c.graph.Nodes[node].Choice {
		for _, e := range c.in[node] {
			if e != edge {
				c.arrived[e]--
			}
		}
	}
}

// Threads returns the edges in the ring, in order.
func (c *Cursor) Threads() []int {
	edges := make([]int, len(c.ring))
	for i, t := range c.ring {
		edges[i] = t.edge
	}
	return edges
}

// Pointer returns which thread is next, from 1; 0 if none is left.
func (c *Cursor) Pointer() int { return c.pointer }

// Waiting returns the nodes that wait: some of the edges into them were taken,
// and others were not. With no thread left they wait for ever.
func (c *Cursor) Waiting() []int {
	var nodes []int
	for n, in := range c.in {
		if !c.graph.Nodes[n].Choice && slices.ContainsFunc(in, func(e int) bool { return c.arrived[e] > 0 }) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// Last returns the latest step.
func (c *Cursor) Last() Entry { return c.history.last() }

// History returns the steps that are kept, oldest first: the last MaxHistory.
func (c *Cursor) History() []Entry { return c.history.all() }

// Dropped returns how many steps are no longer kept.
func (c *Cursor) Dropped() int { return c.history.dropped }
