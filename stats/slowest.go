// SPDX-License-Identifier: Apache-2.0

package stats

import "cmp"

// Slowest is who took longest, since the last snapshot of a source or in the
// last minutes of a View: the one example that stands for a histogram of many.
// The zero Slowest is nobody.
type Slowest struct {
	Instance string
	Micros   int64 // how long it took
	At       int64 // when it was over; 0 for nobody
}

// Merge keeps the slower of the two; of two that took equally long the later,
// then the one whose name is greater. So it is commutative, associative and
// idempotent: it does no harm if the same one is told again.
func (s *Slowest) Merge(o Slowest) {
	if s.Compare(&o) < 0 {
		*s = o
	}
}

// Compare orders by how long it took, then by when it was over and by the
// instance's name. Nobody comes first.
func (s *Slowest) Compare(o *Slowest) int {
	return cmp.Or(cmp.Compare(s.Micros, o.Micros), cmp.Compare(s.At, o.At), cmp.Compare(s.Instance, o.Instance))
}
