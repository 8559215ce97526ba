// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kong"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/journal"
)

// journalCmd is about the journals of engines in directories.
type journalCmd struct {
	Check  journalCheckCmd  `cmd:"" help:"Print the content of a journal and the last commit up to which it is sound. Changes nothing; an engine may be writing it. Exits with status 1 on a fault."`
	Repair journalRepairCmd `cmd:"" help:"Write a copy of a journal as it was when a given commit was the last. The journal itself is not changed."`
}

type journalCheckCmd struct {
	JSON     bool       `help:"Print one JSON object instead of text."`
	Bindings string     `type:"path" help:"With nets: the engine's YAML file of bindings, which defines how transitions fire."`
	Dir      string     `arg:"" help:"Directory of the journal."`
	Files    []string   `arg:"" optional:"" name:"net" help:"The engine's PNML or BPMN files, in its order. With them every commit is replayed, as the engine does at its start; without them only its form is checked."`
	Limit    limitFlags `embed:""`
}

// checkedJournal is what journal check prints.
type checkedJournal struct {
	Dir      string              `json:"directory"`
	Files    *journal.Findings   `json:"files"`
	Says     *engine.Examination `json:"journal"`
	Warnings []string            `json:"warnings,omitempty"`
	Replayed bool                `json:"replayed"` // the nets were given
	Fault    string              `json:"fault,omitempty"`
}

// errFault ends the command with 1 after its report.
var errFault = errors.New("journal check: the journal has a fault")

// Run reads the journal and prints what it holds.
func (c *journalCheckCmd) Run(ctx context.Context, s streams, log *slog.Logger) error {
	if err := directory(c.Dir); err != nil {
		return err
	}
	log0, found, err := journal.Examine(kong.ExpandPath(c.Dir))
	if err != nil {
		return err
	}
	r := &checkedJournal{Dir: c.Dir, Files: found}
	for _, w := range found.Warnings {
		r.Warnings = append(r.Warnings, w.String())
	}
	fault := found.Fault
	x, err := engine.Examine(ctx, log0)
	r.Says = x
	if err != nil {
		fault = err
	}
	if err == nil && len(c.Files) > 0 {
		sound, err := c.replay(ctx, s, log0, x, log)
		if errors.Is(err, engine.ErrConfig) {
			return usageError{err}
		}
		if r.Replayed = true; err != nil {
			x.Sound, fault = sound, err
		}
	}
	if fault != nil {
		r.Fault = fault.Error()
	}
	if c.JSON {
		err = json.NewEncoder(s.out).Encode(r)
	} else {
		err = r.write(s.out)
	}
	if err == nil && fault != nil {
		return errFault
	}
	return err
}

// directory refuses what names the logs of parts in JetStream instead of a journal
// in a directory, and says what there is for these.
func directory(dir string) error {
	if _, err := os.Stat(kong.ExpandPath(dir)); err == nil || dir != "jetstream" && !strings.Contains(dir, "://") {
		return nil
	}
	return usageError{fmt.Errorf("%s is not a directory, and this command cannot check or cut logs in NATS JetStream; expected the directory of a journal. "+
		"\"pnagent regions\" says whether each part is played, how long its log is, and whether owner and stand-bys have read the same; "+
		"an engine replays a log at its start and names a commit that it cannot read", dir)}
}

// replay replays the journal on the nets.
func (c *journalCheckCmd) replay(ctx context.Context, s streams, log0 journal.Log, x *engine.Examination, log *slog.Logger) (uint64, error) {
	tables, err := compileNets(c.Files, s, c.Limit)
	if err != nil {
		return 0, err
	}
	e := engineCmd{Bindings: c.Bindings}
	nets, err := e.bind(tables, nil, log)
	if err != nil {
		return 0, err
	}
	return engine.Replays(ctx, engine.Config{Source: "check", Nets: nets, Instances: x.Instances, Workers: 1, Journal: log0, Log: log})
}

// write prints the report as text, one thing a line.
func (r *checkedJournal) write(out io.Writer) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(what, format string, args ...any) { fmt.Fprintf(t, what+"\t"+format+"\n", args...) }
	x := r.Says
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

type journalRepairCmd struct {
	To  uint64 `required:"" placeholder:"N" help:"The last commit of the copy. journal check prints the last commit up to which a journal is sound."`
	Out string `required:"" placeholder:"COPY" help:"Directory of the copy, which must not exist."`
	Dir string `arg:"" help:"Directory of the journal."`
}

// Run writes the copy.
func (c *journalRepairCmd) Run(s streams) error {
	if err := directory(c.Dir); err != nil {
		return err
	}
	dir, out := kong.ExpandPath(c.Dir), kong.ExpandPath(c.Out)
	if err := journal.Cut(dir, out, c.To); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%s: commits up to %d of %s\n", out, c.To, dir)
	return nil
}
