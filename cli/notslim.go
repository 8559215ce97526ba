// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package cli

import (
	_ "time/tzdata" // adapters take the names of zones, and images may have none

	"github.com/pnagent/pnagent/internal/fullprogram"
)

// FullOnly is embedded in the commands that a program with the tag slim does not have. Here
// each has a Run of its own.
type FullOnly struct{}

// NeedsFull returns nil: this program has everything.
func NeedsFull(string, Arguments) error { return nil }

// CheckCaller returns an error if a pnagent of another version ran this process.
func CheckCaller() error { return fullprogram.Check(VersionOf().String()) }
