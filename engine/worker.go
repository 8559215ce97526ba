// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"sync"
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
	left   int // firings that it may do
	used   int // and has done, since it last told the quota
	clock  func() int64
	last   int64 // the latest time that was seen: time does not go back
	ended  chan struct{}
	rest   sync.Mutex // guards the shards once the worker has ended

	recorder *recorder // nil without a journal
	commit   []byte    // see flush
}

// now returns the time, which never goes back even if the clock is set back.
func (w *worker) now() int64 {
	w.last = max(w.last, w.clock())
	return w.last
}

// run plays until ctx ends or the quota is used up. The error is that of the
// journal.
func (w *worker) run(ctx context.Context) error {
	defer close(w.ended)
	for ctx.Err() == nil && !w.quota.ended() {
		now := w.now()
		fired, short := w.step(now)
		if err := w.flush(now); err != nil {
			return err
		}
		if fired > 0 {
			w.answer(now)
		} else {
			w.wait(ctx, short)
		}
	}
	return nil
}

// step fires one batch of every shard. If the worker may not fire just now,
// short is closed when it may again.
func (w *worker) step(now int64) (fired int, short <-chan struct{}) {
	for _, s := range w.shards {
		if w.left == 0 {
			w.left, short = w.quota.take(w.used, batch)
			w.used = 0
		}
		if w.left == 0 {
			return fired, short
		}
		n := s.Step(min(batch, w.left), now)
		w.left -= n
		w.used += n
		fired += n
	}
	return fired, nil
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

// wait sleeps until there may be something to do.
func (w *worker) wait(ctx context.Context, short <-chan struct{}) {
	var after <-chan time.Time
	due, timed := w.nextDue()
	switch {
	case short != nil:
	case timed:
		timer := time.NewTimer(time.Duration(max(due-w.now(), 0)) * time.Microsecond)
		defer timer.Stop()
		after = timer.C
	default:
		if w.quota.limited {
			w.quota.give(w.used, w.left)
			w.used, w.left = 0, 0
		}
		w.quota.idle()
		defer w.quota.busy()
	}
	select {
	case call := <-w.calls:
		call(w.now())
	case <-after:
	case <-short:
	case <-w.quota.over:
	case <-ctx.Done():
	}
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
