// SPDX-License-Identifier: Apache-2.0

package workers

import (
	"sync"
	"sync/atomic"

	"github.com/pnagent/pnagent/pool"
)

// Dispatcher is a queue of ready instances with one owner and any number of
// producers. [Dispatcher.Post] and [Dispatcher.Posted] may be called by anybody,
// everything else by the owner only.
//
// What producers post waits in an inbox. The owner looks at a bit set of the
// priorities in there, which rarely changes, and takes the lock only when what
// waits would change whose turn is next. So the order is that of one queue, and
// the lock is taken once for many instances.
type Dispatcher struct {
	queue *pool.Queue
	taken []post // the inbox that was taken last, to be used again

	_       [64]byte // what follows is written by producers
	waiting atomic.Uint32
	mu      sync.Mutex
	inbox   []post
	posted  chan struct{}
}

// post is an instance on its way into the queue.
type post struct {
	now      int64
	instance int32
	priority pool.Priority
}

// NewDispatcher returns an empty dispatcher.
func NewDispatcher(d pool.Discipline) *Dispatcher {
	return &Dispatcher{queue: pool.NewQueue(d), posted: make(chan struct{}, 1)}
}

// Post makes an instance ready. p is at most [pool.Highest]. The inbox has no bound: whoever posts each
// instance once until it was served needs none.
func (d *Dispatcher) Post(instance int32, p pool.Priority, now int64) {
	if p > pool.Highest {
		panic("workers: " + p.String() + " is no priority")
	}
	bit := uint32(1) << p
	d.mu.Lock()
	d.inbox = append(d.inbox, post{now, instance, p})
	waiting := d.waiting.Load()
	if waiting&bit == 0 {
		d.waiting.Store(waiting | bit)
	}
	d.mu.Unlock()
	if waiting == 0 {
		select {
		case d.posted <- struct{}{}:
		default:
		}
	}
}

// Posted returns a channel that receives when something was posted into the
// empty inbox. An owner for whom Next has found nothing waits for it.
func (d *Dispatcher) Posted() <-chan struct{} { return d.posted }

// Push makes an instance ready from the owner's own goroutine, after all that
// was posted before. While nothing is posted it takes no lock.
func (d *Dispatcher) Push(instance int32, p pool.Priority, now int64) {
	if d.waiting.Load() != 0 {
		d.fetch()
	}
	d.queue.Push(instance, p, now)
}

// Next takes the next instance, if one is ready.
func (d *Dispatcher) Next(now int64) (instance int32, ok bool) {
	if w := d.waiting.Load(); w != 0 && d.queue.Overtakes(uint8(w)) {
		d.fetch()
	}
	return d.queue.Pop(now)
}

// fetch moves the inbox into the queue.
func (d *Dispatcher) fetch() {
	d.mu.Lock()
	d.taken, d.inbox = d.inbox, d.taken[:0]
	d.waiting.Store(0)
	d.mu.Unlock()
	for _, p := range d.taken {
		d.queue.Push(p.instance, p.priority, p.now)
	}
}

// Stats returns what was counted, with what waits in the inbox.
func (d *Dispatcher) Stats() pool.Stats {
	d.fetch()
	return d.queue.Stats()
}
