// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/explore"
)

type checkCmd struct {
	JSON    bool       `help:"Print one JSON object a net instead of text."`
	Explore int        `placeholder:"N" help:"Also visit up to N of the markings that each net can reach, and print one JSON line: how many there are, the most tokens in each place, deadlocks and a shortest path to one, weighted sums of tokens that never change."`
	Files   []string   `arg:"" name:"net" help:"PNML files; - is standard input."`
	Limit   limitFlags `embed:""`
}

// checkedNet is what check says of one net.
type checkedNet struct {
	File        string   `json:"file"`
	Net         string   `json:"net"`
	Name        string   `json:"name,omitempty"`
	Places      int      `json:"places"`
	Transitions int      `json:"transitions"`
	Arcs        int      `json:"arcs"`
	Tokens      uint64   `json:"tokens"`
	Findings    []string `json:"findings,omitempty"`
}

// Run reads every file, prints what is valid and returns what is not.
func (c *checkCmd) Run(s streams) error {
	var errs []error
	for _, path := range c.Files {
		file, err := readNet(path, s, c.Limit.limits())
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for i := range file.Warnings {
			if !c.JSON {
				fmt.Fprintln(s.out, "warning:", file.Warnings[i].Error())
			}
		}
		for _, n := range file.Nets {
			t, err := petri.Compile(n)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			c.print(s, summary(path, t))
			if c.Explore > 0 {
				printExplored(s, t, c.Explore)
			}
		}
		if len(file.Nets) == 0 && !c.JSON {
			fmt.Fprintf(s.out, "%s: no net\n", path)
		}
	}
	return errors.Join(errs...)
}

func summary(path string, t *petri.Tables) *checkedNet {
	n := t.Net
	out := &checkedNet{File: path, Net: n.ID, Name: n.Name, Places: len(n.Places), Transitions: len(n.Transitions), Arcs: len(n.Arcs)}
	for i := range n.Places {
		out.Tokens += uint64(n.Places[i].Initial)
	}
	for _, f := range t.Findings() {
		out.Findings = append(out.Findings, f.Error())
	}
	return out
}

func (c *checkCmd) print(s streams, n *checkedNet) {
	if c.JSON {
		line, _ := json.Marshal(n) // strings and numbers always marshal
		fmt.Fprintf(s.out, "%s\n", line)
		return
	}
	fmt.Fprintf(s.out, "%s: net %q: %s, %s, %s, %s\n", n.File, n.Net, count(uint64(n.Places), "place"),
		count(uint64(n.Transitions), "transition"), count(uint64(n.Arcs), "arc"), count(n.Tokens, "token"))
	for _, f := range n.Findings {
		fmt.Fprintln(s.out, "note:", f)
	}
}

func count(n uint64, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}

// explored is what a net's state space is like, as far as it was visited.
type explored struct {
	Net       string            `json:"net"`
	Markings  int               `json:"markings"`
	Complete  bool              `json:"complete"`
	Deadlocks int               `json:"deadlocks"`
	Bounds    map[string]uint32 `json:"bounds"`
	Path      []string          `json:"path,omitempty"` // transitions to the nearest deadlock
	Dead      map[string]uint32 `json:"dead,omitempty"` // its marking, empty places left out
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

func printExplored(s streams, t *petri.Tables, limit int) {
	r := explore.Visit(t, limit)
	out := explored{Net: t.Net.ID, Markings: r.Markings, Complete: r.Complete, Deadlocks: r.Deadlocks, Bounds: map[string]uint32{}}
	for p, most := range r.Bounds {
		out.Bounds[t.Net.Places[p].ID] = most
	}
	for _, tr := range r.Path {
		out.Path = append(out.Path, t.Net.Transitions[tr].ID)
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
	line, _ := json.Marshal(out) // strings and numbers always marshal
	fmt.Fprintf(s.out, "%s\n", line)
}
