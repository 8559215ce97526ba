// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"errors"
	"fmt"
	"slices"
)

// MaxThreads bounds the threads in the ring.
const MaxThreads = 1 << 16

// The errors of a step. None of them changes the cursor.
var (
	ErrDone    = errors.New("no thread is left")
	ErrChoice  = errors.New("the answer is no edge out of the node")
	ErrThreads = errors.New("more than 65536 threads")
)

// Choose returns which edge out of a choice is taken. It is not called for a single
// edge.
type Choose func(node int, out []int) (edge int)

// Stamp is the time of a step, in microseconds since the Unix epoch, and its user.
type Stamp struct {
	When int64
	Who  string
}

// Cursor is one walk through a graph. It is for one goroutine.
type Cursor struct {
	graph   *Graph
	in, out [][]int // by node: its edges
	arrived []int   // by edge: how often it was taken while its target waited
	ring    []thread
	pointer int // from 1; 0 if the ring is empty
	last    Entry
}

// thread is an edge in the ring, and the step that added it.
type thread struct{ edge, parent int }

// Entry is one step.
type Entry struct {
	Step   int // from 0, which is the start
	Edge   int // the taken edge; None at step 0
	Parent int // the step that added the edge to the ring; None at step 0
	Stamp
}

// New returns a cursor at step 0: its threads are the edges to start at, and the
// pointer is at the first one. An edge may occur several times, once for each token.
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
	c.last = Entry{Edge: None, Parent: None, Stamp: by}
	return c, nil
}

// Step takes the edge at the pointer. If it returns ErrDone, ErrChoice or ErrThreads,
// it changes nothing.
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
	c.last = entry
	return entry, nil
}

// onward returns the edges on which the target of an edge fires once the edge is
// taken, or none if the target waits.
func (c *Cursor) onward(edge int, choose Choose) ([]int, error) {
	node := c.graph.Edges[edge].To
	if !c.fires(edge) {
		return nil, nil
	}
	out := c.out[node]
	if !c.graph.Nodes[node].Choice || len(out) == 1 {
		return out, nil
	}
	if choose == nil {
		return nil, fmt.Errorf("node %q has %d edges and no function Choose: %w", c.graph.Nodes[node].ID, len(out), ErrChoice)
	}
	chosen := choose(node, slices.Clone(out))
	if !slices.Contains(out, chosen) {
		return nil, fmt.Errorf("node %q, edge %d: %w", c.graph.Nodes[node].ID, chosen, ErrChoice)
	}
	return []int{chosen}, nil
}

// fires reports whether the target of an edge fires once the edge is taken.
func (c *Cursor) fires(edge int) bool {
	node := c.graph.Edges[edge].To
	if node == None {
		return false
	}
	if c.graph.Nodes[node].Choice {
		return len(c.out[node]) > 0
	}
	return !slices.ContainsFunc(c.in[node], func(e int) bool { return e != edge && c.arrived[e] == 0 })
}

// arrive counts a taken edge, or resets the counts of its target if that fires.
func (c *Cursor) arrive(edge int) {
	if !c.fires(edge) {
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

// Waiting returns the nodes of which some but not all incoming edges were taken. If
// no thread is left, they are deadlocked.
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
func (c *Cursor) Last() Entry { return c.last }
