// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/query"
)

// printAnswers answers the properties of the query's file for a net, each on a line of
// its own: as the Model Checking Contest prints them, or as JSON.
func (c *checkCmd) printAnswers(ctx context.Context, s streams, t *petri.Tables) error {
	properties, err := cli.ReadFile(c.Query, "a query", func(r io.Reader, name string) ([]query.Property, error) {
		return query.Read(r, name, t, query.Limits{Bytes: c.Limit.MaxBytes, Depth: c.Limit.MaxDepth})
	})
	if err != nil {
		return err
	}
	o, done := c.Visit.options(ctx, s, t.Net.ID, cmp.Or(c.Explore, math.MaxInt))
	results, visit := query.Answer(t, properties, o)
	done()
	for i := range results {
		a := query.ReportOf(t.Net.ID, &results[i], visit.Stopped)
		if c.JSON {
			printJSON(s, a)
		} else {
			fmt.Fprintln(s.out, a.Contest())
		}
	}
	return nil
}
