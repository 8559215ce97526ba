// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/draw"
)

type drawCmd struct {
	Output string     `short:"o" default:"-" placeholder:"FILE" help:"File to write the picture to; - is standard output."`
	Net    string     `placeholder:"ID" help:"Net to draw, if there are several."`
	Files  []string   `arg:"" name:"net" help:"PNML or BPMN files; - is standard input."`
	Limit  limitFlags `embed:""`
}

// Run writes one net with its initial marking as SVG.
func (c *drawCmd) Run(s streams, log *slog.Logger) error {
	files, err := readNets(c.Files, s, c.Limit)
	if err != nil {
		return err
	}
	var nets []*petri.Net
	for _, f := range files {
		nets = append(nets, f.Nets...)
		logWarnings(f.Warnings, log)
	}
	n, err := c.choose(nets)
	if err != nil {
		return err
	}
	t, err := petri.Compile(n)
	if err != nil {
		return err
	}
	var picture bytes.Buffer
	if err := draw.Net(n).SVG(&picture, n, draw.Initial(t)); err != nil {
		return err
	}
	if err := s.write(c.Output, picture.Bytes()); err != nil {
		return fmt.Errorf("writing the picture of net %q: %w", n.ID, err)
	}
	return nil
}

// choose returns the net that is asked for, or the only one.
func (c *drawCmd) choose(nets []*petri.Net) (*petri.Net, error) {
	if c.Net == "" {
		if len(nets) != 1 {
			return nil, fmt.Errorf("%s: %d nets; expected one, or --net", strings.Join(c.Files, ", "), len(nets))
		}
		return nets[0], nil
	}
	for _, n := range nets {
		if n.ID == c.Net {
			return n, nil
		}
	}
	return nil, fmt.Errorf("%s: no net %q", strings.Join(c.Files, ", "), c.Net)
}
