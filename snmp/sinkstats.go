// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"fmt"
	"maps"
	"sync"
)

// loss is why a sink did not get a notification, if known.
type loss uint8

const (
	noLoss         loss = iota
	lostQueueFull       // MaxQueue notifications were waiting
	lostStopped         // the sender stopped before
	lostNetwork         // no datagram could be sent: no such name, no route
	lostUnanswered      // an inform without a response to any repetition
	lostRefused         // a response with an error-status, or a Report
	numLosses
)

// String returns the loss as a label of a metric.
func (l loss) String() string {
	return [...]string{"", "queue_full", "stopped", "network", "unanswered", "refused"}[l]
}

// lossError is the error of a notification that a sink did not get.
type lossError struct {
	sink string
	why  loss
	err  error
}

func (e *lossError) Error() string { return fmt.Sprintf("notify %s: %s: %v", e.sink, e.why, e.err) }
func (e *lossError) Unwrap() error { return e.err }

// Reason returns the key of SinkStats.Lost.
func (e *lossError) Reason() string { return e.why.String() }

// SinkStats counts what a Sender did for one sink.
//
// A trap that was given to Deliver is counted in one of Queued, Sent or Lost; an
// inform in one of Queued, Acknowledged or Lost.
type SinkStats struct {
	Sink         string // as it was configured
	Queued       int    // notifications in the queue and the one being sent
	Sent         uint64 // datagrams given to the network, repetitions and requests for the sink's engine included
	Retried      uint64 // repetitions of informs, which are in Sent too
	Acknowledged uint64 // informs with a response
	// Unreachable counts reports of the network that no process listens at the
	// sink. Not every network reports it.
	Unreachable uint64
	// Ignored counts datagrams from the sink that acknowledged nothing: late,
	// repeated, of another community or key, or malformed.
	Ignored uint64
	// Lost counts the notifications that the sink did not get, by reason:
	// queue_full, stopped, network, unanswered and refused.
	Lost map[string]uint64
}

// sinkCounters are the SinkStats of a sink that may be running.
type sinkCounters struct {
	mu  sync.Mutex
	now SinkStats
}

func newSinkCounters(sink string) *sinkCounters {
	c := &sinkCounters{now: SinkStats{Sink: sink, Lost: make(map[string]uint64)}}
	for l := noLoss + 1; l < numLosses; l++ {
		c.now.Lost[l.String()] = 0
	}
	return c
}

func (c *sinkCounters) count(change func(s *SinkStats)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.now)
}

func (c *sinkCounters) read() (now SinkStats) {
	c.count(func(s *SinkStats) {
		now = *s
		now.Lost = maps.Clone(s.Lost)
	})
	return now
}
