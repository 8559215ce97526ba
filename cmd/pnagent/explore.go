// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/explore"
)

// explored is what a net's state space is like, as far as it was visited.
type explored struct {
	Net       string            `json:"net"`
	Markings  int               `json:"markings"`
	Complete  bool              `json:"complete"`
	Stopped   explore.Reason    `json:"stopped,omitempty"` // why it is not complete
	Deadlocks int               `json:"deadlocks"`         // dead markings: nothing is enabled
	Ends      int               `json:"ends"`              // those of them with tokens in final places only
	Bounds    map[string]uint32 `json:"bounds"`
	deadPath
	// Inclusive splits of which not every set of branches was followed.
	Cut []string `json:"cut,omitempty"`
	// Scopes that had several runs at one time, which were taken together: the answer
	// is not exact.
	Together []string `json:"together,omitempty"`
	// Weighted sums of tokens that no firing changes; absent for a large net.
	Invariants []conserved `json:"invariants,omitempty"`
}

// conserved is a P-invariant.
type conserved struct {
	Weights map[string]int64 `json:"weights"`
	Sum     int64            `json:"sum"`
}

// conservedIn returns a net's P-invariants by place ids.
func conservedIn(t *petri.Tables) []conserved {
	var out []conserved
	basis, _ := explore.Invariants(t)
	for _, inv := range basis {
		c := conserved{map[string]int64{}, inv.Sum}
		for p, w := range inv.Weights {
			if w != 0 {
				c.Weights[t.Net.Places[p].ID] = w
			}
		}
		out = append(out, c)
	}
	return out
}

// printExplored explores a net and prints what was found: in words unless only
// JSON is wanted, and as JSON on the last line.
func (c *checkCmd) printExplored(ctx context.Context, s streams, t *petri.Tables) {
	o, done := c.Visit.options(ctx, s, t.Net.ID, c.Explore)
	r := explore.Explore(t, o)
	done()
	out := explored{Net: t.Net.ID, Markings: r.Markings, Complete: r.Complete, Stopped: r.Stopped, Deadlocks: r.Deadlocks, Ends: r.Ends,
		Bounds: map[string]uint32{}, deadPath: wayOf(t, &r)}
	for p, most := range r.Bounds {
		out.Bounds[t.Net.Places[p].ID] = most
	}
	for _, tr := range r.Cut {
		out.Cut = append(out.Cut, t.Net.Transitions[tr].ID)
	}
	out.Together = togetherIn(t, &r)
	if ctx.Err() == nil {
		out.Invariants = conservedIn(t)
	}
	if !c.JSON {
		seen := count(uint64(r.Markings), "marking") + " visited, not all that can be reached"
		if r.Complete {
			seen = count(uint64(r.Markings), "marking") + " visited, all that can be reached"
		}
		fmt.Fprintln(s.out, seen+deadInWords(&r, out.Path)+togetherInWords(out.Together))
	}
	printJSON(s, out)
}

// togetherIn returns the ids of the scopes of which several runs were taken together.
func togetherIn(t *petri.Tables, r *explore.Result) (ids []string) {
	for _, i := range r.Together {
		ids = append(ids, t.Net.Scopes[i].ID)
	}
	return ids
}

// togetherInWords says that an answer is not exact.
func togetherInWords(ids []string) string {
	if ids == nil {
		return ""
	}
	return fmt.Sprintf("; this is not exact: several runs of %q at one time were taken together", ids)
}

// searched is what a search for deadlocks found.
type searched struct {
	Net       string         `json:"net"`
	Markings  int            `json:"markings"`
	Reduced   bool           `json:"reduced"` // not all markings had to be visited
	Complete  bool           `json:"complete"`
	Stopped   explore.Reason `json:"stopped,omitempty"`
	Deadlocks int            `json:"deadlocks"`
	Ends      int            `json:"ends"`
	Together  []string       `json:"together,omitempty"` // as of explored
	deadPath
}

// printDeadlocks searches a net for deadlocks and prints what was found.
func (c *checkCmd) printDeadlocks(ctx context.Context, s streams, t *petri.Tables) {
	o, done := c.Visit.options(ctx, s, t.Net.ID, c.Deadlocks)
	o.Reduce = true
	r := explore.Explore(t, o)
	done()
	out := searched{Net: t.Net.ID, Markings: r.Markings, Reduced: explore.Reducible(t), Complete: r.Complete, Stopped: r.Stopped,
		Deadlocks: r.Deadlocks, Ends: r.Ends, Together: togetherIn(t, &r), deadPath: wayOf(t, &r)}
	if !c.JSON {
		seen := count(uint64(r.Markings), "marking") + " visited"
		switch {
		case !r.Complete:
			seen += ", not all that are needed to find every deadlock"
		case out.Reduced:
			seen += ", which are enough to find every deadlock"
		default:
			seen += ", all that can be reached: inclusive gateways and scopes need them"
		}
		fmt.Fprintln(s.out, seen+deadInWords(&r, out.Path)+togetherInWords(out.Together))
	}
	printJSON(s, out)
}

// deadPath is a shortest path to a dead marking that is no proper end.
type deadPath struct {
	Path []string          `json:"path,omitempty"` // transitions
	Dead map[string]uint32 `json:"dead,omitempty"` // its marking, empty places left out
	// By step of the path: the places that an inclusive split chose. Absent if
	// there is none on it.
	Branches [][]string `json:"branches,omitempty"`
}

func wayOf(t *petri.Tables, r *explore.Result) (w deadPath) {
	for _, tr := range r.Path {
		w.Path = append(w.Path, t.Net.Transitions[tr].ID)
	}
	for _, places := range r.Branches {
		chosen := []string{}
		for _, p := range places {
			chosen = append(chosen, t.Net.Places[p].ID)
		}
		w.Branches = append(w.Branches, chosen)
	}
	for p, m := range r.Dead {
		if m > 0 {
			if w.Dead == nil {
				w.Dead = map[string]uint32{}
			}
			w.Dead[t.Net.Places[p].ID] = m
		}
	}
	return w
}

func printJSON(s streams, v any) {
	line, _ := json.Marshal(v) // strings and numbers always marshal
	fmt.Fprintf(s.out, "%s\n", line)
}

// deadInWords says how many markings are dead, how many of them are a proper end, and
// the way to one that is not, if one was found.
func deadInWords(r *explore.Result, path []string) string {
	if r.Deadlocks == 0 {
		return "; none is dead"
	}
	said := fmt.Sprintf("; %d dead, of which %s", r.Deadlocks, count(uint64(r.Ends), "proper end"))
	if r.Path == nil {
		return said + " (tokens only in final places)"
	}
	said += fmt.Sprintf(" and %s", count(uint64(r.Deadlocks-r.Ends), "deadlock"))
	if len(path) == 0 {
		return said + "; the initial marking is a deadlock"
	}
	return fmt.Sprintf("%s; a shortest way to one: %q", said, path)
}
