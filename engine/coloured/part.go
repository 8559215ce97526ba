// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"github.com/pnagent/pnagent/petri/split"
)

// cross moves the tokens for other parts out of s.out.
func (s *Shard) cross(i int) {
	kept := s.out[:0]
	for _, h := range s.out {
		if s.Outside(int(h.place)) {
			s.done.Crossings = append(s.done.Crossings, split.Crossing{Instance: s.Number(i), Place: h.place, Tokens: h.n, Data: h.data})
		} else {
			kept = append(kept, h)
		}
	}
	s.out = kept
}
