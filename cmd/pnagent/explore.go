// SPDX-License-Identifier: Apache-2.0

package main

import (
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
	Deadlocks int               `json:"deadlocks"` // dead markings: nothing is enabled
	Ends      int               `json:"ends"`      // those of them with tokens in final places only
	Bounds    map[string]uint32 `json:"bounds"`
	Path      []string          `json:"path,omitempty"` // transitions to the nearest dead marking that is no proper end
	Dead      map[string]uint32 `json:"dead,omitempty"` // its marking, empty places left out
	// By step of the path: the places that an inclusive split chose. Absent if
	// there is none on it.
	Branches [][]string `json:"branches,omitempty"`
	// Inclusive splits of which not every set of branches was followed.
	Cut []string `json:"cut,omitempty"`
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
func (c *checkCmd) printExplored(s streams, t *petri.Tables) {
	r := explore.Visit(t, c.Explore)
	out := explored{Net: t.Net.ID, Markings: r.Markings, Complete: r.Complete, Deadlocks: r.Deadlocks, Ends: r.Ends, Bounds: map[string]uint32{}}
	for p, most := range r.Bounds {
		out.Bounds[t.Net.Places[p].ID] = most
	}
	for _, tr := range r.Path {
		out.Path = append(out.Path, t.Net.Transitions[tr].ID)
	}
	for _, places := range r.Branches {
		chosen := []string{}
		for _, p := range places {
			chosen = append(chosen, t.Net.Places[p].ID)
		}
		out.Branches = append(out.Branches, chosen)
	}
	for _, tr := range r.Cut {
		out.Cut = append(out.Cut, t.Net.Transitions[tr].ID)
	}
	for p, m := range r.Dead {
		if m > 0 {
			if out.Dead == nil {
				out.Dead = map[string]uint32{}
			}
			out.Dead[t.Net.Places[p].ID] = m
		}
	}
	out.Invariants = conservedIn(t)
	if !c.JSON {
		fmt.Fprintln(s.out, out.words(r.Path != nil))
	}
	line, _ := json.Marshal(out) // strings and numbers always marshal
	fmt.Fprintf(s.out, "%s\n", line)
}

// words says how many markings are dead, how many of them are a proper end, and
// the way to one that is not, if one was found.
func (e *explored) words(deadlock bool) string {
	seen := count(uint64(e.Markings), "marking") + " visited, not all that can be reached"
	if e.Complete {
		seen = count(uint64(e.Markings), "marking") + " visited, all that can be reached"
	}
	if e.Deadlocks == 0 {
		return seen + "; none is dead"
	}
	said := fmt.Sprintf("%s; %d dead, of which %s", seen, e.Deadlocks, count(uint64(e.Ends), "proper end"))
	if !deadlock {
		return said + " (tokens only in final places)"
	}
	said += fmt.Sprintf(" and %s", count(uint64(e.Deadlocks-e.Ends), "deadlock"))
	if len(e.Path) == 0 {
		return said + "; the initial marking is one"
	}
	return fmt.Sprintf("%s; a shortest way to one: %q", said, e.Path)
}
