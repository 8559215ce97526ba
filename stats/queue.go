// SPDX-License-Identifier: Apache-2.0

package stats

// Priorities is how many priorities there are, from 0, the lowest.
const Priorities = 8

// Queue is the row of one priority of a dispatcher. An instance is ready if it can
// do something and waits for its turn. A row does not name the dispatcher's
// discipline, because sources that are added up may have different ones.
type Queue struct {
	Ready         uint64 // instances ready and not yet served, now
	Served        uint64 // events: firings, or pieces of work; cumulative
	QuoteSwitches uint64 // turns that ended because the quote was used up, cumulative
	OldestSince   int64  // since when the longest waiting instance is ready; 0 if none is
	UnservedSince int64  // since when nothing is served: the later of the last service and the last time it became non-empty; 0 if none is ready
	Priority      uint8
}

// Merge adds o, which has the same priority, to q.
func (q *Queue) Merge(o *Queue) { QueueTable.merge(q, o) }

// MergeQueues adds two lists that are each sorted by priority. It may reuse
// a's memory, never b's.
func MergeQueues(a, b []Queue) []Queue {
	if len(b) == 0 {
		return a
	}
	return mergeSorted(make([]Queue, 0, min(len(a)+len(b), Priorities)), a, b,
		func(a, b *Queue) int { return int(a.Priority) - int(b.Priority) }, (*Queue).Merge)
}

// mergeSorted appends the sum of two sorted lists to out. It calls add for two
// elements that compare returns 0 for.
func mergeSorted[T any](out, a, b []T, compare func(a, b *T) int, add func(sum, b *T)) []T {
	for len(a) > 0 && len(b) > 0 {
		switch c := compare(&a[0], &b[0]); {
		case c < 0:
			out, a = append(out, a[0]), a[1:]
		case c > 0:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a = append(out, a[0]), a[1:]
			add(&out[len(out)-1], &b[0])
			b = b[1:]
		}
	}
	return append(append(out, a...), b...)
}
