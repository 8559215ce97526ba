// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/alecthomas/kong"

	"github.com/pnagent/pnagent/cli"
)

type versionCmd struct{}

// Run prints the version.
func (*versionCmd) Run(s streams) error {
	_, err := fmt.Fprintf(s.out, "pnagent %s\n", cli.VersionOf())
	return err
}

// versionFlag prints the version instead of running a command.
type versionFlag bool

// BeforeReset implements kong.BeforeReset.
func (versionFlag) BeforeReset(app *kong.Kong) error {
	_, err := fmt.Fprintf(app.Stdout, "pnagent %s\n", cli.VersionOf())
	app.Exit(exitDone)
	return err
}
