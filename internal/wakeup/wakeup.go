// SPDX-License-Identifier: Apache-2.0

// Package wakeup lets one goroutine wait for a time at the cost of waking one thread.
//
// A timer of Go wakes more: the thread that waits for it, the runtime's monitor, which wakes at the
// same time, and, with more than one processor, a thread that looks for other work. [New] returns
// such a timer. [Thread] returns one of Linux that the runtime's poller waits for: it
// wakes one thread. Goroutines that wait for it are not idle for package
// testing/synctest, so tests in a bubble use New.
package wakeup

import (
	"sync"
	"time"
)

// Timer wakes one goroutine. All methods but Wait may be called by any goroutine.
type Timer interface {
	// Set makes Wait return after a duration, instead of what was set before.
	Set(after time.Duration)
	// Wake makes the present or next call of Wait return at once. What is set before
	// that call returns may be lost.
	Wake()
	// Wait waits. It may return early; from Stop on, it returns at once.
	Wait()
	// Stop releases the timer.
	Stop()
}

// goTimer is a timer of Go.
type goTimer struct {
	timer   *time.Timer
	woken   chan struct{} // holds one after Wake
	stopped chan struct{}
	stop    sync.Once
}

// New returns a timer of Go, which is not set.
func New() Timer {
	t := &goTimer{timer: time.NewTimer(0), woken: make(chan struct{}, 1), stopped: make(chan struct{})}
	t.timer.Stop()
	return t
}

func (t *goTimer) Set(after time.Duration) { t.timer.Reset(after) }

func (t *goTimer) Wake() {
	select {
	case t.woken <- struct{}{}:
	default:
	}
}

func (t *goTimer) Wait() {
	select {
	case <-t.timer.C:
	case <-t.woken:
	case <-t.stopped:
	}
}

func (t *goTimer) Stop() {
	t.stop.Do(func() {
		t.timer.Stop()
		close(t.stopped)
	})
}
