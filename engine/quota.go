// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"
	"sync"
)

// quota is how many firings the workers may do together. Each starts with an
// equal share, so that a run without delays can be repeated; the rest of one
// worker goes to the others. The quota also detects that nothing can fire: all
// is used, or all workers sleep and none waits for a delay.
type quota struct {
	mu        sync.Mutex
	limited   bool
	remaining int // held by no worker
	out       int // held by the workers and not reported as used
	workers   int
	sleeping  int
	news      chan struct{} // closed and replaced when a worker has returned some
	over      chan struct{} // closed when nothing more can fire
}

// newQuota allows n firings, or any number if n is 0.
func newQuota(n, workers int) *quota {
	return &quota{limited: n > 0, out: n, workers: workers, news: make(chan struct{}), over: make(chan struct{})}
}

// share returns the initial share of worker k.
func (q *quota) share(k, firings int) int {
	if !q.limited {
		return math.MaxInt
	}
	n := firings / q.workers
	if k < firings%q.workers {
		n++
	}
	return n
}

// take reports that a worker has used up what it held, which was used firings,
// and returns how many more it may do, at most want. If there are none now,
// news is closed when there may be.
func (q *quota) take(used, want int) (n int, news <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.out -= used
	n = min(want, q.remaining)
	q.remaining -= n
	q.out += n
	if q.out == 0 {
		q.end()
	}
	return n, q.news
}

// give returns what a worker has left and cannot use; used is what it has used.
func (q *quota) give(used, left int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.out -= used + left
	q.remaining += left
	close(q.news)
	q.news = make(chan struct{})
}

// idle reports that a worker sleeps without a delay to wait for. With a limit,
// the run is over when all workers do; without one, calls may still arrive.
func (q *quota) idle() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sleeping++
	if q.limited && q.sleeping == q.workers {
		q.end()
	}
}

// busy ends idle.
func (q *quota) busy() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sleeping--
}

func (q *quota) end() {
	if !q.ended() {
		close(q.over)
	}
}

// ended reports whether nothing more can fire.
func (q *quota) ended() bool {
	select {
	case <-q.over:
		return true
	default:
		return false
	}
}
