// SPDX-License-Identifier: Apache-2.0

package netfile

import (
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/bpmn"
	"github.com/pnagent/pnagent/petri/trace"
)

// Graph returns the graph of a trace and its starts: the sequence flows of the first
// process, or the places of the first net.
func (f *File) Graph() (*trace.Graph, []int, error) {
	if f.Process == nil {
		t, err := petri.Compile(f.Nets[0])
		if err != nil {
			return nil, nil, err
		}
		return trace.FromTables(t)
	}
	from := &f.Process.Graphs[0]
	in, out := make([]int, len(from.Nodes)), make([]int, len(from.Nodes))
	g := &trace.Graph{}
	var starts []int
	for k, e := range from.Edges {
		g.Edges = append(g.Edges, trace.Edge{ID: e.ID, From: e.From, To: e.To})
		out[e.From]++
		in[e.To]++
		if slices.Contains(from.Starts, e.From) {
			starts = append(starts, k)
		}
	}
	for i, n := range from.Nodes {
		choice, err := choiceAt(n, in[i], out[i])
		if err != nil {
			return nil, nil, &petri.Fault{File: f.Nets[0].File, Msg: err.Error()}
		}
		g.Nodes = append(g.Nodes, trace.Node{ID: n.ID, Name: n.Name, Choice: choice})
	}
	return g, starts, nil
}

// choiceAt reports whether a node is a choice: it does not wait and takes one of its
// flows. Inclusive and complex gateways take and await all flows here, because a trace
// has no data.
func choiceAt(n bpmn.GraphNode, in, out int) (bool, error) {
	switch n.Kind {
	case "exclusive gateway", "event based gateway":
		return true, nil
	case "parallel gateway", "inclusive gateway", "complex gateway":
		return false, nil
	}
	if in > 1 && out > 1 {
		return false, fmt.Errorf("%s %q merges %d flows and splits into %d; expected a gateway for one of the two in a trace", n.Kind, n.ID, in, out)
	}
	return in > 1, nil
}
