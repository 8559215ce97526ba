// SPDX-License-Identifier: Apache-2.0

//go:build unix

package httpserver

import (
	"math"
	"syscall"
)

// descriptors returns how many files and connections the process may have open.
// The Go runtime has raised that to the hard limit.
func descriptors() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxInt32
	}
	return int(min(limit.Cur, math.MaxInt32))
}
