// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/pnagent/pnagent/cli"
)

type versionCmd struct{}

// Run prints the version.
func (*versionCmd) Run(s streams) error {
	_, err := fmt.Fprintf(s.out, "pnagent %s\n", cli.VersionOf())
	return err
}
