// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/pnagent/pnagent/internal/wakeup"
)

// alarm plays workers that wait when something of theirs is due. It is one goroutine with one
// timer for all workers: to wake the goroutine of each takes longer than to play the little that is due.
// If there is more, it wakes them. docs/design/decisions.md has the figures.
type alarm struct {
	timer wakeup.Timer
	ended atomic.Bool

	mu    sync.Mutex
	armed bool
	at    time.Time // of the next wake-up, if armed
}

func newAlarm(thread bool) *alarm {
	if thread {
		return &alarm{timer: wakeup.Thread()}
	}
	return &alarm{timer: wakeup.New()}
}

// set makes the alarm look at all workers after some microseconds at the latest.
func (a *alarm) set(after int64) {
	wait := time.Duration(max(after, 0)) * time.Microsecond
	at := time.Now().Add(wait)
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.armed || at.Before(a.at) {
		a.armed, a.at = true, at
		a.timer.Set(wait)
	}
}

// run plays workers until stop.
func (a *alarm) run(workers []*worker) {
	for {
		a.timer.Wait()
		if a.ended.Load() {
			return
		}
		a.mu.Lock()
		a.armed = false
		a.mu.Unlock()
		for _, w := range workers {
			w.playDue()
		}
	}
}

// stop ends run. The workers must have ended.
func (a *alarm) stop() {
	a.ended.Store(true)
	a.timer.Wake()
}

// borrow takes over a worker that waits, until giveBack. It returns false for one that plays, has not
// begun or has ended.
func (w *worker) borrow() bool {
	if !w.playing.TryLock() {
		return false
	}
	waits := w.waiting
	if !waits {
		w.playing.Unlock()
	}
	return waits
}

// giveBack has a worker wait on, until something of its nets is due.
func (w *worker) giveBack() {
	after, timed := w.due-w.now(), w.timed
	w.playing.Unlock()
	if timed {
		w.alarm.set(after)
	}
}

// few is how many firings the alarm plays of a worker, so that others do not wait long.
const few = 512

// playDue plays what is due of a worker that waits. The worker itself continues if there is more to do
// than that, if nothing is due any more, and if the journal has failed.
func (w *worker) playDue() {
	if !w.borrow() {
		return // it sets the alarm when it waits
	}
	defer w.giveBack()
	if !w.timed || w.first > w.now() { // it may be that another worker could not wait for longer
		return
	}
	more := true
	if w.inbox == nil { // otherwise the worker may hold an arrival that comes before those in the inbox
		more = w.playFew()
	}
	if !more {
		w.due, w.timed = w.wakeAt()
	}
	if more || !w.timed {
		w.timed = false
		wake(w.continues)
	}
}

// playFew plays one round of few firings, and reports whether the worker must continue.
func (w *worker) playFew() (more bool) {
	defer func(batch int) { w.batch = batch }(w.batch)
	w.batch, w.fired = min(w.batch, few), 0
	more, short, err := w.round()
	w.failed = err
	if w.turns.turn == nil && w.rounds < maxRounds && w.fired < w.batch {
		more = false // each net has fired all that it could
	}
	return more || short != nil || err != nil
}
