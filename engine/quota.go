// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"
	"sync"
)

// quota is how many firings the workers may do together. It also sees when no
// worker can do any more: all sleep and none waits for a delay.
type quota struct {
	mu        sync.Mutex
	returned  sync.Cond
	limited   bool
	remaining int
	out       int // taken and not given back yet
	workers   int
	sleeping  int
	over      chan struct{} // closed when nothing can fire any more
	closed    bool
}

// newQuota allows n firings, or any number if n is 0.
func newQuota(n, workers int) *quota {
	q := &quota{limited: n > 0, remaining: n, workers: workers, over: make(chan struct{})}
	if !q.limited {
		q.remaining = math.MaxInt
	}
	q.returned.L = &q.mu
	return q
}

// take returns how many firings, at most want, a worker may do now. It waits
// for others to give back what they do not use; 0 means that all are done.
func (q *quota) take(want int) int {
	if !q.limited {
		return want
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.remaining == 0 && q.out > 0 {
		q.returned.Wait()
	}
	n := min(want, q.remaining)
	if n == 0 {
		q.end()
	}
	q.remaining -= n
	q.out += n
	return n
}

// give says that of n taken firings only fired were done.
func (q *quota) give(n, fired int) {
	if !q.limited {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.remaining += n - fired
	q.out -= n
	q.returned.Broadcast()
}

// idle says that a worker sleeps without a delay to wait for. It reports
// whether that is so for good: with a limit, when all others do too. Without a
// limit somebody may still call.
func (q *quota) idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sleeping++
	if q.limited && q.sleeping == q.workers {
		q.end()
	}
	return q.closed
}

func (q *quota) end() {
	if !q.closed {
		q.closed = true
		close(q.over)
	}
}

// busy ends idle.
func (q *quota) busy() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sleeping--
}
