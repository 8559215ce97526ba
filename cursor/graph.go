// SPDX-License-Identifier: Apache-2.0

package cursor

import (
	"errors"
	"fmt"
)

// None stands for no node, where an edge comes from outside or leads there, and
// for no edge, at step 0.
const None = -1

// Node is where edges meet.
type Node struct {
	ID   string
	Name string // for people; "" if there is none
	// Choice makes the node go on by one of its edges, as soon as one edge into
	// it is taken. Any other waits for all edges into it and goes on by all.
	Choice bool
}

// Edge leads from a node to a node, by their indices. From is None for one that
// only a start puts into the ring; To is None for one on which a thread ends.
type Edge struct {
	ID       string
	From, To int
}

// Graph is what a Cursor walks. The edges out of a node go into the ring in the
// order in which they are listed.
type Graph struct {
	Nodes []Node
	Edges []Edge
}

// Validate checks that nodes have ids and edges have ids, each once among their
// own, and that the ends of edges are nodes, not both None. It returns the first
// fault.
func (g *Graph) Validate() error {
	nodes, edges := make(map[string]bool, len(g.Nodes)), make(map[string]bool, len(g.Edges))
	for i := range g.Nodes {
		if err := named(nodes, g.Nodes[i].ID); err != nil {
			return fmt.Errorf("node %d: %w", i, err)
		}
	}
	for i, e := range g.Edges {
		if err := named(edges, e.ID); err != nil {
			return fmt.Errorf("edge %d: %w", i, err)
		}
		if e.From == None && e.To == None {
			return fmt.Errorf("edge %q joins no node; expected one", e.ID)
		}
		for _, end := range [2]int{e.From, e.To} {
			if end < None || end >= len(g.Nodes) {
				return fmt.Errorf("edge %q ends at node %d; expected one of %d nodes", e.ID, end, len(g.Nodes))
			}
		}
	}
	return nil
}

func named(known map[string]bool, id string) error {
	if id == "" {
		return errors.New("it has no id")
	}
	if known[id] {
		return fmt.Errorf("the id %q is there twice; expected every id once", id)
	}
	known[id] = true
	return nil
}
