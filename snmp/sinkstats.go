// SPDX-License-Identifier: Apache-2.0

package snmp

import "sync/atomic"

// loss says why a sink did not get a notification, as far as is known.
type loss uint8

const (
	noLoss         loss = iota
	lostQueueFull       // MaxQueue others were waiting
	lostStopped         // the sender was stopped before
	lostNetwork         // no datagram could be sent: no such name, no route
	lostUnanswered      // an inform without a response, however often it was sent
	lostRefused         // a response that says there was an error
	numLosses
)

// String is the loss as a label of a metric.
func (l loss) String() string {
	return [...]string{"", "queue_full", "stopped", "network", "unanswered", "refused"}[l]
}

// SinkStats is what a Sender has done for one sink. All but Queued only rise.
//
// A trap that was given to Notify is in one of Queued, Sent or Lost. An inform
// is in one of Queued, Acknowledged or Lost, however often it was sent.
type SinkStats struct {
	Sink         string // as it was configured
	Queued       int    // notifications that wait, the one under way included
	Sent         uint64 // datagrams given to the network, repetitions included
	Retried      uint64 // of these the repetitions of informs
	Acknowledged uint64 // informs with a response
	// Unreachable is how often the network reported that a datagram did not
	// arrive: nobody listens at the sink. Not every network does.
	Unreachable uint64
	// Ignored is how many datagrams came from the sink that acknowledged
	// nothing: late, repeated, of another community, or no message at all.
	Ignored uint64
	// Lost is how many notifications the sink did not get, for each of the
	// reasons queue_full, stopped, network, unanswered and refused.
	Lost map[string]uint64
}

// sinkCounters is the live form of SinkStats.
type sinkCounters struct {
	queued                                            atomic.Int64
	sent, retried, acknowledged, unreachable, ignored atomic.Uint64
	lost                                              [numLosses]atomic.Uint64
}

func (c *sinkCounters) read(sink string) SinkStats {
	s := SinkStats{
		Sink:         sink,
		Queued:       int(c.queued.Load()),
		Sent:         c.sent.Load(),
		Retried:      c.retried.Load(),
		Acknowledged: c.acknowledged.Load(),
		Unreachable:  c.unreachable.Load(),
		Ignored:      c.ignored.Load(),
		Lost:         make(map[string]uint64, numLosses-1),
	}
	for l := noLoss + 1; l < numLosses; l++ {
		s.Lost[l.String()] = c.lost[l].Load()
	}
	return s
}
