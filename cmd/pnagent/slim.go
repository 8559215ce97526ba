// SPDX-License-Identifier: Apache-2.0

//go:build slim

package main

import (
	"github.com/alecthomas/kong"

	"github.com/pnagent/pnagent/internal/fullprogram"
)

// FullOnly is embedded in the commands that only pnagent-full has. The files that implement
// them, and what they import, are left out of a program with the tag slim. Their flags are
// in it, so that help, completion and messages about flags are those of pnagent-full.
type FullOnly struct{}

// Run runs pnagent-full instead of this process.
func (FullOnly) Run(k *kong.Context, args arguments) error {
	return fullprogram.Exec(k.Selected().FullPath(), versionOf().String(), args)
}

// checkCaller is for a program that has all commands.
func checkCaller() error { return nil }
