// SPDX-License-Identifier: Apache-2.0

package merge

import "github.com/pnagent/pnagent/stats"

// keepPositive sets the counters of rows that are negative, in two's complement, to 0, and reports
// whether there were any. It changes no memory that others share with the rows' histograms.
func keepPositive(rows *stats.Rows) (negative bool) {
	positive := func(n *uint64) {
		if *n > stats.MaxSum {
			*n, negative = 0, true
		}
	}
	histogram := func(h *stats.Histogram) {
		positive(&h.Zero)
		positive(&h.Sum)
		kept := make([]stats.Bucket, 0, len(h.Buckets))
		for _, b := range h.Buckets {
			positive(&b.N)
			if b.N != 0 {
				kept = append(kept, b)
			}
		}
		h.Buckets = kept
	}
	stats.NetTable.Each(&rows.Net, positive)
	for i := range rows.Places {
		stats.PlaceTable.Each(&rows.Places[i], positive)
		histogram(&rows.Places[i].Dwell)
	}
	for i := range rows.Transitions {
		stats.TransitionTable.Each(&rows.Transitions[i], positive)
		histogram(&rows.Transitions[i].Duration)
	}
	queues := make([]stats.Queue, len(rows.Queues))
	copy(queues, rows.Queues)
	for i := range queues {
		stats.QueueTable.Each(&queues[i], positive)
	}
	rows.Queues = queues
	return negative
}
