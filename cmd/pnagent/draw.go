// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/bpmn"
	"github.com/pnagent/pnagent/petri/bpmn/diagram"
	"github.com/pnagent/pnagent/petri/draw"
	"github.com/pnagent/pnagent/petri/netfile"
)

type drawCmd struct {
	Output string     `short:"o" default:"-" placeholder:"FILE" help:"File to write the picture to; - is standard output."`
	Net    string     `placeholder:"ID" help:"Net to draw, if there are several."`
	As     string     `default:"net" enum:"net,bpmn" help:"What to draw: net, places and transitions; or bpmn, the process of a BPMN file as its author drew it, or laid out if the file has no diagram of it."`
	Aspect float64    `default:"1.6" placeholder:"RATIO" help:"Ratio of width to height that a large net is drawn for, from 0.1 to 10; a net with positions keeps them."`
	Files  []string   `arg:"" name:"net" help:"Net files: PNML, BPMN, Tina's .net or LoLA; - is standard input."`
	Limit  cli.Limits `embed:""`
}

// Run writes one net or process with its initial marking as SVG.
func (c *drawCmd) Run(s streams, log *slog.Logger) error {
	if !(c.Aspect >= 0.1 && c.Aspect <= 10) {
		return fmt.Errorf("--aspect %v: expected a ratio from 0.1 to 10", c.Aspect)
	}
	sources, closeAll := cli.OpenNets(c.Files, s.in)
	defer closeAll()
	texts := make([]bytes.Buffer, len(sources))
	for i := range sources {
		sources[i].Reader = io.TeeReader(sources[i].Reader, &texts[i])
	}
	files, err := netfile.ReadAll(sources, c.Limit.Netfile())
	if err != nil {
		return err
	}
	n, err := chooseNet(files, c.Net, c.Files, log)
	if err != nil {
		return err
	}
	t, err := petri.Compile(n)
	if err != nil {
		return err
	}
	var picture bytes.Buffer
	if c.As == "bpmn" {
		err = drawProcess(&picture, t, files, texts, c.Limit)
	} else {
		err = draw.Net(n, c.Aspect).SVG(&picture, n, draw.Initial(t))
	}
	if err != nil {
		return err
	}
	if err := s.write(c.Output, picture.Bytes()); err != nil {
		return fmt.Errorf("writing the picture of net %q: %w", n.ID, err)
	}
	return nil
}

// drawProcess writes the process of a net, which is in one of the files with some texts.
func drawProcess(w io.Writer, t *petri.Tables, files []*netfile.File, texts []bytes.Buffer, lim cli.Limits) error {
	for i, f := range files {
		k := slices.Index(f.Nets, t.Net)
		if k < 0 || f.Process == nil {
			continue
		}
		limits := bpmn.DefaultLimits()
		limits.Bytes, limits.Depth = lim.Netfile().Bytes, lim.Netfile().Depth
		drawn, err := diagram.Read(&texts[i], t.Net.File, limits)
		if err != nil {
			return err
		}
		return drawn.Picture(t.Net.ID).SVG(w, diagram.Show(f.Process.Parts[k], t.Net, draw.Initial(t)))
	}
	return fmt.Errorf("net %q is not of a BPMN file; expected one for --as bpmn", t.Net.ID)
}

// chooseNet logs the warnings of files, and returns their net with an id, or the only one for "".
func chooseNet(files []*netfile.File, id string, paths []string, log *slog.Logger) (chosen *petri.Net, err error) {
	var ids []string
	found := 0
	for _, f := range files {
		cli.LogWarnings(f.Warnings, log)
		for _, n := range f.Nets {
			ids = append(ids, n.ID)
			if id == "" || n.ID == id {
				found, chosen = found+1, n
			}
		}
	}
	switch {
	case len(ids) == 0:
		return nil, cli.Usage(fmt.Errorf("%s: no net in the file; expected one", strings.Join(paths, ", ")))
	case found != 1:
		return nil, cli.Usage(fmt.Errorf("%s: the nets are %q; expected one, or --net with one of them", strings.Join(paths, ", "), ids))
	}
	return chosen, nil
}
