// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package action

import "os/exec"

// group returns what kills a command; there are no process groups here.
func group(cmd *exec.Cmd) (kill func() error) {
	return func() error { return cmd.Process.Kill() }
}
