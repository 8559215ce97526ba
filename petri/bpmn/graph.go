// SPDX-License-Identifier: Apache-2.0

package bpmn

// Graph is the top level of a process, for a trace: its flow nodes and sequence flows. A sub-process is one
// node. A boundary event is a node with an edge from its activity.
type Graph struct {
	Nodes  []GraphNode // in the order of the file
	Edges  []GraphEdge // sequence flows in the order of the file, then those to boundary events and link targets
	Starts []int       // start events, or nodes without incoming edges if there are none
}

// GraphNode is one flow node.
type GraphNode struct{ ID, Name, Kind string }

// GraphEdge is one sequence flow; From and To are indices in Nodes. The edge into a
// boundary event has the event's id and "/attached", that of a link "/link".
type GraphEdge struct {
	ID       string
	From, To int
}

func (s *scope) graph() Graph {
	g := Graph{Nodes: make([]GraphNode, 0, len(s.nodes)), Edges: make([]GraphEdge, 0, len(s.flows))}
	for i, n := range s.nodes {
		n.index = i
		g.Nodes = append(g.Nodes, GraphNode{n.id, n.name, n.kindWords()})
		if n.kind == "startEvent" || n.begins() || n.instantiates() {
			g.Starts = append(g.Starts, i)
		}
	}
	for _, f := range s.flows {
		g.Edges = append(g.Edges, GraphEdge{f.id, f.src.index, f.dst.index})
	}
	for i, n := range s.nodes {
		if n.host != nil {
			g.Edges = append(g.Edges, GraphEdge{n.id + "/attached", n.host.index, i})
		}
		if n.link != nil {
			g.Edges = append(g.Edges, GraphEdge{n.id + "/link", i, n.link.index})
		}
	}
	return g
}
