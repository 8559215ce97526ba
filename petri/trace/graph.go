// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"errors"
	"fmt"
)

// None is the node of an edge from or to the outside, and the edge of step 0.
const None = -1

// Node is a node of a Graph.
type Node struct {
	ID   string
	Name string // for people; "" if there is none
	// Choice makes the node fire on one of its edges, as soon as one edge into it is
	// taken. Any other node waits for all edges into it and fires on all.
	Choice bool
}

// Edge leads from a node to a node, by their indices. From is None if only a start
// adds the edge to the ring; To is None if a thread ends on it.
type Edge struct {
	ID       string
	From, To int
}

// Graph is a graph for a Cursor. The edges out of a node are added to the ring in
// their order in Edges.
type Graph struct {
	Nodes []Node
	Edges []Edge
}

// Validate checks that nodes and edges have unique ids, and that the ends of edges
// are nodes, not both None. It returns the first fault.
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
