// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/explore"
	"github.com/pnagent/pnagent/petri/query"
)

// answered is the answer to one property.
type answered struct {
	Net      string         `json:"net"`
	Property string         `json:"property"`
	Holds    *bool          `json:"holds,omitempty"`   // of reachability; absent if it is not known
	Bound    *int64         `json:"bound,omitempty"`   // of an upper bound; absent if it is not known
	AtLeast  *int64         `json:"atLeast,omitempty"` // instead of a bound that is not known
	Stopped  explore.Reason `json:"stopped,omitempty"` // why it is not known
}

// printAnswers answers the properties of the query's file for a net, each on a line of
// its own: as the Model Checking Contest prints them, or as JSON.
func (c *checkCmd) printAnswers(ctx context.Context, s streams, t *petri.Tables) error {
	properties, err := readFile(c.Query, "a query", func(r io.Reader, name string) ([]query.Property, error) {
		return query.Read(r, name, t, query.Limits{Bytes: c.Limit.MaxBytes, Depth: c.Limit.MaxDepth})
	})
	if err != nil {
		return err
	}
	o, done := c.Visit.options(ctx, s, t.Net.ID, cmp.Or(c.Explore, math.MaxInt))
	results, visit := query.Answer(t, properties, o)
	done()
	for i := range results {
		a := answerOf(&results[i], visit.Stopped)
		a.Net = t.Net.ID
		if c.JSON {
			printJSON(s, a)
		} else {
			fmt.Fprintln(s.out, a.contest())
		}
	}
	return nil
}

func answerOf(r *query.Result, stopped explore.Reason) (a answered) {
	a.Property = r.Property.ID
	bound := r.Property.Kind == query.Bound
	switch {
	case !r.Known:
		a.Stopped = stopped
		if bound {
			a.AtLeast = &r.Most
		}
	case bound:
		a.Bound = &r.Most
	default:
		a.Holds = &r.Holds
	}
	return a
}

// contest returns the line of the Model Checking Contest for an answer.
func (a *answered) contest() string {
	answer := "CANNOT_COMPUTE"
	switch {
	case a.Holds != nil:
		answer = strings.ToUpper(strconv.FormatBool(*a.Holds)) + " TECHNIQUES EXPLICIT"
	case a.Bound != nil:
		answer = strconv.FormatInt(*a.Bound, 10) + " TECHNIQUES EXPLICIT"
	}
	return "FORMULA " + a.Property + " " + answer
}
