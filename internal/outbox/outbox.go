// SPDX-License-Identifier: Apache-2.0

// Package outbox queues notifications for one receiver. It is bounded, and when it is full a
// notification that an alarm is over displaces one that an alarm was raised: a receiver must
// not keep an alarm that is over.
package outbox

import "sync"

// Queue is a queue of notifications, the oldest first. It is safe for concurrent use.
type Queue[T any] struct {
	most  int
	ready chan struct{} // holds one element if an item may be waiting

	mu    sync.Mutex
	items []item[T]
}

type item[T any] struct {
	value  T
	alarm  uint32
	clears bool
}

// New returns a Queue of a fixed number of notifications.
func New[T any](most int) *Queue[T] { return &Queue[T]{most: most, ready: make(chan struct{}, 1)} }

// Put appends a notification about an alarm (0 for none), and returns those that have no room.
// In a full Queue a clear and the raise of its alarm leave together, or the newest raise
// leaves for it. A raise has no room there, and neither has a clear among clears.
func (q *Queue[T]) Put(v T, alarm uint32, clears bool) (dropped []T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) >= q.most {
		i := q.displaced(alarm, clears)
		if i < 0 {
			return []T{v}
		}
		old := q.items[i]
		q.items = append(q.items[:i], q.items[i+1:]...)
		dropped = append(dropped, old.value)
		if old.alarm == alarm && alarm != 0 {
			return append(dropped, v)
		}
	}
	q.items = append(q.items, item[T]{v, alarm, clears})
	select {
	case q.ready <- struct{}{}:
	default: // it is known
	}
	return dropped
}

// displaced returns the index of the item that leaves for another one; -1 for none.
func (q *Queue[T]) displaced(alarm uint32, clears bool) (newest int) {
	newest = -1
	for i := range q.items {
		switch o := &q.items[i]; {
		case !clears || o.clears:
		case o.alarm == alarm && alarm != 0:
			return i
		default:
			newest = i
		}
	}
	return newest
}

// Ready returns a channel that receives when a notification may be waiting. It is for one
// receiver, which then calls Take until there is none.
func (q *Queue[T]) Ready() <-chan struct{} { return q.ready }

// Take removes the oldest notification, and reports whether there was one.
func (q *Queue[T]) Take() (v T, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return v, false
	}
	v = q.items[0].value
	q.items[0] = item[T]{} // for the garbage collector
	q.items = q.items[1:]
	if len(q.items) == 0 {
		q.items = nil
	}
	return v, true
}

// Len returns how many notifications wait.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items)
}
