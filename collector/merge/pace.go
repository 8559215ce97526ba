// SPDX-License-Identifier: Apache-2.0

package merge

import "time"

// paceHeard is how long after a Pace a message may still have been sent before it, in
// microseconds.
const paceHeard = int64(10 * time.Second / time.Microsecond)

// Slow records that sources were asked for an interval. The message in which a source states
// that it follows may be lost, so until a later one states otherwise each source may be
// silent as if it did.
func (m *Merger) Slow(interval time.Duration, now int64) {
	longer := interval.Microseconds() > m.pace
	m.pace = interval.Microseconds()
	if !longer {
		return
	}
	m.paceAt = now
	for _, n := range m.nets {
		for _, s := range n.contributors() {
			m.bear(s)
		}
	}
}

// bear lets a source be silent for as long as one that follows the Pace.
func (m *Merger) bear(s *source) {
	s.patience = max(s.patience, min(patienceOf(m.pace), m.forgetAfter))
}
