// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// proveEvery is how often it is proved that everything published is heard.
	proveEvery = 250 * time.Millisecond
	// proveWithin is how long the server may take to answer.
	proveWithin = 10 * time.Second
	// brokenAfter is the longest time between two proofs in which a source can
	// be silent. A process that was stopped for longer does not know what became
	// of what was sent to it.
	brokenAfter = 2 * time.Second
)

// proof says that the server had passed on to this process everything that was
// published up to a moment: it answered a ping that was sent then, and what it
// passes on before its answer comes before it. What has come waits in the
// subscriptions until it is taken in.
type proof struct {
	at       int64
	unbroken bool    // since the proof before it
	came     []int64 // messages of each subscription so far
}

// proofs are those that wait for what came before them to be taken in.
type proofs struct {
	subs  []*subscription
	at    int64  // of the newest one
	first *proof // nil for none
	next  *proof // the newest one behind first; nil for none
}

// subscription is one with the number of messages that were taken in.
type subscription struct {
	*nats.Subscription
	taken atomic.Int64
}

// prove asks the server again and again whether everything was heard, until the
// context ends.
func (c *Collector) prove(ctx context.Context) {
	tick := time.NewTicker(proveEvery)
	defer tick.Stop()
	var last int64
	var of uint64 // connections so far, as of the last proof
	for {
		if at, made, ok := c.ping(ctx); ok {
			c.proved(at, made == of && at-last >= 0 && at-last <= brokenAfter.Microseconds())
			last, of = at, made
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// ping returns when a ping was sent that the server has answered, and the number
// of connections that were made before: a ping that an earlier one did not get
// says nothing about the time between them.
func (c *Collector) ping(ctx context.Context) (at int64, made uint64, ok bool) {
	conn := c.cfg.Conn
	if !conn.IsConnected() {
		return 0, 0, false
	}
	ctx, cancel := context.WithTimeout(ctx, proveWithin)
	defer cancel()
	made, at = conn.Stats().Reconnects, time.Now().UnixMicro()
	return at, made, conn.FlushWithContext(ctx) == nil && conn.Stats().Reconnects == made
}

// proved takes a proof.
func (c *Collector) proved(at int64, unbroken bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := &proof{at: at, unbroken: unbroken}
	for _, s := range c.proofs.subs {
		delivered, err := s.Delivered() // before Pending: one that moves in between is not counted, never counted twice
		pending, _, err2 := s.Pending()
		if err != nil || err2 != nil { // the connection is closed
			return
		}
		p.came = append(p.came, delivered+int64(pending))
	}
	c.proofs.take(p)
	c.hearUntil()
}

// take queues a proof behind the first one, in place of those after that.
func (q *proofs) take(p *proof) {
	q.at = p.at
	if q.first == nil {
		q.first = p
		return
	}
	if q.next != nil {
		p.unbroken = p.unbroken && q.next.unbroken
	}
	q.next = p
}

// deaf reports whether nothing can be heard: a proof that everything was is due.
func (q *proofs) deaf(now int64) bool { return now-q.at > brokenAfter.Microseconds() }

// hearUntil gives the Merger the proofs of which everything is taken in.
func (c *Collector) hearUntil() {
	q := &c.proofs
	for q.first != nil {
		for i, s := range q.subs {
			if s.taken.Load() < q.first.came[i] {
				return
			}
		}
		c.merger.Hear(q.first.at, q.first.unbroken)
		q.first, q.next = q.next, nil
	}
}
