// SPDX-License-Identifier: Apache-2.0

// Package fullprogram runs pnagent-full for commands that a small pnagent does not have.
//
// A release has two programs of one source: pnagent, built with the tag slim, and
// pnagent-full, which has all commands. Exec replaces the process of the first with the
// second, with the same arguments and the same environment. An additional variable carries
// the version of pnagent, which Check of pnagent-full compares with its own and removes.
package fullprogram

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Name is the name of the program, without the extension that Windows needs.
const Name = "pnagent-full"

// caller is the variable with the version of the pnagent that ran this process.
const caller = "PNAGENT_SLIM_VERSION"

// Exec runs pnagent-full instead of this process; it returns only an error. command is
// for this error, version that of this process, args are without the name of a program.
func Exec(command, version string, args []string) error {
	if _, called := os.LookupEnv(caller); called {
		return fmt.Errorf("%s was run for %s, and does not have it: it was built with the tag slim", os.Args[0], command)
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding %s for %s: %w", Name, command, err)
	}
	if resolved, err := filepath.EvalSymlinks(self); err == nil {
		self = resolved
	}
	path, err := find(filepath.Dir(self))
	if err != nil {
		return fmt.Errorf("%s: %w; install that of pnagent %s", command, err, version)
	}
	if err := replace(path, args, append(os.Environ(), caller+"="+version)); err != nil {
		return fmt.Errorf("running %s for %s: %w", path, command, err)
	}
	return nil
}

// Check returns an error if a pnagent of another version ran this process.
func Check(version string) error {
	called, is := os.LookupEnv(caller)
	if !is {
		return nil
	}
	if err := os.Unsetenv(caller); err != nil {
		return fmt.Errorf("removing %s from the environment: %w", caller, err)
	}
	if called != version {
		return fmt.Errorf("%s is of version %s, and was run by pnagent %s; install both of one release", os.Args[0], version, called)
	}
	return nil
}

// find returns the path of the program: beside the executable in directory dir, in the
// directory libexec/pnagent beside dir, or in PATH.
func find(dir string) (string, error) {
	file := Name
	if runtime.GOOS == "windows" {
		file += ".exe"
	}
	libexec := filepath.Join(filepath.Dir(dir), "libexec", "pnagent")
	for _, dir := range []string{dir, libexec} {
		if path, err := exec.LookPath(filepath.Join(dir, file)); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath(file)
	if errors.Is(err, exec.ErrNotFound) {
		err = fmt.Errorf("%s is not in %s, %s or PATH", Name, dir, libexec)
	}
	return path, err
}
