// SPDX-License-Identifier: Apache-2.0

//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package dirlock

import "os"

// Hold only checks the directory: there is no flock on this system, so two
// processes must not use the same directory at once.
func Hold(dir string) (release func(), err error) {
	_, err = os.Stat(dir)
	return func() {}, err
}

// TryHold is Hold.
func TryHold(dir string) (release func(), err error) { return Hold(dir) }
