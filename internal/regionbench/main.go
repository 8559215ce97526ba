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
	"os/signal"
	"regexp"
	"syscall"
	"time"
)

func main() {
	b := &bench{}
	flag.DurationVar(&b.window, "window", 5*time.Second, "how long each rate is measured")
	flag.IntVar(&b.takeoverCount, "takeovers", 20, "hand-overs, as many kills and as many stops that are measured")
	flag.IntVar(&b.procs, "procs", 1, "processors that each engine uses (GOMAXPROCS); 0 for all")
	flag.BoolVar(&b.base, "base", true, "measure the emulation of DiPeN's protocol too")
	only := flag.String("only", "", "regular expression: the figures to measure; all if empty")
	asJSON := flag.Bool("json", false, "print JSON instead of a table")
	flag.StringVar(&b.dir, "dir", "", "where the server keeps its streams; a temporary directory if empty")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := b.run(ctx, os.Stdout, *only, *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "regionbench:", err)
		os.Exit(1)
	}
}

// bench is how it is measured.
type bench struct {
	programs
	dir           string
	window        time.Duration
	takeoverCount int
	procs         int
	base          bool
}

func (b *bench) run(ctx context.Context, out io.Writer, only string, asJSON bool) (err error) {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp(b.dir, "regionbench"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	fmt.Fprintln(os.Stderr, "building …")
	if b.programs, err = build(ctx, b.dir); err != nil {
		return err
	}
	var base map[string]float64
	if b.base {
		fmt.Fprintln(os.Stderr, "base …")
		if base, err = b.emulate(ctx); err != nil {
			return err
		}
	}
	var rows []result
	for _, f := range figures() {
		if !wanted.MatchString(f.what) {
			continue
		}
		began := time.Now()
		r, err := f.measure(ctx, b, base)
		if err != nil {
			return fmt.Errorf("%s: %w", f.what, err)
		}
		fmt.Fprintf(os.Stderr, "%s: %s, in %.0f s\n", f.what, r.reached(), time.Since(began).Seconds())
		rows = append(rows, r)
	}
	if asJSON {
		return json.NewEncoder(out).Encode(rows)
	}
	return table(out, rows)
}
