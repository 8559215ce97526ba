// SPDX-License-Identifier: Apache-2.0

// Package lograte bounds how often a process logs what other programs cause with
// each of their messages.
package lograte

import (
	"sync"
	"time"
)

// Burst is the number of lines that a Limit allows at once.
const Burst = 100

// Limit allows Burst log lines at once, and then one a second. Its zero value is ready.
// It is safe for concurrent use.
type Limit struct {
	mu         sync.Mutex
	free       time.Time // since when no line is owed
	suppressed uint64
}

// Take reports whether a line may be logged at a time, and the number of lines that
// were not since the last one that was.
func (l *Limit) Take(now time.Time) (suppressed uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.free.Before(now) {
		l.free = now
	}
	if l.free.Sub(now) > (Burst-1)*time.Second {
		l.suppressed++
		return 0, false
	}
	l.free = l.free.Add(time.Second)
	suppressed, l.suppressed = l.suppressed, 0
	return suppressed, true
}
