// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/pnagent/pnagent/cli"
	paper "github.com/pnagent/pnagent/dashboards/report"
	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/simulate"
	"github.com/pnagent/pnagent/internal/duration"
	"github.com/pnagent/pnagent/internal/plaintext"
	"github.com/pnagent/pnagent/petri"
)

// Run simulates a net and prints what the runs had in common.
func (c *simulateCmd) Run(ctx context.Context, s streams, log *slog.Logger) error {
	o, err := c.options(ctx, s)
	if err != nil {
		return cli.Usage(err)
	}
	tables, bindings, err := c.read(s, log)
	if err != nil {
		return err
	}
	var learned *simulate.Log
	if c.From != "" {
		learned, err = cli.ReadFile(c.From, "an event log", simulate.ReadLog)
		if err != nil {
			return err
		}
	}
	m, err := engine.Simulation(bindings, tables, c.Instances, learned)
	if err != nil {
		return err
	}
	if c.Vary != "" {
		return c.vary(s, m, o)
	}
	summary, err := simulate.Study(m, o)
	if err != nil {
		return simulationError(err)
	}
	if err := c.writePage(s, summary, nil); err != nil || c.Report == "-" {
		return err
	}
	if c.JSON {
		printJSON(s, summary)
		return nil
	}
	introduce(s, summary)
	for _, t := range summary.Tables() {
		if err := printTable(s, t); err != nil {
			return err
		}
	}
	return nil
}

// introduce says what was simulated, and what to know of it.
func introduce(s streams, r *simulate.Summary) {
	fmt.Fprintln(s.out, r.How())
	for _, n := range r.Notes {
		fmt.Fprintln(s.out, "note:", n)
	}
}

// printTable prints a table with aligned columns, unless it is empty.
func printTable(s streams, t simulate.Table) error {
	if len(t.Rows) == 0 {
		return nil
	}
	fmt.Fprintf(s.out, "\n%s. %s\n", t.Title, t.About)
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		cells := make([]string, len(row))
		for k, text := range row {
			cells[k] = plaintext.Escape(text)
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
	}
	return w.Flush()
}

// writePage writes the page of a report, if a flag names its file.
func (c *simulateCmd) writePage(s streams, r *simulate.Summary, v *simulate.Varied) error {
	if c.Report == "" {
		return nil
	}
	var page bytes.Buffer
	if err := paper.Simulation(time.Now(), r, v).HTML(&page); err != nil {
		return err
	}
	if err := s.write(c.Report, page.Bytes()); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

// simulationError says whose mistake it is.
func simulationError(err error) error {
	if errors.Is(err, simulate.ErrStopped) {
		return errors.New("interrupted; nothing was estimated")
	}
	return cli.UsageIf(err, simulate.ErrModel)
}

// read reads the net and its bindings.
func (c *simulateCmd) read(s streams, log *slog.Logger) (*petri.Tables, *engine.Bindings, error) {
	files, err := cli.ReadNets([]string{c.File}, s.in, c.Limit)
	if err != nil {
		return nil, nil, err
	}
	n, err := chooseNet(files, c.Net, []string{c.File}, log)
	if err != nil {
		return nil, nil, err
	}
	tables, err := petri.Compile(n)
	if err != nil || c.Bindings == "" {
		return tables, nil, err
	}
	b, err := cli.ReadFile(c.Bindings, "bindings", engine.ReadBindings)
	return tables, b, err
}

// options returns those of a study.
func (c *simulateCmd) options(ctx context.Context, s streams) (o simulate.Options, err error) {
	warmup := time.Duration(simulate.Auto) * time.Microsecond
	start, err := time.Parse(time.RFC3339, c.Start)
	if err != nil {
		return o, fmt.Errorf("--start: %q; expected a time such as 2030-01-31T08:00:00Z", c.Start)
	}
	if c.Warmup != "auto" {
		warmup, err = duration.Parse(c.Warmup)
		if err != nil || warmup < 0 {
			return o, fmt.Errorf("--warmup: %q; expected auto or a duration such as 8h", c.Warmup)
		}
	}
	if c.MaxFirings < 1 || c.MaxTokens < 1 {
		return o, errors.New("--max-firings and --max-tokens: expected 1 or more")
	}
	report := progressOn(s)
	return simulate.Options{Start: start.UnixMicro(), For: c.For.Microseconds(), Warmup: warmup.Microseconds(), Runs: c.Runs, Seed: c.Seed, Confidence: c.Confidence,
		Stuck: c.StuckAfter.Microseconds(), Limits: simulate.Limits{Firings: c.MaxFirings, Tokens: c.MaxTokens}, Each: onAllProcessors,
		Progress: func(done, total int) { report(done, total, "runs of the simulation") }, Stop: func() bool { return ctx.Err() != nil }}, nil
}

// onAllProcessors calls do for 0 to n-1, on a goroutine for each processor.
func onAllProcessors(n int, do func(i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	all.Wait()
}

// vary simulates each size of a pool.
func (c *simulateCmd) vary(s streams, m *simulate.Model, o simulate.Options) error {
	name, from, to, err := c.sizes()
	if err != nil {
		return cli.Usage(err)
	}
	pool := m.PoolNamed(name)
	if pool == simulate.NoPool {
		return cli.Usage(fmt.Errorf("--vary: net %q has no pool %q; expected one under simulate in the bindings", m.Tables.Net.ID, name))
	}
	v, err := simulate.Vary(m, pool, from, to, o)
	if err != nil {
		return simulationError(err)
	}
	if err := c.writePage(s, v.Best(), v); err != nil || c.Report == "-" {
		return err
	}
	if c.JSON {
		printJSON(s, v)
		return nil
	}
	if best := v.Best(); best != nil {
		introduce(s, best)
	}
	if err := printTable(s, v.Table()); err != nil {
		return err
	}
	fmt.Fprintln(s.out, v.Answer())
	return nil
}

// sizes reads --vary.
func (c *simulateCmd) sizes() (name string, from, to int, err error) {
	name, span, _ := strings.Cut(c.Vary, "=")
	first, last, ranged := strings.Cut(span, "..")
	if !ranged {
		last = first
	}
	from, err1 := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	if name == "" || err1 != nil || err2 != nil || from < 1 || to < from || to > simulate.MaxPool || to-from >= simulate.MaxSizes {
		return "", 0, 0, fmt.Errorf("--vary: %q; expected a pool and at most %d sizes, such as clerks=1..8", c.Vary, simulate.MaxSizes)
	}
	return name, from, to, nil
}
