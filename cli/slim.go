// SPDX-License-Identifier: Apache-2.0

//go:build slim

package cli

import (
	"github.com/alecthomas/kong"

	"github.com/pnagent/pnagent/internal/fullprogram"
)

// FullOnly is embedded in the commands that only pnagent-full has. The files that implement
// them, and what they import, are left out of a program with the tag slim. Their flags are
// in it, so that help, completion and messages about flags are those of pnagent-full.
type FullOnly struct{}

// Run runs pnagent-full instead of this process.
func (FullOnly) Run(k *kong.Context, args Arguments) error {
	return fullprogram.Exec(k.Selected().FullPath(), VersionOf().String(), args)
}

// NeedsFull runs pnagent-full instead of this process. flag is what only that has.
func NeedsFull(flag string, args Arguments) error {
	return fullprogram.Exec(flag, VersionOf().String(), args)
}

// CheckCaller is for a program that has all commands.
func CheckCaller() error { return nil }
