// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// proveEvery is the least time between two proofs that everything published was received.
	proveEvery = 250 * time.Millisecond
	// answerFast is how long a View waits for its proof. A server that takes longer proves
	// the next View.
	answerFast = 50 * time.Millisecond
	// proveWithin is how long the server may take to answer.
	proveWithin = 10 * time.Second
	// brokenAfter is how much later than it was due a proof may be for the time before it to
	// count as silence of a source. A process that was stopped for longer may have lost messages.
	brokenAfter = 2 * time.Second
)

// proof records that the server had delivered everything published up to a time:
// it answered a ping that was sent then, and it delivers earlier messages before
// the answer. These messages wait in the subscriptions until they are processed.
type proof struct {
	at       int64
	unbroken bool    // since the previous proof
	came     []int64 // messages that each subscription received so far
	sorted   bool    // all of them are in the inbox, or were
	first    int64   // messages of shown sources until then
}

// proofs are the proofs whose messages are not all processed yet.
type proofs struct {
	subs  []*subscription
	at    int64  // of the newest one
	first *proof // or nil
	next  *proof // the newest one after first, or nil

	every    time.Duration      // between two Views that do not rest, or between two proofs if that is longer
	late     int64              // how old the newest proof may be without a break
	pinged   time.Time          // when the newest one was asked for
	wanted   chan time.Duration // of prove: for how long the collector rested before
	answered chan struct{}      // has an element after that
}

func newProofs(interval time.Duration) proofs {
	p := proofs{every: max(interval, proveEvery), wanted: make(chan time.Duration, 1), answered: make(chan struct{}, 1)}
	p.rested(0)
	return p
}

// rested sets how long the collector rests before the next proof.
func (q *proofs) rested(d time.Duration) { q.late = (brokenAfter + q.every + d).Microseconds() }

// subscription counts the messages that were put into the inbox.
type subscription struct {
	*nats.Subscription
	taken atomic.Int64
}

// prove pings the server each time that a proof is wanted, until the context ends.
func (c *Collector) prove(ctx context.Context) {
	var last int64
	var of uint64 // connections so far, as of the last proof
	for {
		var rested time.Duration
		select {
		case rested = <-c.proofs.wanted:
		case <-ctx.Done():
			return
		}
		if at, made, ok := c.ping(ctx); ok {
			most := brokenAfter + c.proofs.every + rested
			c.proved(at, made == of && at-last >= 0 && at-last <= most.Microseconds())
			last, of = at, made
		}
		select {
		case c.proofs.answered <- struct{}{}:
		default:
		}
	}
}

// proveNow asks for a proof for the View that is due, and waits for it for answerFast at most.
// The time since the previous one in which the collector rested is no delay.
func (c *Collector) proveNow(ctx context.Context, due time.Time) {
	now := time.Now()
	if now.Sub(c.proofs.pinged) < proveEvery {
		return
	}
	var rested time.Duration
	if last := c.proofs.pinged; !last.IsZero() {
		rested = min(max(0, due.Sub(last)-c.proofs.every), restIntervals*c.cfg.Interval)
	}
	c.mu.Lock()
	c.proofs.rested(rested)
	c.mu.Unlock()
	select { // an answer that came late
	case <-c.proofs.answered:
	default:
	}
	select {
	case c.proofs.wanted <- rested:
		c.proofs.pinged = now
	default: // an earlier one is not answered
		return
	}
	late := time.NewTimer(answerFast)
	defer late.Stop()
	select {
	case <-c.proofs.answered:
	case <-late.C:
	case <-ctx.Done():
	}
}

// ping returns the time at which a ping was sent that the server has answered, and
// the number of reconnections before it. After a reconnection, an answer proves
// nothing about the time before it.
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

// proved adds a proof.
func (c *Collector) proved(at int64, unbroken bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := &proof{at: at, unbroken: unbroken}
	for _, s := range c.proofs.subs {
		delivered, err := s.Delivered() // before Pending: a message that moves in between is not counted, never counted twice
		pending, _, err2 := s.Pending()
		if err != nil || err2 != nil { // the connection is closed
			return
		}
		p.came = append(p.came, delivered+int64(pending))
	}
	c.proofs.take(p)
	c.confirmReceived()
}

// take queues a proof after the first one, instead of those after that.
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

// overdue reports whether a proof is overdue, so that nothing may have been received.
func (q *proofs) overdue(now int64) bool { return now-q.at > q.late }

// processed removes the first proof and returns it if its messages are all processed. Of
// those of shown sources, came have reached the inbox so far, and done are processed.
func (q *proofs) processed(came, done int64) (p *proof) {
	if q.first == nil {
		return nil
	}
	for i, s := range q.subs {
		if s.taken.Load() < q.first.came[i] {
			return nil
		}
	}
	if !q.first.sorted {
		q.first.sorted, q.first.first = true, came
	}
	if done < q.first.first {
		return nil
	}
	p, q.first, q.next = q.first, q.next, nil
	return p
}

// confirmReceived passes to the Merger the proofs whose messages are all processed.
func (c *Collector) confirmReceived() {
	for p := c.proofs.processed(c.inbox.progress()); p != nil; p = c.proofs.processed(c.inbox.progress()) {
		c.merger.ReceivedUntil(p.at, p.unbroken)
	}
}
