// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package fullprogram

import (
	"errors"
	"os"
	"os/exec"
)

// replace runs a program with the streams of this process, and then exits as it did. An
// interrupt of a console reaches both. It returns only an error.
func replace(path string, args, env []string) error {
	cmd := exec.Command(path, args...) //nolint:noctx // it ends when the program does
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if exited := (*exec.ExitError)(nil); err == nil || errors.As(err, &exited) {
		os.Exit(cmd.ProcessState.ExitCode())
	}
	return err
}
