// SPDX-License-Identifier: Apache-2.0

package stats

import "cmp"

// Slowest is the instance that took longest since the last snapshot of a source,
// or in the last minutes of a View: one example for a histogram of many. The zero
// Slowest is no instance.
type Slowest struct {
	Instance string
	Micros   int64 // how long it took
	At       int64 // when it ended; 0 for no instance
}

// Merge keeps the slower of the two. Of two that took equally long it keeps the
// later one, then the one with the greater name. So Merge is commutative,
// associative and idempotent, and a repeated instance changes nothing.
func (s *Slowest) Merge(o Slowest) {
	if s.Compare(&o) < 0 {
		*s = o
	}
}

// Compare orders by duration, then by end and by the instance's name. The zero
// Slowest comes first.
func (s *Slowest) Compare(o *Slowest) int {
	return cmp.Or(cmp.Compare(s.Micros, o.Micros), cmp.Compare(s.At, o.At), cmp.Compare(s.Instance, o.Instance))
}
