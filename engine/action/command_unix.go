// SPDX-License-Identifier: Apache-2.0

//go:build unix

package action

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// group gives a command its own process group and returns a function that kills
// it.
func group(cmd *exec.Cmd) (kill func() error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}
