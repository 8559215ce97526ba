// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/petri/textnet"
)

// Run writes one net in another format, and logs what the format cannot carry.
func (c *convertCmd) Run(s streams, log *slog.Logger) error {
	format, err := c.format()
	if err != nil {
		return err
	}
	files, err := cli.ReadNets(c.Files, s.in, c.Limit)
	if err != nil {
		return err
	}
	n, err := chooseNet(files, c.Net, c.Files, log)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	left, err := writeNet(&text, n, format)
	if err != nil {
		return err
	}
	if err := s.write(c.Output, text.Bytes()); err != nil {
		return fmt.Errorf("writing net %q: %w", n.ID, err)
	}
	if left != nil {
		log.Warn("left out, because the format cannot carry it", "net", n.ID, "format", format, "what", left.String())
	}
	return nil
}

// format returns the format to write.
func (c *convertCmd) format() (string, error) {
	if c.To != "" {
		return c.To, nil
	}
	switch strings.ToLower(filepath.Ext(c.Output)) {
	case ".pnml":
		return "pnml", nil
	case ".net":
		return "net", nil
	case ".dot", ".gv":
		return "dot", nil
	}
	return "", cli.Usage(errors.New("--to: no format; expected pnml, net or dot, or a name for --output that ends in .pnml, .net, .dot or .gv"))
}

// writeNet writes a net in a format, and returns what that cannot carry.
func writeNet(w io.Writer, n *petri.Net, format string) (textnet.Left, error) {
	switch format {
	case "net":
		return textnet.WriteTina(w, n)
	case "dot":
		return textnet.WriteDOT(w, n)
	}
	return textnet.LeftByPNML(n), pnml.Write(w, n)
}
