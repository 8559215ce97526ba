// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// saturation is the first sum of a net that was found to stand still at
// stats.MaxSum.
type saturation struct {
	of   string // "" if there is none
	told bool
}

// noteSaturated looks among the rows that changed for a sum that stands still.
func (n *net) noteSaturated(rows *stats.Rows) {
	if n.saturated.of != "" {
		return
	}
	for _, i := range n.places.list {
		if p := &rows.Places[i]; stands(placeCounts(p)) || p.Dwell.Sum == stats.MaxSum {
			n.saturated.of = fmt.Sprintf("place %q", n.union.def.Places[i].ID)
			return
		}
	}
	for _, i := range n.transitions.list {
		if t := &rows.Transitions[i]; stands(transitionCounts(t)) || t.Duration.Sum == stats.MaxSum {
			n.saturated.of = fmt.Sprintf("transition %q", n.union.def.Transitions[i].ID)
			return
		}
	}
	if stands(netCounts(&rows.Net)) {
		n.saturated.of = "instances"
		return
	}
	for i := range rows.Queues {
		if q := &rows.Queues[i]; stands([]*uint64{&q.Ready, &q.Served, &q.QuoteSwitches}) {
			n.saturated.of = fmt.Sprintf("queue %d", q.Priority)
			return
		}
	}
}

// tellSaturated logs each net of which a sum stands still, once.
func (c *Collector) tellSaturated() {
	for _, n := range c.merger.nets {
		if s := &n.saturated; s.of != "" && !s.told {
			s.told = true
			c.cfg.Log.Warn("a sum is as large as it can be and stands still", "net", n.name, "of", s.of, "at", uint64(stats.MaxSum))
		}
	}
}

func stands(counts []*uint64) bool {
	for _, v := range counts {
		if *v == stats.MaxSum {
			return true
		}
	}
	return false
}

// boundRows lowers every count to what a message may hold. The rows themselves
// are changed, what they share with others is not.
func boundRows(rows *stats.Rows) {
	for i := range rows.Places {
		p := &rows.Places[i]
		bound(placeCounts(p))
		p.Dwell.Buckets = boundEach(p.Dwell.Buckets, bucketCount)
		p.Ages.Slots = boundEach(p.Ages.Slots, func(s *stats.Slot) *uint64 { return &s.N })
	}
	for i := range rows.Transitions {
		t := &rows.Transitions[i]
		bound(transitionCounts(t))
		t.Duration.Buckets = boundEach(t.Duration.Buckets, bucketCount)
	}
	bound(netCounts(&rows.Net))
	bound([]*uint64{&rows.Waiting})
	rows.Blocks = boundEach(rows.Blocks, func(b *stats.Block) *uint64 { return &b.Instances })
	rows.Queues = boundEach(rows.Queues, func(q *stats.Queue) *uint64 { return &q.Ready })
	rows.Queues = boundEach(rows.Queues, func(q *stats.Queue) *uint64 { return &q.Served })
	rows.Queues = boundEach(rows.Queues, func(q *stats.Queue) *uint64 { return &q.QuoteSwitches })
}

// bound lowers counts. One beyond stats.MaxSum is negative, and no count.
func bound(counts []*uint64) {
	for _, v := range counts {
		if tooLarge(*v) {
			*v = telemetry.MaxCount
		}
	}
}

func tooLarge(v uint64) bool { return v > telemetry.MaxCount && v <= stats.MaxSum }

// boundEach returns a list with lower counts: the same one if all are small.
func boundEach[T any](list []T, count func(*T) *uint64) []T {
	copied := false
	for i := range list {
		if !tooLarge(*count(&list[i])) {
			continue
		}
		if !copied {
			list, copied = slices.Clone(list), true
		}
		*count(&list[i]) = telemetry.MaxCount
	}
	return list
}

func bucketCount(b *stats.Bucket) *uint64 { return &b.N }

func placeCounts(p *stats.Place) []*uint64 {
	return []*uint64{&p.Tokens, &p.Arrivals, &p.Departures, &p.Instances, &p.Dwell.Zero}
}

func transitionCounts(t *stats.Transition) []*uint64 {
	return []*uint64{&t.Firings, &t.Failures, &t.Retries, &t.Cancels, &t.Timeouts, &t.Late, &t.Enabled, &t.Running, &t.Duration.Zero}
}

func netCounts(n *stats.Net) []*uint64 {
	return []*uint64{&n.Created, &n.Finished, &n.Failed, &n.Active, &n.Deadlocked}
}
