// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package wakeup

// Thread returns what New does: only Linux has a timer that the runtime's poller waits for.
func Thread() Timer { return New() }
