// SPDX-License-Identifier: Apache-2.0

// Command benchtable runs the benchmarks of the promised speeds and prints one
// Markdown table. Each result is beside its base from the same run, because results
// of different machines are comparable only as ratios.
package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/pnagent/pnagent/internal/measure"
)

func main() {
	count := flag.Int("count", 3, "runs of each benchmark; the best is shown")
	benchtime := flag.String("benchtime", "1s", "time of one run")
	only := flag.String("only", "", "comma-separated packages to measure; all if empty")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *count, *benchtime, *only); err != nil {
		fmt.Fprintln(os.Stderr, "benchtable:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer, count int, benchtime, only string) error {
	all, err := groups()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s, %d processors, %s\n\n", measure.Processor(), runtime.GOMAXPROCS(0), runtime.Version())
	fmt.Fprintln(w, "| what | result | base | base's result | ratio | goal |")
	fmt.Fprintln(w, "|---|---:|---|---:|---:|---|")
	for _, g := range all {
		if only != "" && !slices.Contains(strings.Split(only, ","), g.Package) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s …\n", g.Package)
		best, err := bench(ctx, g, count, benchtime)
		if err != nil {
			return err
		}
		for _, r := range g.Rows {
			if err := r.print(w, best); err != nil {
				return fmt.Errorf("%s: %w", g.Package, err)
			}
		}
	}
	return nil
}

// bench returns the best result of every benchmark of a group, by name and
// unit.
func bench(ctx context.Context, g group, count int, benchtime string) (map[string]float64, error) {
	args := []string{"go", "test", "-run", "^$", "-bench", g.Pattern, "-benchtime", benchtime, "-count", strconv.Itoa(count), "./" + g.Package}
	if g.OneProcessor {
		args = append([]string{"taskset", "-c", "0"}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("benchmarks of %s: %w\n%s", g.Package, err, &out)
	}
	return measure.Benchmarks(&out), nil
}

// print writes one row of the table.
func (r row) print(w io.Writer, best map[string]float64) error {
	unit := cmp.Or(r.Unit, "ns/op")
	v, ok := best[r.Name+" "+unit]
	if !ok {
		return fmt.Errorf("no result %q in %s", r.Name, unit)
	}
	base, ratio := "", ""
	if r.Base != "" {
		baseUnit := cmp.Or(r.BaseUnit, unit)
		b, ok := best[r.Base+" "+baseUnit]
		if !ok {
			return fmt.Errorf("no result %q in %s", r.Base, baseUnit)
		}
		base, ratio = amount(b, unit), fmt.Sprintf("%.2f", v/b)
	}
	_, err := fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s |\n", r.What, amount(v, unit), r.BaseIs, base, ratio, r.Goal)
	return err
}

// amount formats a value with its unit.
func amount(v float64, unit string) string {
	switch {
	case unit == "ns/op" && v >= 1e6:
		return fmt.Sprintf("%.1f ms", v/1e6)
	case unit == "ns/op" && v >= 1e4:
		return fmt.Sprintf("%.1f µs", v/1e3)
	case unit == "ns/op":
		return fmt.Sprintf("%.1f ns", v)
	case v >= 1e6:
		return fmt.Sprintf("%.2f M %s", v/1e6, unit)
	case v >= 1e4:
		return fmt.Sprintf("%.0f k %s", v/1e3, unit)
	}
	return fmt.Sprintf("%.4g %s", v, unit)
}

// group is the benchmarks of one package that are run together.
type group struct {
	Package string
	Pattern string // of go test -bench
	// OneProcessor keeps the benchmark and the processes that it starts on one
	// processor.
	OneProcessor bool `yaml:"one_processor"`
	Rows         []row
}

// row is one line of the table.
type row struct {
	What     string
	Name     string // of the benchmark, without "Benchmark"
	Unit     string // "" for ns/op
	Base     string // name of the base; "" for none
	BaseUnit string `yaml:"base_unit"` // "" for the same
	BaseIs   string `yaml:"base_is"`   // what the base is
	Goal     string
}

//go:embed benchmarks.yaml
var benchmarks []byte

// groups returns the benchmarks behind the promises of speed.
func groups() (all []group, err error) {
	err = yaml.NewDecoder(bytes.NewReader(benchmarks), yaml.Strict()).Decode(&all)
	return all, err
}
