// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/guard/dmn"
	"github.com/pnagent/pnagent/petri"
)

// checkedNet is what check says of one net.
type checkedNet struct {
	File string `json:"file"`
	Net  string `json:"net"`
	Name string `json:"name,omitempty"`
	size
	Aside    *size    `json:"aside,omitempty"`    // besides, of a process: what its author did not draw
	Elements []string `json:"elements,omitempty"` // of a process: what each became
	Findings []string `json:"findings,omitempty"`
}

// size is how much is in a net.
type size struct {
	Places      int    `json:"places"`
	Transitions int    `json:"transitions"`
	Arcs        int    `json:"arcs"`
	Tokens      uint64 `json:"tokens"`
}

func sizeOf(n *petri.Net) size {
	out := size{Places: len(n.Places), Transitions: len(n.Transitions), Arcs: len(n.Arcs)}
	for i := range n.Places {
		out.Tokens += uint64(n.Places[i].Initial)
	}
	return out
}

func (s size) String() string {
	return count(uint64(s.Places), "place") + ", " + count(uint64(s.Transitions), "transition") + ", " + count(uint64(s.Arcs), "arc") + ", " + count(s.Tokens, "token")
}

// Run reads every file, prints what is valid and returns what is not.
func (c *checkCmd) Run(ctx context.Context, s streams) error {
	files, err := cli.ReadNets(c.Files, s.in, c.Limit)
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
			c.print(s, c.summary(path, t, file.Became(i, c.Objects == "all")))
			_, err = engine.Declared(t) // compiles the expressions
			errs = append(errs, err)
			errs = append(errs, c.visit(ctx, s, t))
		}
		errs = append(errs, c.decisions(s, path, file.Decisions))
		if len(file.Nets) == 0 && len(file.Decisions) == 0 && !c.JSON {
			fmt.Fprintf(s.out, "%s: no net\n", path)
		}
	}
	return errors.Join(errs...)
}

// decisions prints the decisions of a DMN file, and compiles them.
func (c *checkCmd) decisions(s streams, path string, all []*petri.Decision) error {
	var errs []error
	for _, d := range all {
		what := "a literal expression"
		if d.Table != nil {
			what = fmt.Sprintf("a table with the hit policy %s and %s", d.Table.HitPolicy, count(uint64(len(d.Table.Rules)), "rule"))
		}
		if d.Refused != "" {
			what = "cannot be evaluated: " + d.Refused
		} else if _, err := dmn.Compile(all, d.ID); err != nil {
			errs = append(errs, err)
		}
		if !c.JSON {
			fmt.Fprintf(s.out, "%s: decision %q: %s\n", path, d.ID, what)
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

func (c *checkCmd) summary(path string, t *petri.Tables, became []string) *checkedNet {
	out := &checkedNet{File: path, Net: t.Net.ID, Name: t.Net.Name, size: sizeOf(t.Net), Elements: became}
	if work := sizeOf(t.Net.Work()); c.Objects != "all" && work != out.size {
		out.Aside = &size{out.Places - work.Places, out.Transitions - work.Transitions, out.Arcs - work.Arcs, out.Tokens - work.Tokens}
		out.size = work
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
	fmt.Fprintf(s.out, "%s: net %q: %s", n.File, n.Net, n.size)
	if n.Aside != nil {
		fmt.Fprintf(s.out, "; not drawn: %s", n.Aside)
	}
	fmt.Fprintln(s.out)
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
