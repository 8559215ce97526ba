// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/petri"
)

type checkCmd struct {
	JSON      bool       `help:"Print one JSON object for each net instead of text."`
	Explore   int        `placeholder:"N" help:"Also visit up to N reachable markings of each net, and print one JSON line: the number of markings, of dead markings (deadlocks) and of proper ends, which have tokens only in final places (ends), the bound of each place, a shortest path to a dead marking that is not a proper end, and the weighted sums of tokens that never change. Without --json, it also prints a sentence."`
	Deadlocks int        `placeholder:"N" help:"Also look for deadlocks in up to N markings, and print one JSON line: a shortest path to a dead marking that is not a proper end, and how many dead markings and proper ends there are. It visits only the markings that are needed for this (stubborn sets), often far fewer than --explore; all of them if the net has inclusive gateways, scopes (as of sub-processes and boundary events) or urgent transitions (those that catch an event)."`
	Query     string     `placeholder:"FILE" help:"Answer the properties of a file in the XML format of the Model Checking Contest: reachability (EF, AG) and upper bounds. It prints one line a property, as in the contest or, with --json, as JSON. It visits up to N markings of --explore, or as many as are needed."`
	Files     []string   `arg:"" name:"net" help:"PNML or BPMN files; - is standard input."`
	Limit     limitFlags `embed:""`
	Visit     visitFlags `embed:""`
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
func (c *checkCmd) Run(ctx context.Context, s streams) error {
	files, err := readNets(c.Files, s, c.Limit)
	errs := []error{err}
	for i, path := range c.Files {
		file := files[i]
		if file == nil {
			continue
		}
		for i := range file.Warnings {
			if !c.JSON {
				fmt.Fprintln(s.out, "warning:", file.Warnings[i].Error())
			}
		}
		for i, n := range file.Nets {
			t, err := petri.Compile(n)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			c.print(s, summary(path, t, file.Became(i)))
			_, err = engine.Declared(t) // compiles the expressions
			errs = append(errs, err)
			errs = append(errs, c.visit(ctx, s, t))
		}
		if len(file.Nets) == 0 && !c.JSON {
			fmt.Fprintf(s.out, "%s: no net\n", path)
		}
	}
	return errors.Join(errs...)
}

// visit prints what the flags ask for of the markings of a net. It does nothing once the
// context has ended.
func (c *checkCmd) visit(ctx context.Context, s streams, t *petri.Tables) error {
	if c.Explore > 0 && ctx.Err() == nil && c.Query == "" {
		c.printExplored(ctx, s, t)
	}
	if c.Deadlocks > 0 && ctx.Err() == nil {
		c.printDeadlocks(ctx, s, t)
	}
	if c.Query != "" && ctx.Err() == nil {
		if err := c.printAnswers(ctx, s, t); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return fmt.Errorf("net %q: interrupted; what was printed is not complete", t.Net.ID)
	}
	return nil
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

func count(n uint64, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}
