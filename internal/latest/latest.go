// SPDX-License-Identifier: Apache-2.0

// Package latest provides a value that is replaced from time to time, and channels
// for its subscribers. Each channel has one slot, which holds the newest value
// that was not received. A slow subscriber misses values and delays neither the
// sender nor other subscribers.
package latest

import (
	"sync"
	"sync/atomic"
)

// Value is a pointer to the newest value. Any goroutine may call its methods. The
// zero Value holds nil.
type Value[T any] struct {
	newest      atomic.Pointer[T]
	mu          sync.Mutex // guards subscribers, and keeps the values of concurrent Stores in order
	subscribers []chan *T
}

// Load returns the newest value.
func (v *Value[T]) Load() *T { return v.newest.Load() }

// Store replaces the value and sends it to all subscribers.
func (v *Value[T]) Store(newest *T) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.newest.Store(newest)
	for _, c := range v.subscribers {
		send(c, newest)
	}
}

// Subscribe returns a channel of the values from now on, beginning with the
// current one if it is not nil.
func (v *Value[T]) Subscribe() <-chan *T {
	v.mu.Lock()
	defer v.mu.Unlock()
	c := make(chan *T, 1)
	if newest := v.newest.Load(); newest != nil {
		send(c, newest)
	}
	v.subscribers = append(v.subscribers, c)
	return c
}

// send puts a value into the slot, and discards one that was not received. No
// other goroutine sends, so there is room then.
func send[T any](c chan *T, value *T) {
	select {
	case <-c:
	default:
	}
	c <- value
}
