// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/play"
)

type playCmd struct {
	File  string     `arg:"" name:"net" help:"Net file: PNML, BPMN, Tina's .net or LoLA. Of several nets the first is used."`
	Limit cli.Limits `embed:""`
}

// Help describes the commands, one a line on standard input.
func (c *playCmd) Help() string {
	return `One command a line on standard input, one JSON line on standard output for each, and one before the first:

  fire ID      fire the transition with this id (the rest of the line); of an inclusive split all branches, and for a list one element
  inject N ID  put N tokens into the place with this id
  state        say where the tokens are

Any enabled transition can fire: priorities, guards and times do not count. A command that would open a second run of a scope at one time is refused, for example at a task with a boundary event that holds a token already: only the engine keeps runs apart.

Answers: {"marking":{"place id":tokens,…},"enabled":["transition id",…]}; a refused command answers {"error":"…"} and changes nothing, and the exit code is 1.`
}

// Run plays until standard input ends.
func (c *playCmd) Run(ctx context.Context, s streams, log *slog.Logger) error {
	if c.File == "-" {
		return cli.Usage(errors.New("play reads its commands from standard input; expected the net in a file"))
	}
	file, err := cli.ReadNet(c.File, s.in, c.Limit, log)
	if err != nil {
		return err
	}
	if len(file.Nets) == 0 {
		return fmt.Errorf("%s: no net in the file; expected one", c.File)
	}
	if more := len(file.Nets) - 1; more > 0 {
		fmt.Fprintf(s.err, "pnagent: %s: playing net %q, leaving out %d more\n", c.File, file.Nets[0].ID, more)
	}
	tables, err := petri.Compile(file.Nets[0])
	if err != nil {
		return err
	}
	return play.Run(ctx, tables, s.in, s.out)
}
