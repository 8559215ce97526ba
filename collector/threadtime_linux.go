// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime returns the time of a processor that the calling thread used so far. Getrusage would
// not do: what a running thread used since the last tick is not in it, and a few messages take
// less than a tick.
func threadTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
