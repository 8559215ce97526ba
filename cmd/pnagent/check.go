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
	Files   []string   `arg:"" name:"net" help:"PNML or BPMN files; - is standard input."`
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
	Elements    []string `json:"elements,omitempty"` // of a process: what each became
	Findings    []string `json:"findings,omitempty"`
}

// Run reads every file, prints what is valid and returns what is not.
func (c *checkCmd) Run(s streams) error {
	var errs []error
	for _, path := range c.Files {
		file, err := readNet(path, s, c.Limit)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for i := range file.warnings {
			if !c.JSON {
				fmt.Fprintln(s.out, "warning:", file.warnings[i].Error())
			}
		}
		for i, n := range file.nets {
			t, err := petri.Compile(n)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			c.print(s, summary(path, t, file.became(i)))
			if c.Explore > 0 {
				printExplored(s, t, c.Explore)
			}
		}
		if len(file.nets) == 0 && !c.JSON {
			fmt.Fprintf(s.out, "%s: no net\n", path)
		}
	}
	return errors.Join(errs...)
}

func summary(path string, t *petri.Tables, became []string) *checkedNet {
	n := t.Net
	out := &checkedNet{File: path, Net: n.ID, Name: n.Name, Places: len(n.Places), Transitions: len(n.Transitions), Arcs: len(n.Arcs), Elements: became}
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
	for _, e := range n.Elements {
		fmt.Fprintf(s.out, "  %s:%s\n", n.File, e)
	}
	for _, f := range n.Findings {
		fmt.Fprintln(s.out, "note:", f)
	}
}

// became returns what each element of a process became, and what was left out
// of its file. Of PNML it returns nothing: there everything is what it is.
func (f *netFile) became(net int) []string {
	if f.process == nil {
		return nil
	}
	var out []string
	for _, e := range f.process.Elements[net] {
		out = append(out, e.String())
	}
	if net == 0 {
		for _, e := range f.process.LeftOut {
			out = append(out, e.String())
		}
	}
	return out
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
	// By step of the path: the places that an inclusive split chose. Absent if
	// there is none on it.
	Branches [][]string `json:"branches,omitempty"`
	// Inclusive splits with so many branches that not every set was followed.
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

func printExplored(s streams, t *petri.Tables, limit int) {
	r := explore.Visit(t, limit)
	out := explored{Net: t.Net.ID, Markings: r.Markings, Complete: r.Complete, Deadlocks: r.Deadlocks, Bounds: map[string]uint32{}}
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
	line, _ := json.Marshal(out) // strings and numbers always marshal
	fmt.Fprintf(s.out, "%s\n", line)
}
