// SPDX-License-Identifier: Apache-2.0

package workers

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/pnagent/pnagent/pool"
)

// Dedicated serves instances with one goroutine for each priority: no priority
// waits for another, and order is kept inside a priority only. All methods may
// be called by anybody.
type Dedicated struct {
	clock func() int64
	serve func(instance int32, p pool.Priority)
	lanes [pool.Priorities]lane
}

// lane is the list of one priority. A turn is what its goroutine has taken out
// of the queue and serves without the lock; what it has not begun still counts
// as ready.
type lane struct {
	mu     sync.Mutex
	queue  *pool.Queue
	turn   []taken // written under mu
	taken  int64   // when the turn was taken
	begun  atomic.Int32
	posted chan struct{}
	_      [64]byte // the next lane is another goroutine's
}

type taken struct {
	since    int64
	instance int32
}

// NewDedicated returns a dispatcher that gives instances to serve, which is
// called by eight goroutines, one for each priority.
func NewDedicated(clock func() int64, serve func(instance int32, p pool.Priority)) *Dedicated {
	d := &Dedicated{clock: clock, serve: serve}
	for p := range d.lanes {
		d.lanes[p].queue = pool.NewQueue(pool.Strict())
		d.lanes[p].posted = make(chan struct{}, 1)
	}
	return d
}

// Post makes an instance ready. p is at most [pool.Highest].
func (d *Dedicated) Post(instance int32, p pool.Priority, now int64) {
	l := &d.lanes[p]
	l.mu.Lock()
	first := l.queue.Empty()
	l.queue.Push(instance, p, now)
	l.mu.Unlock()
	if first {
		select {
		case l.posted <- struct{}{}:
		default:
		}
	}
}

// Run serves until ctx ends, and returns when all goroutines have. What is
// still ready then stays.
func (d *Dedicated) Run(ctx context.Context) {
	var running sync.WaitGroup
	for p := range pool.Priorities {
		running.Go(func() { d.run(ctx, pool.Priority(p)) })
	}
	running.Wait()
}

func (d *Dedicated) run(ctx context.Context, p pool.Priority) {
	l := &d.lanes[p]
	pace := pace{n: 1}
	for ctx.Err() == nil {
		now := d.clock()
		if turn := l.take(pace.next(now), now); len(turn) > 0 {
			for i := range turn {
				l.begun.Store(int32(i) + 1)
				d.serve(turn[i].instance, p)
			}
			continue
		}
		select {
		case <-l.posted:
		case <-ctx.Done():
		}
	}
}

// take takes up to n instances for the next turn.
func (l *lane) take(n int, now int64) []taken {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn, l.taken = l.turn[:0], now
	l.begun.Store(0)
	for range n {
		since, ok := l.queue.ReadySince()
		if !ok {
			break
		}
		instance, _ := l.queue.Pop(now)
		l.turn = append(l.turn, taken{since, instance})
	}
	return l.turn
}

// Stats returns what was counted.
func (d *Dedicated) Stats() pool.Stats {
	s := pool.Stats{Policy: pool.PolicyDedicated}
	for p := range d.lanes {
		s.Priorities[p] = d.lanes[p].stats(p)
	}
	return s
}

func (l *lane) stats(p int) pool.PriorityStats {
	l.mu.Lock()
	defer l.mu.Unlock()
	row := l.queue.Stats().Priorities[p]
	if left := l.turn[l.begun.Load():]; len(left) > 0 {
		row.Length += len(left)
		row.Served -= uint64(len(left))
		row.OldestSince = left[0].since
		row.UnservedSince = max(l.taken, left[0].since)
	}
	return row
}
