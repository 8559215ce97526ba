// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"context"
	"encoding/json"
	"fmt"

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
