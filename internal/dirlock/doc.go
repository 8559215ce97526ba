// SPDX-License-Identifier: Apache-2.0

// Package dirlock holds a directory, so that one process at a time changes what
// is in it. What is locked is the directory itself and not a file in it, which
// could be removed and made again beside the one that is held. The system releases
// the lock when the process ends, however it ends.
package dirlock

import "errors"

// ErrHeld says that another process holds the directory, or another part of this
// one.
var ErrHeld = errors.New("another process holds this directory")
