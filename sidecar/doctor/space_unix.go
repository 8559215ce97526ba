// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package doctor

import "syscall"

// freeSpace returns the bytes that this user may still write below a directory.
func freeSpace(dir string) (free uint64, known bool) {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return 0, false
	}
	return s.Bavail * uint64(s.Bsize), true
}
