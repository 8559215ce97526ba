// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package journal

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// tryLock takes the lock of f or reports that another File has it. The system
// releases it when f is closed, and when the process ends, however it ends.
func tryLock(f *os.File) error {
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return ErrLocked
	case err != nil:
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return nil
}

// noDirectories reports whether the error of a lock is that the file system locks
// no directories.
func noDirectories(err error) bool {
	return errors.Is(err, syscall.EBADF) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EISDIR) ||
		errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOTSUP)
}
