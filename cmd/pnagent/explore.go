// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/explore"
	"github.com/pnagent/pnagent/petri/sound"
)

// printExplored explores a net and prints what was found: in words unless only
// JSON is wanted, and as JSON on the last line.
func (c *checkCmd) printExplored(ctx context.Context, s streams, t *petri.Tables) {
	o, done := c.Visit.options(ctx, s, t.Net.ID, c.Explore)
	judged, r := sound.Judge(t, o)
	done()
	out := explored{explore.ReportOf(t, &r), sound.ReportOf(t, &judged, &r)}
	if ctx.Err() == nil {
		out.Invariants = explore.ConservedIn(t)
	}
	if c.Objects != "all" {
		out.leaveOut(t.Net)
	}
	if !c.JSON {
		fmt.Fprintln(s.out, out.Sentence())
		for _, line := range out.Soundness.Sentences() {
			fmt.Fprintln(s.out, line)
		}
	}
	printJSON(s, out)
}

// explored is the document of --explore.
type explored struct {
	*explore.Report
	Soundness *sound.Report `json:"soundness"`
}

// leaveOut leaves out of the bounds, and of the lists of what is not sound, what is not work. A list of
// nothing else stays as it is.
func (e *explored) leaveOut(n *petri.Net) {
	aside := map[string]bool{}
	for i := range n.Places {
		aside[n.Places[i].ID] = n.Places[i].Role != petri.RoleWork
	}
	for i := range n.Transitions {
		aside[n.Transitions[i].ID] = n.Transitions[i].Role != petri.RoleWork
	}
	maps.DeleteFunc(e.Bounds, func(id string, _ uint32) bool { return aside[id] })
	lists := []*[]string{&e.Soundness.Bounded.Places, &e.Soundness.Fire.Dead}
	if e.Soundness.Live != nil {
		lists = append(lists, &e.Soundness.Live.Last)
	}
	for _, list := range lists {
		if work := slices.DeleteFunc(slices.Clone(*list), func(id string) bool { return aside[id] }); len(work) > 0 {
			*list = work
		}
	}
}

// printDeadlocks searches a net for deadlocks and prints what was found.
func (c *checkCmd) printDeadlocks(ctx context.Context, s streams, t *petri.Tables) {
	o, done := c.Visit.options(ctx, s, t.Net.ID, c.Deadlocks)
	o.Reduce = true
	r := explore.Explore(t, o)
	done()
	out := explore.DeadlocksOf(t, &r)
	if !c.JSON {
		fmt.Fprintln(s.out, out.Sentence())
	}
	printJSON(s, out)
}

func printJSON(s streams, v any) {
	line, _ := json.Marshal(v) // strings and numbers always marshal
	fmt.Fprintf(s.out, "%s\n", line)
}
