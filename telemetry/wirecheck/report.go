// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pnagent/pnagent/internal/ordered"
	"github.com/pnagent/pnagent/stats"
)

// Report is the result of a check. As JSON it is the output of "wire check --json".
type Report struct {
	Seconds float64  `json:"seconds"` // of listening
	Sources []Source `json:"sources"` // by net and name
	Wrong   []string `json:"wrong"`   // findings of no single source
}

// Source is the result for one source and net.
type Source struct {
	Net      string    `json:"net"`
	Source   string    `json:"source"`
	Messages uint64    `json:"messages"`
	Full     uint64    `json:"full"`     // of them
	Interval string    `json:"interval"` // as the source states it; "" if no message could be read
	Digest   string    `json:"digest"`
	Defined  bool      `json:"defined"` // its definition was received and holds the net
	Bye      bool      `json:"bye"`
	Columns  []string  `json:"columns"` // sent, as the wire names them
	Missing  []string  `json:"missing"` // not sent, and so shown nowhere; that is no fault
	Wrong    []Finding `json:"wrong"`
}

// Finding is one kind of fault, and how often it was seen.
type Finding struct {
	What  string `json:"what"` // as it was first seen
	Times uint64 `json:"times"`
}

// Right reports whether there are no findings.
func (r *Report) Right() bool {
	return len(r.Wrong) == 0 && !slices.ContainsFunc(r.Sources, func(s Source) bool { return len(s.Wrong) > 0 })
}

// Report returns the findings so far.
func (c *Checker) Report(now int64) *Report {
	r := &Report{Seconds: float64(now-c.since) / 1e6, Sources: []Source{}, Wrong: []string{}}
	for k, h := range c.sources {
		c.conclude(k.net, h, now)
		s := Source{Net: k.net, Source: k.source, Messages: h.messages, Full: h.full, Digest: h.digest, Bye: h.bye, Columns: []string{}, Missing: []string{}, Wrong: []Finding{}}
		if h.interval > 0 {
			s.Interval = h.interval.String()
			s.Columns, s.Missing = columnNames(h.columns)
		}
		if d := c.definitions[defKey{k.net, h.digest}]; d != nil && d.net != nil {
			s.Defined = true
		}
		for _, f := range h.findings {
			s.Wrong = append(s.Wrong, *f)
		}
		r.Sources = append(r.Sources, s)
	}
	ordered.By(r.Sources, func(a, b *Source) int { return cmp.Or(cmp.Compare(a.Net, b.Net), cmp.Compare(a.Source, b.Source)) })
	if !slices.ContainsFunc(r.Sources, func(s Source) bool { return s.Messages > 0 }) {
		r.Wrong = append(r.Wrong, fmt.Sprintf("no message was received on %s or %s. Is the engine connected to this server, and is its prefix %q?",
			c.subjects.Snapshots(), c.subjects.Byes(), c.subjects.Prefix()))
	}
	if c.beyond > 0 {
		r.Wrong = append(r.Wrong, fmt.Sprintf("%d messages of more than %d sources were ignored", c.beyond, MaxSources))
	}
	return r
}

// Write writes the report as text.
func (r *Report) Write(w io.Writer) error {
	var b strings.Builder
	for i := range r.Sources {
		r.Sources[i].write(&b)
	}
	for _, what := range r.Wrong {
		fmt.Fprintf(&b, "WRONG  %s\n", what)
	}
	if r.Right() {
		fmt.Fprintf(&b, "\nNo findings in %.1f s.\n", r.Seconds)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (s *Source) write(b *strings.Builder) {
	fmt.Fprintf(b, "source %q, net %q: %d messages, %d of them full", s.Source, s.Net, s.Messages, s.Full)
	if s.Interval != "" {
		fmt.Fprintf(b, ", one in %s", s.Interval)
	}
	if s.Bye {
		b.WriteString(", then a bye")
	}
	b.WriteByte('\n')
	if s.Defined {
		fmt.Fprintf(b, "  right  definition %s is answered and holds the net\n", s.Digest)
	}
	if len(s.Columns) > 0 {
		fmt.Fprintf(b, "  right  it sends %s\n", strings.Join(s.Columns, ", "))
	}
	if len(s.Missing) > 0 {
		fmt.Fprintf(b, "  note   it does not send, so these are shown nowhere: %s\n", strings.Join(s.Missing, ", "))
	}
	for _, f := range s.Wrong {
		times := ""
		if f.Times > 1 {
			times = fmt.Sprintf(" (seen %d times)", f.Times)
		}
		fmt.Fprintf(b, "  WRONG  %s%s\n", f.What, times)
	}
}

// columnNames returns the names of the given columns, and of all others.
func columnNames(columns stats.Columns) (given, missing []string) {
	given, missing = []string{}, []string{}
	for _, c := range []struct {
		column stats.Columns
		name   string
	}{
		{stats.ColTokens, "tokens"}, {stats.ColArrivals, "arrivals"}, {stats.ColDepartures, "departures"}, {stats.ColPlaceInstances, "instances"},
		{stats.ColOldest, "oldest"}, {stats.ColAges, "ages"}, {stats.ColDwell, "dwell"}, {stats.ColStuck, "stuck"}, {stats.ColFirings, "firings"},
		{stats.ColFailures, "failures, retries, cancels"}, {stats.ColEnabled, "enabled"}, {stats.ColRunning, "running"}, {stats.ColLastFiring, "last_firing"},
		{stats.ColDuration, "duration"}, {stats.ColInstances, "row"}, {stats.ColBlocks, "blocks"}, {stats.ColTimeouts, "timeouts, late"},
		{stats.ColQueues, "queues"}, {stats.ColWaiting, "waiting"}, {stats.ColNextDue, "next_due"}, {stats.ColGroups, "groups"},
	} {
		if columns.Has(c.column) {
			given = append(given, c.name)
		} else {
			missing = append(missing, c.name)
		}
	}
	return given, missing
}

// seconds formats a duration in microseconds.
func seconds(micros int64) string {
	return (time.Duration(micros) * time.Microsecond).Round(time.Millisecond).String()
}
