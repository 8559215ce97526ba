// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package action

import "os/exec"

// group returns a function that kills a command. There are no process groups on
// this system.
func group(cmd *exec.Cmd) (kill func() error) {
	return func() error { return cmd.Process.Kill() }
}
