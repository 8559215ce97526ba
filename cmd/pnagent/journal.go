// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pnagent/pnagent/cli"
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
	Files    []string   `arg:"" optional:"" name:"net" help:"The engine's net files, in its order. With them every commit is replayed, as the engine does at its start; without them only its form is checked."`
	Limit    cli.Limits `embed:""`
}

// errFault ends the command with 1 after its report.
var errFault = errors.New("journal check: the journal has a fault")

// Run reads the journal and prints what it holds.
func (c *journalCheckCmd) Run(ctx context.Context, s streams, log *slog.Logger) error {
	if err := directory(c.Dir); err != nil {
		return err
	}
	var nets func(int) (engine.Config, error)
	if len(c.Files) > 0 {
		nets = func(instances int) (engine.Config, error) { return c.nets(s, instances, log) }
	}
	r, fault, err := engine.CheckJournal(ctx, kong.ExpandPath(c.Dir), c.Dir, nets)
	if err != nil {
		return cli.UsageIf(err, engine.ErrConfig)
	}
	if c.JSON {
		err = json.NewEncoder(s.out).Encode(r)
	} else {
		err = r.Write(s.out)
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
	return cli.Usage(fmt.Errorf("%s is not a directory, and this command cannot check or cut logs in NATS JetStream; expected the directory of a journal. "+
		"\"pnagent regions\" says whether each part is played, how long its log is, and whether owner and standbys have read the same; "+
		"an engine replays a log at its start and names a commit that it cannot read", dir))
}

// nets returns the configuration to replay the journal with.
func (c *journalCheckCmd) nets(s streams, instances int, log *slog.Logger) (engine.Config, error) {
	tables, err := cli.CompileNets(c.Files, s.in, c.Limit, log)
	if err != nil {
		return engine.Config{}, err
	}
	e := engineCmd{Bindings: c.Bindings}
	nets, err := e.bind(tables, nil, log)
	return engine.Config{Source: "check", Nets: nets, Instances: instances, Workers: 1, Log: log}, err
}

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
