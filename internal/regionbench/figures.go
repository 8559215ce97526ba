// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

// figure is what is measured.
type figure struct {
	what       string
	game       game
	syncAlways bool
	signal     syscall.Signal // of a take-over; 0 for a rate
	goal       float64        // firings a second, or milliseconds
	dipen      float64        // what DiPeN has published; 0 for nothing
	base       string         // benchmark of the emulation; "" for none
}

// result is a figure that was measured. Rates are firings a second, durations
// milliseconds.
type result struct {
	What    string    `json:"what"`
	Unit    string    `json:"unit"`
	Reached float64   `json:"reached"`       // of durations the median
	All     []float64 `json:"all,omitempty"` // durations, rising
	Goal    float64   `json:"goal"`          // at least, of durations at most
	DiPeN   float64   `json:"dipen,omitempty"`
	Base    float64   `json:"base,omitempty"` // the emulation of DiPeN in this run
	Ratio   float64   `json:"ratio,omitempty"`
}

const (
	rateUnit = "firings/s"
	timeUnit = "ms"
)

// figures are the promises for nets in regions. DiPeN's are its firings a second
// across regions, of one net, and its best over 96 nets, and its hand-over.
func figures() []figure {
	const across, alone, many, handOver = 5, 284, 4868, 100
	one, hundred := pingpong(1), pingpong(100)
	single := pingpong(100, "--journal.group", "1")
	net, nets := ring(100, 1), ring(100, 96)
	busy := worked(100, time.Millisecond)
	return []figure{
		{what: "1 token to and fro between two regions", game: one, goal: 10_000, dipen: across, base: "Firings/across/tokens=1/sync=false"},
		{what: "100 tokens, one firing a message", game: single, goal: 50_000, dipen: across, base: "Firings/across/tokens=100/sync=false"},
		{what: "100 tokens, grouped", game: hundred, goal: 500_000, dipen: across, base: "Firings/across/tokens=100/sync=false"},
		{what: "one region, one ring, grouped", game: net, goal: 100_000, dipen: alone, base: "Firings/inside/nets=1/sync=false"},
		{what: "one region, 96 rings, grouped", game: nets, goal: 100_000, dipen: many, base: "Firings/inside/nets=96/sync=false"},
		{what: "1 token to and fro, sync always", game: one, syncAlways: true, goal: 500, dipen: across, base: "Firings/across/tokens=1/sync=true"},
		{what: "one region, 96 rings, grouped, sync always", game: nets, syncAlways: true, goal: 100_000, dipen: many, base: "Firings/inside/nets=96/sync=true"},
		{what: "planned hand-over, SIGTERM to the heir's first firing", game: busy, signal: syscall.SIGTERM, goal: 5, dipen: handOver, base: "HandOver"},
		{what: "take-over, kill -9 to the heir's first firing", game: busy, signal: syscall.SIGKILL, goal: 500},
		{what: "take-over 3 s after the last one healed, SIGSTOP to the heir's first firing", game: busy, signal: syscall.SIGSTOP, goal: 500},
	}
}

func (f *figure) measure(ctx context.Context, b *bench, base map[string]float64) (result, error) {
	r := result{What: f.what, Unit: rateUnit, Goal: f.goal, DiPeN: f.dipen}
	if f.signal == 0 {
		var err error
		if r.Reached, err = b.rate(ctx, f.game, f.syncAlways); err != nil {
			return r, err
		}
		if r.Base = base[f.base+" "+rateUnit]; r.Base > 0 {
			r.Ratio = r.Reached / r.Base
		}
		return r, nil
	}
	took, err := b.takeovers(ctx, f.game, f.signal)
	if err != nil {
		return r, err
	}
	r.Unit = timeUnit
	for _, d := range took {
		r.All = append(r.All, float64(d.Microseconds())/1000)
	}
	slices.Sort(r.All)
	r.Reached = r.All[len(r.All)/2]
	if r.Base = base[f.base+" ms-median"]; r.Base > 0 {
		r.Ratio = r.Base / r.Reached
	}
	return r, nil
}

// table prints results as Markdown.
func table(out io.Writer, rows []result) error {
	fmt.Fprintf(out, "%s, %d processors, %s\n\n", processor(), runtime.NumCPU(), runtime.Version())
	t := tabwriter.NewWriter(out, 0, 0, 1, ' ', 0)
	fmt.Fprintln(t, "| what\t| reached\t| goal\t| DiPeN, published\t| DiPeN, emulated here\t| times as fast\t|")
	fmt.Fprintln(t, "|---\t|---:\t|---:\t|---:\t|---:\t|---:\t|")
	for _, r := range rows {
		sign := "≥ "
		if r.Unit == timeUnit {
			sign = "≤ "
		}
		ratio := ""
		if r.Ratio > 0 {
			ratio = number(r.Ratio)
		}
		fmt.Fprintf(t, "| %s\t| %s\t| %s%s\t| %s\t| %s\t| %s\t|\n", r.What, r.reached(), sign, amount(r.Goal, r.Unit), amount(r.DiPeN, r.Unit), amount(r.Base, r.Unit), ratio)
	}
	return t.Flush()
}

func (r *result) reached() string {
	if len(r.All) == 0 {
		return amount(r.Reached, r.Unit)
	}
	at := func(share float64) string { return number(r.All[int(share*float64(len(r.All)-1))]) }
	return fmt.Sprintf("%s (nine of ten %s, most %s, of %d)", amount(r.Reached, r.Unit), at(0.9), at(1), len(r.All))
}

// amount writes a value with its unit; 0 is nothing.
func amount(v float64, unit string) string {
	switch {
	case v == 0:
		return ""
	case unit == rateUnit:
		return number(v) + "/s"
	}
	return number(v) + " " + unit
}

// number writes three digits of small numbers, and large ones with separators.
func number(v float64) string {
	if v < 100 {
		return fmt.Sprintf("%.3g", v)
	}
	digits := fmt.Sprintf("%.0f", v)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// processor names the machine's processor, as far as it tells.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
