// SPDX-License-Identifier: Apache-2.0

package workers

import (
	"context"
	"sync"

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

// lane is the list of one priority.
type lane struct {
	mu     sync.Mutex
	queue  *pool.Queue
	posted chan struct{}
	_      [64]byte // the next lane is another goroutine's
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
	var turn []int32
	for ctx.Err() == nil {
		now := d.clock()
		if turn = l.take(turn[:0], pace.next(now), now); len(turn) > 0 {
			for _, instance := range turn {
				d.serve(instance, p)
			}
			continue
		}
		select {
		case <-l.posted:
		case <-ctx.Done():
		}
	}
}

// take appends up to n instances to turn.
func (l *lane) take(turn []int32, n int, now int64) []int32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	for range n {
		instance, ok := l.queue.Pop(now)
		if !ok {
			break
		}
		turn = append(turn, instance)
	}
	return turn
}

// Stats returns what was counted.
func (d *Dedicated) Stats() pool.Stats {
	sum := pool.Stats{Policy: pool.PolicyDedicated}
	for p := range d.lanes {
		l := &d.lanes[p]
		l.mu.Lock()
		sum = sum.Add(l.queue.Stats())
		l.mu.Unlock()
	}
	return sum
}
