// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/stats"
)

// refusals counts the requests that exceeded a bound, by net. Those that concern no
// single net, messages and signals, are counted in net 0.
type refusals struct {
	mu    sync.Mutex
	byNet []stats.RefusedRequests
}

// count counts a request about a net. reason is an index of stats.RefusedRequests.
func (r *refusals) count(net, reason int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byNet[net][reason]++
}

// of returns the counts of a net.
func (r *refusals) of(net int) *stats.RefusedRequests {
	r.mu.Lock()
	defer r.mu.Unlock()
	return new(r.byNet[net])
}

// report returns the counts of all nets, by the name of the reason; nil if there are
// none.
func (r *refusals) report() (by map[string]uint64) {
	for net := range r.byNet {
		for reason, n := range r.of(net) {
			if n == 0 {
				continue
			}
			if by == nil {
				by = map[string]uint64{}
			}
			by[stats.RefusedReasons()[reason]] += n
		}
	}
	return by
}

// Limits of the requests from NATS.
const (
	maxQueued      = 256      // of one kind and net
	maxQueuedBytes = 16 << 20 // of one kind: inject, fire, message or signal
	maxRequest     = 64 << 10 // bytes of one request
)

// requestQueue holds the requests of one subscription that wait, and executes them one
// after the other. Requests of each kind and net have a queue of their own, so a
// flood of one does not delay the others: workers take calls from all in turn.
type requestQueue struct {
	sub     *nats.Subscription
	waiting chan *nats.Msg
	size    *atomic.Int64    // of all queues of this kind, in bytes
	refused func(reason int) // counts a request
	closed  chan struct{}
	done    chan struct{} // closed once all requests are executed
}

// newRequestQueue subscribes to requests, and calls do for each until close.
func newRequestQueue(nc *nats.Conn, subject string, size *atomic.Int64, refused func(reason int), do func(*nats.Msg)) (q *requestQueue, err error) {
	q = &requestQueue{waiting: make(chan *nats.Msg, maxQueued), size: size, refused: refused, closed: make(chan struct{}), done: make(chan struct{})}
	if q.sub, err = nc.Subscribe(subject, q.put); err != nil {
		return nil, err
	}
	go q.run(do)
	return q, nil
}

func (q *requestQueue) run(do func(*nats.Msg)) {
	defer close(q.done)
	one := func(m *nats.Msg) {
		do(m)
		q.size.Add(-int64(len(m.Data)))
	}
	for {
		select {
		case m := <-q.waiting:
			one(m)
			continue
		case <-q.closed:
		}
		select {
		case m := <-q.waiting:
			one(m)
		default:
			return
		}
	}
}

// put adds a request, or refuses it if it is too large or too many wait. It does not block.
func (q *requestQueue) put(m *nats.Msg) {
	if len(m.Data) > maxRequest {
		q.refused(stats.RefusedSize)
		respond(m, nil, fmt.Errorf("request of %d bytes; expected at most %d", len(m.Data), maxRequest))
		return
	}
	if q.size.Add(int64(len(m.Data))) <= maxQueuedBytes {
		select {
		case q.waiting <- m:
			return
		default:
		}
	}
	q.size.Add(-int64(len(m.Data)))
	q.refused(stats.RefusedQueue)
	respond(m, nil, fmt.Errorf("%d requests of %d bytes wait; expected at most %d of one kind and net, and %d bytes of one kind",
		len(q.waiting), q.size.Load(), maxQueued, maxQueuedBytes))
}

// close ends the subscription, and returns once the requests that wait are
// executed or ctx ends.
func (q *requestQueue) close(ctx context.Context) error {
	err := q.sub.Unsubscribe()
	close(q.closed)
	select {
	case <-q.done:
	case <-ctx.Done():
	}
	return err
}
