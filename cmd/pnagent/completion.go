// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/alecthomas/kong"

	"github.com/pnagent/pnagent/internal/completion"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help says how to use what is printed.
func (*completionCmd) Help() string {
	return "For bash and zsh: source <(pnagent completion bash). For fish: pnagent completion fish | source."
}

// Run prints a completion script of all commands and flags.
func (c *completionCmd) Run(s streams, k *kong.Kong) error {
	return completion.Write(s.out, c.Shell, k.Model)
}
