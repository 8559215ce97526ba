// SPDX-License-Identifier: Apache-2.0

// Package pausetest stops processes in tests as if they hung.
package pausetest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
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
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		return err.Error()
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		// The state is the letter behind the name, which is in parentheses.
		if i := bytes.LastIndexByte(text, ')'); i < 0 || i+2 >= len(text) || !bytes.ContainsRune([]byte("TtZX"), rune(text[i+2])) {
			return string(text)
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
