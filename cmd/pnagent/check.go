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
			c.print(s, summary(path, t, file.Became(i)))
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
