// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/pnagent/pnagent/cursor"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/bpmn"
)

// errTraceStuck is what a trace ends with that did not reach an end.
var errTraceStuck = errors.New("the instance is deadlocked")

// trace plays one instance of the one net in the cursor mode, and prints every
// step as CSV. At an exclusive gateway the flows are taken in turn, or by chance
// with a seed.
func (c *engineCmd) trace(s streams) error {
	if len(c.Files) != 1 {
		return usageError{fmt.Errorf("--trace with %d files; expected one", len(c.Files))}
	}
	file, err := readNet(c.Files[0], s, c.Limit)
	if err != nil {
		return err
	}
	if len(file.nets) != 1 {
		return fmt.Errorf("%s: %d nets in the file; expected one for --trace", c.Files[0], len(file.nets))
	}
	g, starts, err := graphOf(file)
	if err != nil {
		return err
	}
	source, err := c.source()
	if err != nil {
		return err
	}
	steps := c.Firings
	end, err := cursor.Run(g, starts, cursor.Options{Choose: c.chooser(len(g.Nodes)), Who: source, Steps: steps,
		When: func() int64 { return time.Now().UnixMicro() }}, s.out)
	if errors.Is(err, cursor.ErrSteps) && steps > 0 {
		return nil // it was told to stop there
	}
	if err != nil {
		return err
	}
	if waiting := end.Waiting(); len(waiting) > 0 {
		var ids []string
		for _, n := range waiting {
			ids = append(ids, g.Nodes[n].ID)
		}
		return fmt.Errorf("%w: %s still waits for a token", errTraceStuck, strings.Join(ids, ", "))
	}
	return nil
}

// chooser takes the flows of a choice in turn, or by chance with a seed.
func (c *engineCmd) chooser(nodes int) cursor.Choose {
	if c.Seed != nil {
		r := rand.New(rand.NewPCG(*c.Seed, 0))
		return func(_ int, out []int) int { return out[r.IntN(len(out))] }
	}
	visits := make([]int, nodes)
	return func(node int, out []int) int {
		visits[node]++
		return out[(visits[node]-1)%len(out)]
	}
}

// graphOf returns the graph that the cursor walks: a process' sequence flows, or
// a net's places.
func graphOf(f *netFile) (*cursor.Graph, []int, error) {
	if f.process == nil {
		t, err := petri.Compile(f.nets[0])
		if err != nil {
			return nil, nil, err
		}
		return cursor.FromTables(t)
	}
	from := &f.process.Graphs[0]
	in, out := make([]int, len(from.Nodes)), make([]int, len(from.Nodes))
	g := &cursor.Graph{}
	for _, e := range from.Edges {
		g.Edges = append(g.Edges, cursor.Edge{ID: e.ID, From: e.From, To: e.To})
		out[e.From]++
		in[e.To]++
	}
	for i, n := range from.Nodes {
		choice, err := choiceAt(n, in[i], out[i])
		if err != nil {
			return nil, nil, &petri.Fault{File: f.nets[0].File, Msg: err.Error()}
		}
		g.Nodes = append(g.Nodes, cursor.Node{ID: n.ID, Name: n.Name, Choice: choice})
	}
	var starts []int
	for k, e := range from.Edges {
		for _, n := range from.Starts {
			if e.From == n {
				starts = append(starts, k)
			}
		}
	}
	return g, starts, nil
}

// choiceAt reports whether a node waits for nothing and goes on by one of its
// flows. Inclusive and complex gateways take and await all flows here, because
// a trace has no data to decide by.
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
