// SPDX-License-Identifier: Apache-2.0

//go:build unix

package lines

import (
	"io/fs"
	"syscall"
)

// inode returns the number of a file in its file system.
func inode(of fs.FileInfo) uint64 {
	if s, ok := of.Sys().(*syscall.Stat_t); ok {
		return s.Ino
	}
	return 0
}
