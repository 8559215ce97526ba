// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"context"
	"errors"
	"os"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/top"
	"github.com/pnagent/pnagent/top/terminal"
)

// Run shows a live table until the user quits.
func (c *topCmd) Run(ctx context.Context, s streams) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	tab, _ := top.TabNamed(c.Show) // the flag's enum has no others
	o := top.Options{URL: c.shown(), Tab: tab, Colour: os.Getenv("NO_COLOR") == ""}
	ask := terminal.FromSidecar(client)
	if c.Once {
		return terminal.Once(ctx, s.out, s.err, o, ask)
	}
	err = terminal.Run(ctx, terminal.Screen{In: s.in, Out: raw(s.out), Env: os.Environ()}, o, ask)
	if errors.Is(err, terminal.ErrNoTerminal) {
		return cli.Usage(errors.New("top: standard output is no terminal; expected one, or --once for plain text"))
	}
	return err
}
