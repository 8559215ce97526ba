// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/engine/region"
)

type regionsCmd struct {
	NATS  cli.NATS      `embed:"" group:"NATS"`
	For   time.Duration `default:"1s" help:"How long to listen. Members publish every 50 ms."`
	JSON  bool          `help:"Print a JSON array instead of a table."`
	Net   string        `arg:"" help:"Net file of the net, or its id."`
	Limit cli.Limits    `embed:""`
}

// errNoMembers ends the command with status 1.
var errNoMembers = errors.New("no process that runs a part of the net has answered; expected one with --journal=jetstream, on the same NATS and prefix")

// Run listens to the members of a net and prints the owner and the standbys of each part.
func (c *regionsCmd) Run(ctx context.Context, s streams, log *slog.Logger) error {
	if c.NATS.URL == "" {
		return cli.Usage(errors.New("regions: --nats is missing; expected the servers of the members"))
	}
	if c.For < region.SurveyFor {
		return cli.Usage(fmt.Errorf("--for: %v; expected %v or more", c.For, region.SurveyFor))
	}
	net, err := c.net(s, log)
	if err != nil {
		return err
	}
	link, subjects, err := c.NATS.Connect("pnagent regions", log)
	if err != nil {
		return err
	}
	defer link.Close()
	if err := link.Conn.FlushTimeout(cli.ConnectWithin); err != nil {
		return c.NATS.Unreachable(link, err)
	}
	listening, cancel := context.WithTimeout(ctx, c.For)
	defer cancel()
	parts, err := region.Survey(listening, link.Conn, subjects, net)
	if err != nil {
		return err
	}
	if c.JSON {
		err = json.NewEncoder(s.out).Encode(parts)
	} else if len(parts) > 0 {
		err = region.WriteTable(s.out, parts)
	}
	if err == nil && len(parts) == 0 {
		return fmt.Errorf("net %q: %w", net, errNoMembers)
	}
	return err
}

// net returns the id of the net that is asked about.
func (c *regionsCmd) net(s streams, log *slog.Logger) (string, error) {
	if _, err := os.Stat(c.Net); errors.Is(err, fs.ErrNotExist) {
		return c.Net, nil
	}
	f, err := cli.ReadNet(c.Net, s.in, c.Limit, log)
	if err != nil {
		return "", err
	}
	if len(f.Nets) != 1 {
		return "", fmt.Errorf("%s: %d nets in the file; expected one, or the id of a net", c.Net, len(f.Nets))
	}
	return f.Nets[0].ID, nil
}
