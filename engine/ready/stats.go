// SPDX-License-Identifier: Apache-2.0

package ready

// Stats holds the counters at one moment. It holds times, not ages: readers
// compute ages. Counters only grow.
type Stats struct {
	Policy     Policy
	Priorities [Priorities]PriorityStats
}

// PriorityStats is the row of one priority.
type PriorityStats struct {
	Length        int    // ready and not yet served
	OldestSince   int64  // since when the first in the list is ready; 0 if the list is empty
	UnservedSince int64  // since when events are ready and none is served: the last was served, or the list became non-empty, if that is later; 0 if empty
	Served        uint64 // events served
	QuoteSwitches uint64 // turns that ended because the quote was used up
}
