// SPDX-License-Identifier: Apache-2.0

// Package atomicfile replaces files such that after a crash of the process, of
// the system or of the power supply there is the old content or the new one,
// never a mixture and never neither.
//
// [Replace] writes a temporary file in the same directory, syncs it, renames it
// and then syncs the directory: without the last step a rename that was reported
// as done can be undone by a power loss. [MkdirAll] does the same for new
// directories. A [Saver] replaces files again and again for a caller that must
// not wait for a disk that hangs.
//
// Of the libraries that replace files, renameio and natefinch/atomic sync the
// file and not the directory.
//
// On Windows a directory cannot be synced. There the system decides when a rename
// reaches the disk; a crash of the process alone loses nothing.
package atomicfile
