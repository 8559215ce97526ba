// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pnagent/pnagent/engine/region"
)

type regionsCmd struct {
	NATS  natsFlags     `embed:"" group:"NATS"`
	For   time.Duration `default:"1s" help:"How long to listen. Members publish every 50 ms."`
	JSON  bool          `help:"Print a JSON array instead of a table."`
	Net   string        `arg:"" help:"PNML or BPMN file of the net, or its id."`
	Limit limitFlags    `embed:""`
}

// errNoMembers ends the command with status 1.
var errNoMembers = errors.New("no process that runs a part of the net has answered; expected one with --journal=jetstream, on the same NATS and prefix")

// Run listens to the members of a net and prints the owner and the standbys of each part.
func (c *regionsCmd) Run(ctx context.Context, s streams, log *slog.Logger) error {
	if c.NATS.URL == "" {
		return usageError{errors.New("regions: --nats is missing; expected the servers of the members")}
	}
	if c.For < region.SurveyFor {
		return usageError{fmt.Errorf("--for: %v; expected %v or more", c.For, region.SurveyFor)}
	}
	net, err := c.net(s)
	if err != nil {
		return err
	}
	link, subjects, err := c.NATS.connect("pnagent regions", log)
	if err != nil {
		return err
	}
	defer link.Close()
	if err := link.Conn.FlushTimeout(connectWithin); err != nil {
		return unreachable(link, c.NATS.URL, err)
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
		err = printRegions(s.out, parts)
	}
	if err == nil && len(parts) == 0 {
		return fmt.Errorf("net %q: %w", net, errNoMembers)
	}
	return err
}

// net returns the id of the net that is asked about.
func (c *regionsCmd) net(s streams) (string, error) {
	if _, err := os.Stat(c.Net); errors.Is(err, fs.ErrNotExist) {
		return c.Net, nil
	}
	f, err := readNet(c.Net, s, c.Limit)
	if err != nil {
		return "", err
	}
	if len(f.Nets) != 1 {
		return "", fmt.Errorf("%s: %d nets in the file; expected one, or the id of a net", c.Net, len(f.Nets))
	}
	return f.Nets[0].ID, nil
}

func printRegions(w io.Writer, parts []region.Status) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "PART\tOWNER\tEPOCH\tCOMMITS\tSTAND-BYS (LAG)\tAWAY")
	for _, p := range parts {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\t%s\n", p.Part, cmp.Or(p.Owner, "none"), p.Epoch, p.Commits, standbysOf(p), orNone(p.Away))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, p := range parts {
		if p.Stopped != "" {
			fmt.Fprintf(w, "%s has stopped: %s\n", p.Part, p.Stopped)
		}
	}
	return nil
}

func standbysOf(p region.Status) string {
	var all []string
	for _, s := range p.Standbys {
		text := fmt.Sprintf("%s (%d)", s.Source, s.Lag)
		if s.Agrees != nil && !*s.Agrees {
			text += " HAS ANOTHER LOG"
		}
		all = append(all, text)
	}
	return orNone(all)
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
