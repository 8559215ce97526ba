// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/pnagent/pnagent/engine/journal"
)

// JournalReport is what a journal in a directory holds.
type JournalReport struct {
	Dir      string            `json:"directory"`
	Files    *journal.Findings `json:"files"`
	Content  *Examination      `json:"journal"`
	Warnings []string          `json:"warnings,omitempty"`
	Replayed bool              `json:"replayed"` // the nets were given
	Fault    string            `json:"fault,omitempty"`
}

// CheckJournal reads the journal in a directory and reports what it holds as dir. nets
// returns the configuration of an engine to replay the commits with, as Replays needs it,
// for a number of instances of each net; nil checks the form of the commits only. The
// fault is why the journal is not sound up to its end; the error, why there is no report.
func CheckJournal(ctx context.Context, path, dir string, nets func(instances int) (Config, error)) (r *JournalReport, fault, err error) {
	log, found, err := journal.Examine(path)
	if err != nil {
		return nil, nil, err
	}
	r = &JournalReport{Dir: dir, Files: found}
	for _, w := range found.Warnings {
		r.Warnings = append(r.Warnings, w.String())
	}
	fault = found.Fault
	if r.Content, err = Examine(ctx, log); err != nil {
		fault = err
	} else if nets != nil {
		sound, err := replayed(ctx, log, r.Content, nets)
		if errors.Is(err, ErrConfig) {
			return nil, nil, err
		}
		r.Replayed = true
		if err != nil {
			r.Content.Sound, fault = sound, err
		}
	}
	if fault != nil {
		r.Fault = fault.Error()
	}
	return r, fault, nil
}

func replayed(ctx context.Context, log journal.Log, x *Examination, nets func(instances int) (Config, error)) (uint64, error) {
	cfg, err := nets(x.Instances)
	if err != nil {
		return 0, err
	}
	cfg.Journal, cfg.Spare = log, x.Spare
	return Replays(ctx, cfg)
}

// Write writes the report as text, one thing a line.
func (r *JournalReport) Write(out io.Writer) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(what, format string, args ...any) { fmt.Fprintf(t, what+"\t"+format+"\n", args...) }
	x := r.Content
	line("journal", "%s", r.Dir)
	if x.Created > 0 {
		line("began", "%s", moment(x.Created))
	}
	if x.Owner != "" {
		line("owner", "%s\tepoch %d\tfirst owner %s", x.Owner, x.Epoch, x.First)
	}
	for _, n := range x.Nets {
		line("net", "%s\t%d instances\tdigest %s\t%s", n.ID, x.Instances, n.Digest, n.Game)
	}
	for _, f := range r.Files.Segments {
		upTo := fmt.Sprint(f.UpTo)
		if f.UpTo == 0 {
			upTo = "?"
		}
		line("segment", "%s\t%d bytes\tcommits %d to %s", f.Name, f.Bytes, f.From, upTo)
	}
	for _, f := range r.Files.Snapshots {
		line("snapshot", "%s\t%d bytes\tup to commit %d", f.Name, f.Bytes, f.UpTo)
	}
	line("commits", "%d to %d", r.Files.First, r.Files.Last)
	if x.From > 0 {
		line("times", "%s\tto %s", moment(x.From), moment(x.To))
	}
	for _, w := range r.Warnings {
		line("warning", "%s; a running engine is writing there, or a crash left it and the next start cuts it", w)
	}
	how := "the form of each commit was checked; name the nets to replay them"
	if r.Replayed {
		how = "each commit was replayed"
	}
	line("sound", "up to commit %d\t%s", x.Sound, how)
	if r.Fault != "" {
		line("fault", "%s", r.Fault)
	}
	return t.Flush()
}

func moment(micros int64) string { return time.UnixMicro(micros).UTC().Format(time.RFC3339Nano) }
