// SPDX-License-Identifier: Apache-2.0

// Package pausetest stops processes in tests as if they hung.
package pausetest

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/procfs"
)

// Stop sends SIGSTOP to a process and waits until all its threads have stopped.
// The kernel gives the signal to one thread and stops the others from there:
// on a busy machine they run for some milliseconds more, in which a process
// still answers requests. Without /proc, Stop only sends the signal.
func Stop(tb testing.TB, process *os.Process) {
	tb.Helper()
	if err := process.Signal(syscall.SIGSTOP); err != nil {
		tb.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; <-time.After(time.Millisecond) {
		running := running(process.Pid)
		if running == "" {
			return
		}
		if time.Now().After(deadline) {
			tb.Fatalf("process %d still runs after SIGSTOP: %s", process.Pid, running)
		}
	}
}

// running describes a thread of the process that is not stopped; "" without one.
func running(pid int) string {
	threads, _ := procfs.AllThreads(pid) // none without /proc
	for _, thread := range threads {
		of, err := thread.Stat()
		if err == nil && !strings.Contains("TtZX", of.State) { // else it has ended, or is stopped
			return fmt.Sprintf("%+v", of)
		}
	}
	return ""
}

// Resume lets a stopped process run again.
func Resume(tb testing.TB, process *os.Process) {
	tb.Helper()
	if err := process.Signal(syscall.SIGCONT); err != nil {
		tb.Fatal(err)
	}
}
