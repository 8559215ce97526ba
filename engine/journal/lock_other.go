// SPDX-License-Identifier: Apache-2.0

//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package journal

import (
	"errors"
	"fmt"
	"os"
)

// tryLock returns an error: without flock two processes could write one
// journal.
func tryLock(f *os.File) error {
	return fmt.Errorf("lock %s: %w: this system has no flock", f.Name(), errors.ErrUnsupported)
}

func noDirectories(error) bool { return false }
