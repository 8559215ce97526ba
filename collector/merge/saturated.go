// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// saturation is the first sum of a net that reached stats.MaxSum, where it no
// longer increases.
type saturation struct {
	of   string // "" if there is none
	told bool
}

// noteSaturated searches the changed rows for a sum that reached stats.MaxSum.
func (n *net) noteSaturated(rows *stats.Rows) {
	if n.saturated.of != "" {
		return
	}
	for _, i := range n.live.Places.List {
		if p := &rows.Places[i]; stats.PlaceTable.Saturated(p) || p.Dwell.Saturated() {
			n.saturated.of = fmt.Sprintf("place %q", n.union.def.Places[i].ID)
			return
		}
	}
	for _, i := range n.live.Transitions.List {
		if t := &rows.Transitions[i]; stats.TransitionTable.Saturated(t) || t.Duration.Saturated() {
			n.saturated.of = fmt.Sprintf("transition %q", n.union.def.Transitions[i].ID)
			return
		}
	}
	if stats.NetTable.Saturated(&rows.Net) {
		n.saturated.of = "instances"
		return
	}
	for i := range rows.Queues {
		if q := &rows.Queues[i]; stats.QueueTable.Saturated(q) {
			n.saturated.of = fmt.Sprintf("queue %d", q.Priority)
			return
		}
	}
}

// boundRows lowers every count to what a message may hold. It changes the rows
// themselves, and nothing that they share with other rows.
func boundRows(rows *stats.Rows) {
	for i := range rows.Places {
		p := &rows.Places[i]
		stats.PlaceTable.Each(p, bound)
		bound(&p.Dwell.Zero)
		p.Dwell.Buckets = boundEach(p.Dwell.Buckets, bucketCount)
		p.Ages.Slots = boundEach(p.Ages.Slots, func(s *stats.Slot) *uint64 { return &s.N })
	}
	for i := range rows.Transitions {
		t := &rows.Transitions[i]
		stats.TransitionTable.Each(t, bound)
		bound(&t.Duration.Zero)
		t.Duration.Buckets = boundEach(t.Duration.Buckets, bucketCount)
	}
	stats.NetTable.Each(&rows.Net, bound)
	bound(&rows.Waiting)
	rows.Blocks = boundEach(rows.Blocks, func(b *stats.Block) *uint64 { return &b.Instances })
	rows.Queues = slices.Clone(rows.Queues)
	for i := range rows.Queues {
		stats.QueueTable.Each(&rows.Queues[i], bound)
	}
}

// bound lowers a count to telemetry.MaxCount. A value beyond stats.MaxSum stands
// for a negative number.
func bound(v *uint64) {
	if tooLarge(*v) {
		*v = telemetry.MaxCount
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
