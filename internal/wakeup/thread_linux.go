// SPDX-License-Identifier: Apache-2.0

package wakeup

import (
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// fdTimer is a timer of Linux: timerfd_create(2).
type fdTimer struct {
	file *os.File
	conn syscall.RawConn

	mu      sync.Mutex
	started bool // since a Wait ended
	woken   bool // and is over until one ends
}

// Thread returns a timer that wakes one thread, or what New does where the system has none. It is
// not set.
func Thread() Timer {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return New()
	}
	file := os.NewFile(uintptr(fd), "timer")
	conn, err := file.SyscallConn()
	if err == nil {
		err = file.SetDeadline(time.Time{}) // fails if the poller does not take it
	}
	if err != nil {
		_ = file.Close()
		return New()
	}
	return &fdTimer{file: file, conn: conn}
}

// Set does not enter the scheduler of Go, which would wake the runtime's monitor. Nor does Wait.
func (t *fdTimer) Set(after time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.woken {
		t.set(after)
	}
}

func (t *fdTimer) Wake() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.woken = true
	t.set(0)
}

// set starts the timer. It fails only once the timer was stopped.
func (t *fdTimer) set(after time.Duration) {
	t.started = true
	_ = t.conn.Control(func(fd uintptr) {
		when := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(max(after, 1)))} // 0 would not start it
		_ = unix.TimerfdSettime(int(fd), 0, &when, nil)
	})
}

// Wait does not read the timer: the poller reports each end of it.
func (t *fdTimer) Wait() { _ = t.conn.Read(t.over) }

// over reports whether the timer was started and has no time left, once for each start.
func (t *fdTimer) over(fd uintptr) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	var left unix.ItimerSpec
	if !t.started || unix.TimerfdGettime(int(fd), &left) == nil && left.Value != (unix.Timespec{}) {
		return false
	}
	t.started, t.woken = false, false
	return true
}

func (t *fdTimer) Stop() { _ = t.file.Close() }
