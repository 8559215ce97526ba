// SPDX-License-Identifier: Apache-2.0

package fleetsim

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"text/tabwriter"

	"github.com/pnagent/pnagent/internal/measure"
)

// report is what was measured, and on which machine.
type report struct {
	Machine string     `json:"machine"`
	Command string     `json:"command"`
	Stages  []*outcome `json:"stages"`
}

// sidecars returns each sidecar of each stage.
func (r *report) sidecars() iter.Seq2[*outcome, *sidecarOutcome] {
	return func(yield func(*outcome, *sidecarOutcome) bool) {
		for _, s := range r.Stages {
			for i := range s.Sidecars {
				if !yield(s, &s.Sidecars[i]) {
					return
				}
			}
		}
	}
}

// verdict returns an error if a View was not the truth or a message was dropped.
func (r *report) verdict() error {
	var faults []error
	for _, s := range r.Stages {
		for _, f := range s.Faults[:min(len(s.Faults), 10)] {
			faults = append(faults, fmt.Errorf("%s, %d sources: %s", s.Kind, s.Sources, f))
		}
	}
	for s, p := range r.sidecars() {
		if p.Received.dropped() > 0 {
			faults = append(faults, fmt.Errorf("%s, %d sources: %s: %d messages lost, rejected: %v", s.Kind, s.Sources, p.Name, p.Received.Lost, p.Received.Rejected))
		}
	}
	return errors.Join(faults...)
}

// table is rows of cells; the first one has the headings.
type table [][]string

// measurements returns a table with one row for each sidecar of each stage.
func (r *report) measurements() table {
	t := table{{"set-up", "sources", "interval", "messages/s", "kB/s", "sidecar", "CPU", "of it GC", "waited for CPU", "memory", "most", "disk, kB/s", "View age p50", "p99", "dropped", "View"}}
	for s, p := range r.sidecars() {
		name := p.Name
		if p.Pinned {
			name += ", pinned"
		}
		t = append(t, []string{s.Kind, measure.Integer(float64(s.Sources)), fmt.Sprintf("%g s", s.Interval), count(s.Messages), count(s.Bytes / 1000), name,
			percent(p.CPU), percent(p.GC), percent(p.Waited), mebibytes(p.RSS), mebibytes(p.RSSTop), count(p.Disk / 1000), seconds(p.Age50, p.Ages), seconds(p.Age99, p.Ages),
			fmt.Sprint(p.Received.dropped()), viewOf(p, s)})
	}
	return t
}

// readings returns the table of what it costs to read each output whole.
func (r *report) readings() table {
	t := table{{"set-up", "sources", "sidecar", "/metrics", "CPU", "/api/v1/view", "CPU", "snmpbulkwalk", "variables", "CPU"}}
	page := func(r reading) string {
		return fmt.Sprintf("%s, %.1f MB", seconds(r.Seconds, 1), float64(r.Amount)/1e6)
	}
	for s, p := range r.sidecars() {
		if p.Metrics.Amount == 0 {
			continue
		}
		row := []string{s.Kind, measure.Integer(float64(s.Sources)), p.Name, page(p.Metrics), seconds(p.Metrics.CPU, 1), page(p.View), seconds(p.View.CPU, 1)}
		if w := p.Walk; w.Amount > 0 {
			row = append(row, seconds(w.Seconds, 1), count(float64(w.Amount)), seconds(w.CPU, 1))
		} else {
			row = append(row, "not installed", "", "")
		}
		t = append(t, row)
	}
	return t
}

// silences returns the table of what it costs to have a fleet that is silent; nil if that was
// not measured.
func (r *report) silences() (t table) {
	for s, p := range r.sidecars() {
		if p.Silent == nil {
			continue
		}
		if t == nil {
			t = table{{"set-up", "sources, all silent", "sidecar", "active alarms", "CPU", "memory"}}
		}
		t = append(t, []string{s.Kind, measure.Integer(float64(s.Sources)), p.Name, measure.Integer(float64(p.Silent.Alarms)), percent(p.Silent.CPU), mebibytes(p.Silent.RSS)})
	}
	return t
}

// fleets returns the table of what the fleet itself did.
func (r *report) fleets() table {
	t := table{{"set-up", "sources", "bytes a message", "full", "fleet and NATS, CPU", "late at most", "restarts", "silences", "load before"}}
	for _, s := range r.Stages {
		t = append(t, []string{s.Kind, measure.Integer(float64(s.Sources)), count(s.Bytes / s.Messages), percent(s.Full), percent(s.Fleet), seconds(s.Late, 1),
			fmt.Sprint(s.Restarts), fmt.Sprint(s.Silences), s.Load})
	}
	return t
}

// viewOf describes whether a sidecar showed the truth, and flat and root the same.
func viewOf(p *sidecarOutcome, s *outcome) string {
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
	for _, t := range []table{r.measurements(), r.readings(), r.silences(), r.fleets()} {
		if t == nil {
			continue
		}
		fmt.Fprintln(w)
		tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		for _, row := range t {
			fmt.Fprintln(tw, strings.Join(row, "\t")+"\t")
		}
		if err := tw.Flush(); err != nil {
			return err
		}
	}
	for s, p := range r.sidecars() {
		for _, line := range p.Warnings {
			fmt.Fprintf(w, "\n%s, %d sources, %s logged: %s\n", s.Kind, s.Sources, p.Name, line)
		}
	}
	return nil
}

// markdown writes the part of docs/scale.md between its marks.
func (r *report) markdown(w io.Writer) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "`%s` on %s:\n", strings.TrimSpace(r.Command), r.Machine)
	for _, t := range []table{r.measurements(), r.readings(), r.silences(), r.fleets()} {
		if t == nil {
			continue
		}
		fmt.Fprintln(&out)
		t.markdown(&out)
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

// count formats a number with commas, and with one decimal if it is small.
func count(v float64) string {
	if v > 0 && v < 10 {
		return fmt.Sprintf("%.1f", v)
	}
	return measure.Integer(v)
}

func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

func mebibytes(n int64) string { return count(float64(n)/(1<<20)) + " MiB" }

// seconds formats a time, or returns "" if none was measured.
func seconds(v float64, measured int) string {
	switch {
	case measured == 0:
		return ""
	case v < 1:
		return fmt.Sprintf("%.0f ms", 1000*v)
	}
	return fmt.Sprintf("%.2f s", v)
}
