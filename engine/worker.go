// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"time"

	"github.com/pnagent/pnagent/game"
)

// batch is how many firings a worker does between two looks at the clock and
// at its calls: about 100 µs of work.
const batch = 4096

// worker is a goroutine that owns one shard of every net.
type worker struct {
	shards []*game.Shard // by net
	calls  chan func(now int64)
	quota  *quota
	clock  func() int64
	last   int64 // the latest time that was seen: time does not go back
	ended  chan struct{}
}

// now returns the time, which never goes back even if the clock is set back.
func (w *worker) now() int64 {
	w.last = max(w.last, w.clock())
	return w.last
}

// run plays until ctx ends or the quota is used up.
func (w *worker) run(ctx context.Context) {
	defer close(w.ended)
	for ctx.Err() == nil {
		now := w.now()
		fired := 0
		for _, s := range w.shards {
			n := w.quota.take(batch)
			if n == 0 {
				return
			}
			k := s.Step(n, now)
			w.quota.give(n, k)
			fired += k
		}
		if fired > 0 {
			w.answer(now)
		} else if !w.wait(ctx) {
			return
		}
	}
}

// answer does the calls that have come in.
func (w *worker) answer(now int64) {
	for {
		select {
		case call := <-w.calls:
			call(now)
		default:
			return
		}
	}
}

// wait sleeps until there is something to do, and reports whether there can be.
func (w *worker) wait(ctx context.Context) bool {
	var after <-chan time.Time
	if due, timed := w.nextDue(); timed {
		timer := time.NewTimer(time.Duration(max(due-w.now(), 0)) * time.Microsecond)
		defer timer.Stop()
		after = timer.C
	} else {
		if w.quota.idle() {
			return false
		}
		defer w.quota.busy()
	}
	select {
	case call := <-w.calls:
		call(w.now())
	case <-after:
	case <-w.quota.over:
	case <-ctx.Done():
	}
	return true
}

// nextDue returns when the next delay of any shard is over.
func (w *worker) nextDue() (due int64, ok bool) {
	for _, s := range w.shards {
		if d, has := s.NextDue(); has && (!ok || d < due) {
			due, ok = d, true
		}
	}
	return due, ok
}
