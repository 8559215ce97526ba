// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// report is what was measured, and where.
type report struct {
	Machine string     `json:"machine"`
	Command string     `json:"command"`
	Stages  []*outcome `json:"stages"`
}

// verdict is an error where a View was not the truth, or something was dropped.
func (r *report) verdict() error {
	var faults []error
	for _, s := range r.Stages {
		for _, f := range s.Faults[:min(len(s.Faults), 10)] {
			faults = append(faults, fmt.Errorf("%s, %d sources: %s", s.Kind, s.Sources, f))
		}
		for i := range s.Sidecars {
			if p := &s.Sidecars[i]; p.Heard.dropped() > 0 {
				faults = append(faults, fmt.Errorf("%s, %d sources: %s: %d messages lost, rejected: %v", s.Kind, s.Sources, p.Name, p.Heard.Lost, p.Heard.Rejected))
			}
		}
	}
	return errors.Join(faults...)
}

// table is lines of cells; the first has the headings.
type table [][]string

// measurements is one line for each sidecar of each stage.
func (r *report) measurements() table {
	t := table{{"heard by", "sources", "messages/s", "kB/s", "sidecar", "CPU", "of it GC", "waited for CPU", "memory", "most", "View age p50", "p99", "dropped", "View"}}
	for _, s := range r.Stages {
		for i := range s.Sidecars {
			p := &s.Sidecars[i]
			name := p.Name
			if p.Pinned {
				name += ", pinned"
			}
			t = append(t, []string{s.Kind, count(float64(s.Sources)), count(s.Messages), count(s.Bytes / 1000), name,
				percent(p.CPU), percent(p.GC), percent(p.Waited), mebibytes(p.RSS), mebibytes(p.RSSTop), seconds(p.Age50, p.Ages), seconds(p.Age99, p.Ages),
				fmt.Sprint(p.Heard.dropped()), truthOf(p, s)})
		}
	}
	return t
}

// readings is what it takes to read the faces whole.
func (r *report) readings() table {
	t := table{{"heard by", "sources", "sidecar", "/metrics", "CPU", "/api/v1/view", "CPU", "snmpbulkwalk", "variables", "CPU"}}
	for _, s := range r.Stages {
		for i := range s.Sidecars {
			p := &s.Sidecars[i]
			if p.Metrics.Amount == 0 {
				continue
			}
			walk := []string{"not installed", "", ""}
			if w := p.Walk; w.Amount > 0 {
				walk = []string{seconds(w.Seconds, 1), count(float64(w.Amount)), seconds(w.CPU, 1)}
			}
			page := func(f face) []string {
				return []string{fmt.Sprintf("%s, %.1f MB", seconds(f.Seconds, 1), float64(f.Amount)/1e6), seconds(f.CPU, 1)}
			}
			line := append([]string{s.Kind, count(float64(s.Sources)), p.Name}, page(p.Metrics)...)
			t = append(t, append(append(line, page(p.View)...), walk...))
		}
	}
	return t
}

// fleets is what the fleet itself did.
func (r *report) fleets() table {
	t := table{{"heard by", "sources", "bytes a message", "full", "fleet and NATS, CPU", "late at most", "begun anew", "silences", "load before"}}
	for _, s := range r.Stages {
		t = append(t, []string{s.Kind, count(float64(s.Sources)), count(s.Bytes / s.Messages), percent(s.Full), percent(s.Fleet), seconds(s.Late, 1),
			fmt.Sprint(s.Restarts), fmt.Sprint(s.Silences), s.Load})
	}
	return t
}

func truthOf(p *sidecarOutcome, s *outcome) string {
	switch {
	case p.True == nil:
		return "a share"
	case !*p.True:
		return "NOT THE TRUTH"
	case s.Same == nil:
		return "the truth"
	case !*s.Same:
		return "NOT THE SAME"
	}
	return "the truth, the same"
}

// text writes aligned tables.
func (r *report) text(w io.Writer) error {
	fmt.Fprintf(w, "%s\n", r.Machine)
	for _, t := range []table{r.measurements(), r.readings(), r.fleets(), r.stages()} {
		fmt.Fprintln(w)
		var out bytes.Buffer
		tw := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
		for _, line := range t {
			fmt.Fprintln(tw, strings.Join(line, "\t")+"\t")
		}
		if err := tw.Flush(); err != nil {
			return err
		}
		if _, err := w.Write(out.Bytes()); err != nil {
			return err
		}
	}
	for _, s := range r.Stages {
		for i := range s.Sidecars {
			for _, said := range s.Sidecars[i].Said {
				fmt.Fprintf(w, "\n%s, %d sources, %s said: %s\n", s.Kind, s.Sources, s.Sidecars[i].Name, said)
			}
		}
	}
	return nil
}

// markdown writes what stands in docs/scale.md between its marks.
func (r *report) markdown(w io.Writer) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "`%s` on %s:\n", strings.TrimSpace(r.Command), r.Machine)
	for _, t := range []table{r.measurements(), r.readings(), r.fleets()} {
		fmt.Fprintln(&out)
		t.markdown(&out)
	}
	if s := r.stages(); len(s) > 0 {
		fmt.Fprintf(&out, "\n%s\n\n", r.units())
		s.markdown(&out)
	}
	_, err := w.Write(out.Bytes())
	return err
}

func (t table) markdown(w io.Writer) {
	for i, line := range t {
		fmt.Fprintf(w, "| %s |\n", strings.Join(line, " | "))
		if i == 0 {
			fmt.Fprintf(w, "|%s\n", strings.Repeat("---|", len(line)))
		}
	}
}

// count writes a number with commas, and one decimal where it is small.
func count(v float64) string {
	if v > 0 && v < 10 {
		return fmt.Sprintf("%.1f", v)
	}
	digits := fmt.Sprintf("%.0f", v)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

func mebibytes(n int64) string { return count(float64(n)/(1<<20)) + " MiB" }

// seconds writes a time, if any was measured.
func seconds(v float64, measured int) string {
	switch {
	case measured == 0:
		return ""
	case v < 1:
		return fmt.Sprintf("%.0f ms", 1000*v)
	}
	return fmt.Sprintf("%.2f s", v)
}
