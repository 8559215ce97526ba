// SPDX-License-Identifier: Apache-2.0

// Package busytest measures how long processes wait for a processor. A test that checks
// how long something takes leaves that out: on a busy machine it may be most of the time.
package busytest

import (
	"os"
	"time"

	"github.com/prometheus/procfs"
)

// Since returns a function that returns how long the threads of this process, and of
// others, have waited for a processor since then. Threads that wait at once count one by
// one. It returns 0 where the kernel does not count.
func Since(pids ...int) (waited func() time.Duration) {
	pids = append([]int{os.Getpid()}, pids...)
	before := sum(pids)
	return func() time.Duration { return max(0, sum(pids)-before) } // less than before if a thread has ended
}

func sum(pids []int) (all time.Duration) {
	for _, pid := range pids {
		threads, _ := procfs.AllThreads(pid) // none where there is no /proc, or the process has ended
		for _, thread := range threads {
			if of, err := thread.Schedstat(); err == nil { // else it has ended since
				all += time.Duration(of.WaitingNanoseconds)
			}
		}
	}
	return all
}
