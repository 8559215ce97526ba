// SPDX-License-Identifier: Apache-2.0

package fleetsim

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// scale holds the options of TestScale.
var scale = flag.String("scale", "", "measure sidecars under a simulated fleet, with these options; --help lists them, -- for none")

// TestScale measures sidecars and prints tables. It fails if a View was not the
// truth or a message was dropped.
func TestScale(t *testing.T) {
	if *scale == "" {
		t.Skip("measures for minutes; make scale runs it")
	}
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, strings.Fields(*scale), os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		t.Fatal(err)
	}
}

// options are the options of the command line.
type options struct {
	stage    stageConfig
	sizes    []fleetSize
	tree     int
	both     int
	json     bool
	markdown bool
}

// fleetSize is a number of sources, and the time between two messages of each.
type fleetSize struct {
	sources  int
	interval time.Duration
}

// fleetSize reads a size: a number, and the interval if it is not the one of all sizes.
func (o *options) fleetSize(text string) (fleetSize, error) {
	number, own, has := strings.Cut(strings.TrimSpace(text), "@")
	size := fleetSize{interval: o.stage.interval}
	var err error
	size.sources, err = strconv.Atoi(number)
	if err == nil && has {
		size.interval, err = time.ParseDuration(own)
	}
	if err != nil || size.sources < 0 || size.sources == 1 || size.interval <= 0 {
		return size, fmt.Errorf("--sources: %q; expected a number of 2 or more, or one as in 100000@30s", text)
	}
	return size, nil
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("scale", flag.ContinueOnError)
	f.SetOutput(stderr)
	sizes := f.String("sources", "1000,3000,10000", "sizes of the fleet of one sidecar, one stage each; 100000@30s has another interval than --interval; 0 for none")
	f.IntVar(&o.tree, "tree", 10_000, "size of the fleet of a tree; 0 for none")
	f.IntVar(&o.both, "both", 10_000, "size of the fleet that one sidecar and a tree receive at once, to compare them; 0 for none")
	f.IntVar(&o.stage.below, "below", 4, "sidecars of the tree below the root")
	f.DurationVar(&o.stage.interval, "interval", time.Second, "time between two messages of a source")
	f.Float64Var(&o.stage.churn, "churn", 0.0002, "share of the turns in which a source restarts, and of those in which it becomes silent")
	f.DurationVar(&o.stage.warmUp, "warm-up", 20*time.Second, "time before the measurement")
	f.DurationVar(&o.stage.measure, "measure", 30*time.Second, "length of the measurement")
	f.StringVar(&o.stage.natsURL, "nats", "", "NATS server to use; default: one in this process, which divides subjects into shares")
	f.StringVar(&o.stage.program, "pnagent", "", "pnagent to run; default: built from this checkout")
	f.IntVar(&o.stage.processor, "processor", runtime.NumCPU()-1, "processor to pin the one sidecar to, with taskset; negative for none")
	f.StringVar(&o.stage.stateDir, "state-dir", "", "where the sidecars keep their state; default: a temporary directory")
	f.DurationVar(&o.stage.silence, "silence", 0, "how long to measure while the whole fleet is silent, after the comparison; 0 for not")
	f.BoolVar(&o.stage.memory, "memory", false, "measure sidecars that keep nothing on a disk, as with an empty --mib-dir; those below a root keep their counters")
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.BoolVar(&o.markdown, "markdown", false, "print the tables of docs/scale.md")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q: expected flags only", f.Arg(0))
	}
	for part := range strings.SplitSeq(*sizes, ",") {
		size, err := o.fleetSize(part)
		if err != nil {
			return o, err
		}
		if size.sources > 0 {
			o.sizes = append(o.sizes, size)
		}
	}
	if c := &o.stage; o.tree == 1 || o.both == 1 || o.tree < 0 || o.both < 0 || c.below < 1 || c.interval <= 0 || c.warmUp < 0 || c.silence < 0 || c.measure <= 0 {
		return o, errors.New("expected 0 or at least 2 for --tree and --both, and more than 0 for --below, --interval and --measure")
	}
	return o, nil
}

// stages returns the configured stages.
func (o *options) stages() []stageConfig {
	var all []stageConfig
	add := func(kind string, size fleetSize) {
		one := o.stage
		one.kind, one.sources, one.interval = kind, size.sources, size.interval
		all = append(all, one)
	}
	for _, n := range o.sizes {
		add(flatOnly, n)
	}
	if o.tree > 0 {
		add(treeOnly, fleetSize{o.tree, o.stage.interval})
	}
	if o.both > 0 {
		add(both, fleetSize{o.both, o.stage.interval})
	}
	return all
}

// run runs every stage and prints what it measured. It returns an error if a
// View was not the truth or a message was dropped.
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
	r := report{Machine: machine(), Command: fmt.Sprintf("go test ./e2e/fleetsim -run TestScale -scale %q", strings.Join(args, " "))}
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
