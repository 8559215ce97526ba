// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/stats"
)

// What queues have served is not part of the marking, so a replay cannot derive
// it. It is recorded before it is published: a new owner never continues from
// less than was published.

// queueCount holds the counters of one priority of a net.
type queueCount struct {
	Served        uint64 `json:"served"`
	QuoteSwitches uint64 `json:"switches,omitempty"`
}

// queueCounts are those of a net, by priority.
type queueCounts [ready.Priorities]queueCount

// add adds what was counted since, and reports false on overflow.
func (c *queueCounts) add(priority int, more queueCount) bool {
	of := &c[priority]
	if more.Served > math.MaxInt64-of.Served || more.QuoteSwitches > math.MaxInt64-of.QuoteSwitches {
		return false
	}
	of.Served += more.Served
	of.QuoteSwitches += more.QuoteSwitches
	return true
}

// rows returns them as rows.
func (c *queueCounts) rows() (rows []stats.Queue) {
	for p, of := range c {
		if of != (queueCount{}) {
			rows = append(rows, stats.Queue{Priority: uint8(p), Served: of.Served, QuoteSwitches: of.QuoteSwitches})
		}
	}
	return rows
}

// noteQueues adds to the next commit what the queues of a net have served since
// the last one that recorded it.
func (w *worker) noteQueues(net int) {
	if w.recorder == nil {
		return
	}
	if w.noted == nil {
		w.noted = make([]queueCounts, len(w.shards))
	}
	start := len(w.queues)
	for _, q := range w.ownQueues(net) {
		last := &w.noted[net][q.Priority]
		more := queueCount{q.Served - last.Served, q.QuoteSwitches - last.QuoteSwitches}
		if more == (queueCount{}) {
			continue
		}
		if len(w.queues) == start {
			w.queues = binary.AppendUvarint(w.queues, uint64(net))
		}
		w.queues = append(w.queues, q.Priority+1)
		w.queues = binary.AppendUvarint(w.queues, more.Served)
		w.queues = binary.AppendUvarint(w.queues, more.QuoteSwitches)
		*last = queueCount{q.Served, q.QuoteSwitches}
	}
	if len(w.queues) > start {
		w.queues = append(w.queues, 0)
	}
}

// replayQueues reads what noteQueues wrote for some nets; the caller holds mu.
func (r *recorder) replayQueues(body []byte) error {
	next := func(below uint64) (uint64, bool) {
		v, n := binary.Uvarint(body)
		if n <= 0 || v >= below {
			return 0, false
		}
		body = body[n:]
		return v, true
	}
	for len(body) > 0 {
		net, ok := next(uint64(len(r.queues)))
		for ok {
			var p uint64
			if p, ok = next(ready.Priorities + 1); !ok || p == 0 {
				break
			}
			a, ok1 := next(math.MaxInt64)
			b, ok2 := next(math.MaxInt64)
			ok = ok1 && ok2 && r.queues[net].add(int(p-1), queueCount{a, b})
		}
		if !ok {
			return fmt.Errorf("%w: invalid counts of queues", ErrReplay)
		}
	}
	return nil
}

// ownQueues returns what this worker has counted of the ready instances of a net.
func (w *worker) ownQueues(net int) (queues []stats.Queue) {
	counted, _, ok := w.shards[net].queue()
	if !ok {
		return nil
	}
	for p, row := range counted.Priorities {
		q := stats.Queue{Priority: uint8(p), Ready: uint64(row.Length), OldestSince: row.OldestSince, UnservedSince: row.UnservedSince,
			Served: row.Served, QuoteSwitches: row.QuoteSwitches}
		if w.turns.turn != nil {
			q.QuoteSwitches = w.turns.switches[net][p]
		}
		if w.only != nil { // its queues have one priority
			q.Priority = uint8(*w.only)
		}
		if q.Served > 0 || q.Ready > 0 {
			queues = append(queues, q)
		}
	}
	return queues
}

// addQueues adds the counts of the ready instances of a net; one worker adds
// those of earlier lives of the journal.
func (w *worker) addQueues(net int, rows *stats.Rows) {
	_, waiting, ok := w.shards[net].queue()
	if !ok {
		return
	}
	rows.Queues = stats.MergeQueues(rows.Queues, w.ownQueues(net))
	if w.before != nil {
		rows.Queues = stats.MergeQueues(rows.Queues, w.before[net].rows())
	}
	rows.Waiting += uint64(waiting)
	rows.Columns |= stats.ColQueues | stats.ColWaiting
}
