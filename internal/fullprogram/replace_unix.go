// SPDX-License-Identifier: Apache-2.0

//go:build unix

package fullprogram

import "syscall"

// replace runs a program in this process; it returns only an error.
func replace(path string, args, env []string) error {
	return syscall.Exec(path, append([]string{path}, args...), env)
}
