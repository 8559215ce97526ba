// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "fleetsim:", err)
		}
		stop()
		os.Exit(1) //nolint:gocritic // stop was called
	}
}

// options are what the command line says.
type options struct {
	stage    stageConfig
	sizes    []int
	tree     int
	both     int
	json     bool
	markdown bool
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("fleetsim", flag.ContinueOnError)
	f.SetOutput(stderr)
	sizes := f.String("sources", "1000,3000,10000", "sizes of the fleet that one sidecar hears, one stage each; 0 for none")
	f.IntVar(&o.tree, "tree", 10_000, "size of the fleet that a tree hears; 0 for none")
	f.IntVar(&o.both, "both", 10_000, "size of the fleet that one sidecar and a tree hear at once, to be compared; 0 for none")
	f.IntVar(&o.stage.below, "below", 4, "sidecars of the tree below the root")
	f.DurationVar(&o.stage.interval, "interval", time.Second, "time between two messages of a source")
	f.Float64Var(&o.stage.churn, "churn", 0.0002, "share of the turns in which a source begins anew, and as many in which it falls silent")
	f.DurationVar(&o.stage.warmUp, "warm-up", 20*time.Second, "time before anything is measured")
	f.DurationVar(&o.stage.measure, "measure", 30*time.Second, "time that is measured")
	f.StringVar(&o.stage.natsURL, "nats", "", "NATS server to use; default: one in this process, which divides subjects into shares")
	f.StringVar(&o.stage.program, "pnagent", "", "pnagent to run; default: built from this checkout")
	f.IntVar(&o.stage.processor, "processor", runtime.NumCPU()-1, "processor to pin the one sidecar to, with taskset; negative for none")
	f.StringVar(&o.stage.stateDir, "state-dir", "", "where sidecars below keep their state; default: with temporary files")
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.BoolVar(&o.markdown, "markdown", false, "print the tables of docs/scale.md")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("%q: expected flags only", f.Arg(0))
	}
	for part := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 0 || n == 1 {
			return o, fmt.Errorf("--sources %s: expected numbers of 2 or more with commas between", *sizes)
		}
		if n > 0 {
			o.sizes = append(o.sizes, n)
		}
	}
	if c := &o.stage; o.tree == 1 || o.both == 1 || o.tree < 0 || o.both < 0 || c.below < 1 || c.interval <= 0 || c.warmUp < 0 || c.measure <= 0 {
		return o, errors.New("--tree, --both: expected 0 or 2 and more; --below, --interval and --measure: more than 0")
	}
	return o, nil
}

// stages are those that the options ask for.
func (o *options) stages() []stageConfig {
	var all []stageConfig
	add := func(kind string, sources int) {
		one := o.stage
		one.kind, one.sources = kind, sources
		all = append(all, one)
	}
	for _, n := range o.sizes {
		add(flatOnly, n)
	}
	if o.tree > 0 {
		add(treeOnly, o.tree)
	}
	if o.both > 0 {
		add(both, o.both)
	}
	return all
}

// run runs every stage. Where a View was not the truth or anything was dropped,
// it prints what it measured and returns an error.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if o.stage.program == "" {
		dir, err := os.MkdirTemp("", "fleetsim-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		if o.stage.program, err = buildProgram(ctx, dir); err != nil {
			return err
		}
	}
	begin := time.Now()
	o.stage.progress = func(format string, args ...any) {
		fmt.Fprintf(stderr, "%6.1f s  %s\n", time.Since(begin).Seconds(), fmt.Sprintf(format, args...))
	}
	r := report{Machine: machine(), Command: "go run ./internal/fleetsim " + strings.Join(args, " ")}
	for _, cfg := range o.stages() {
		out, err := runStage(ctx, cfg)
		if err != nil {
			return fmt.Errorf("%s, %d sources: %w", cfg.kind, cfg.sources, err)
		}
		r.Stages = append(r.Stages, out)
	}
	switch {
	case o.json:
		enc := json.NewEncoder(stdout)
		enc.SetIndent("", "  ")
		err = enc.Encode(&r)
	case o.markdown:
		err = r.markdown(stdout)
	default:
		err = r.text(stdout)
	}
	return errors.Join(err, r.verdict())
}

func command(ctx context.Context, name string, args ...string) ([]byte, error) {
	return exec.CommandContext(ctx, name, args...).CombinedOutput()
}
