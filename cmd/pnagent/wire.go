// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/telemetry/wirecheck"
)

// wireCmd is for authors of engines.
type wireCmd struct {
	Check wireCheckCmd `cmd:"" help:"Listen to engines, and print the faults of what they publish. Exits with status 1 if there are any."`
}

type wireCheckCmd struct {
	NATS cli.NATS      `embed:"" group:"NATS"`
	For  time.Duration `default:"10s" help:"How long to listen."`
	JSON bool          `help:"Print one JSON object instead of text."`
}

// errWrong ends the command with status 1 after its report.
var errWrong = errors.New("wire check: the received messages have faults")

// Run listens and reports.
func (c *wireCheckCmd) Run(ctx context.Context, s streams, log *slog.Logger) error {
	if c.For <= 0 {
		return cli.Usage(fmt.Errorf("--for: %v; expected a positive duration", c.For))
	}
	link, subjects, err := c.NATS.Connect("pnagent wire check", log)
	if err != nil {
		return err
	}
	defer link.Close()
	r, err := wirecheck.Listen(ctx, link.Conn, subjects, c.For)
	if err != nil {
		return fmt.Errorf("wire check: %w", c.NATS.Unreachable(link, err))
	}
	if c.JSON {
		err = json.NewEncoder(s.out).Encode(r)
	} else {
		err = r.Write(s.out)
	}
	if err == nil && !r.Right() {
		return errWrong
	}
	return err
}
