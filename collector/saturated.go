// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// saturation is the first sum of a net that reached stats.MaxSum, where it no
// longer increases.
type saturation struct {
	of     string // "" if there is none
	logged bool
}

// noteSaturated searches the changed rows for a sum that reached stats.MaxSum.
func (n *net) noteSaturated(rows *stats.Rows) {
	if n.saturated.of != "" {
		return
	}
	for _, i := range n.places.list {
		if p := &rows.Places[i]; saturated(placeCounts(p)) || p.Dwell.Sum == stats.MaxSum {
			n.saturated.of = fmt.Sprintf("place %q", n.union.def.Places[i].ID)
			return
		}
	}
	for _, i := range n.transitions.list {
		if t := &rows.Transitions[i]; saturated(transitionCounts(t)) || t.Duration.Sum == stats.MaxSum {
			n.saturated.of = fmt.Sprintf("transition %q", n.union.def.Transitions[i].ID)
			return
		}
	}
	if saturated(netCounts(&rows.Net)) {
		n.saturated.of = "instances"
		return
	}
	for i := range rows.Queues {
		if q := &rows.Queues[i]; saturated([]*uint64{&q.Ready, &q.Served, &q.QuoteSwitches}) {
			n.saturated.of = fmt.Sprintf("queue %d", q.Priority)
			return
		}
	}
}

// logSaturated logs each net with a saturated sum once.
func (c *Collector) logSaturated() {
	for _, n := range c.merger.nets {
		if s := &n.saturated; s.of != "" && !s.logged {
			s.logged = true
			c.cfg.Log.Warn("a sum reached its maximum and no longer increases", "net", n.name, "of", s.of, "at", uint64(stats.MaxSum))
		}
	}
}

func saturated(counts []*uint64) bool {
	return slices.ContainsFunc(counts, func(v *uint64) bool { return *v == stats.MaxSum })
}

// boundRows lowers every count to what a message may hold. It changes the rows
// themselves, and nothing that they share with other rows.
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

// bound lowers counts to telemetry.MaxCount. A value beyond stats.MaxSum stands
// for a negative number.
func bound(counts []*uint64) {
	for _, v := range counts {
		if tooLarge(*v) {
			*v = telemetry.MaxCount
		}
	}
}

func tooLarge(v uint64) bool { return v > telemetry.MaxCount && v <= stats.MaxSum }

// boundEach returns a list with bounded counts: the same list if no count is too
// large.
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

func netCounts(n *stats.NetRow) []*uint64 {
	return []*uint64{&n.Created, &n.Finished, &n.Failed, &n.Active, &n.Deadlocked}
}
