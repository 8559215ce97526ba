// SPDX-License-Identifier: Apache-2.0

// Command mutate measures whether tests notice errors. It changes one thing in
// a package (a comparison, a statement, an error that is returned), runs the
// package's own tests, and reports each change that no test noticed. It takes
// a random sample of all changes, the same sample for the same seed and source.
//
// A mutant that the tests of its package cannot miss by any behaviour is not
// made where it can be recognised: texts of errors and logs, log levels,
// capacities, file modes, units of time, large constants, locks (the race
// detector has these), generated files.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// options are the flags.
type options struct {
	n, parallel int
	seed        uint64
	timeout     time.Duration
	short       bool
}

func main() {
	var o options
	flag.IntVar(&o.n, "n", 60, "`mutants` of each package; 0 for all")
	flag.Uint64Var(&o.seed, "seed", 1, "`number` that the sample is drawn with")
	flag.DurationVar(&o.timeout, "timeout", 10*time.Second, "`time` that a mutant may take beyond four times that of the unchanged package")
	flag.IntVar(&o.parallel, "parallel", 1, "`mutants` that are tried at the same time")
	flag.BoolVar(&o.short, "short", false, "run the tests with -short")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Stderr, o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// goPackage is what `go list` says of a package.
type goPackage struct {
	ImportPath, Dir           string
	GoFiles                   []string
	TestGoFiles, XTestGoFiles []string
}

// run prints the table of the packages to out, and to progress which one it is at.
func run(ctx context.Context, out, progress io.Writer, o options, patterns []string) error {
	if len(patterns) == 0 || o.n < 0 || o.timeout < 0 || o.parallel < 1 {
		return fmt.Errorf("got packages %q, -n %d, -timeout %s, -parallel %d; expected a package, no negative number, and -parallel of at least 1", patterns, o.n, o.timeout, o.parallel)
	}
	packages, err := list(ctx, patterns)
	if err != nil {
		return err
	}
	var all []tally
	for _, p := range packages {
		t, err := measure(ctx, progress, o, p)
		if err != nil {
			return err
		}
		all = append(all, t)
	}
	return print(out, all)
}

func list(ctx context.Context, patterns []string) ([]goPackage, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles"}, patterns...)...)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %q: %w", patterns, err)
	}
	var out []goPackage
	for d := json.NewDecoder(bytes.NewReader(text)); d.More(); {
		var p goPackage
		if err := d.Decode(&p); err != nil {
			return nil, fmt.Errorf("read what go list says: %w", err)
		}
		out = append(out, p)
	}
	return out, nil
}

// measure tries a sample of the mutants of one package.
func measure(ctx context.Context, progress io.Writer, o options, p goPackage) (tally, error) {
	t := tally{pkg: p.ImportPath, dir: p.Dir}
	if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 {
		fmt.Fprintf(progress, "%s: no tests\n", p.ImportPath)
		return t, nil
	}
	all, err := find(p.Dir, p.GoFiles)
	if err != nil {
		return t, err
	}
	t.tried = sample(all, o)
	work, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return t, err
	}
	defer os.RemoveAll(work)
	r := &runner{pkg: p.ImportPath, dir: p.Dir, work: work, short: o.short}
	took, err := r.base(ctx, o.timeout)
	if err != nil {
		return t, err
	}
	fmt.Fprintf(progress, "%s: %d of %d mutants, a run of the tests takes %s\n", p.ImportPath, len(t.tried), len(all), took.Round(time.Millisecond))
	t.results, err = tryAll(ctx, progress, r, t.tried, o.parallel)
	return t, err
}

// sample draws n of the mutants and returns them in the order of the source.
func sample(all []mutant, o options) []mutant {
	if o.n == 0 || o.n >= len(all) {
		return all
	}
	picks := rand.New(rand.NewPCG(o.seed, 0)).Perm(len(all))[:o.n]
	slices.Sort(picks)
	out := make([]mutant, len(picks))
	for i, p := range picks {
		out[i] = all[p]
	}
	return out
}

func tryAll(ctx context.Context, progress io.Writer, r *runner, tried []mutant, parallel int) ([]result, error) {
	results, errs := make([]result, len(tried)), make([]error, len(tried))
	var wg sync.WaitGroup
	free := make(chan struct{}, parallel)
	for i, m := range tried {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			if results[i], errs[i] = r.try(ctx, m); results[i] == survived && errs[i] == nil {
				fmt.Fprintf(progress, "  survived: %s:%d:%d %s\n", filepath.Base(m.file), m.at.Line, m.at.Column, m.operator)
			}
		})
	}
	wg.Wait()
	return results, cmp.Or(errs...)
}
