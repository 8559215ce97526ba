// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package dirlock

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Hold waits until no other process holds the directory, and holds it until
// release.
func Hold(dir string) (release func(), err error) { return hold(dir, syscall.LOCK_EX) }

// TryHold holds a directory until release. The error is ErrHeld if another
// process holds it.
func TryHold(dir string) (release func(), err error) {
	return hold(dir, syscall.LOCK_EX|syscall.LOCK_NB)
}

func hold(dir string, how int) (release func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), how); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrHeld
		}
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return func() { _ = f.Close() }, nil
}
