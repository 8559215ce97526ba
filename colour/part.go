// SPDX-License-Identifier: Apache-2.0

package colour

import (
	"github.com/pnagent/pnagent/petri/split"
	"github.com/pnagent/pnagent/stats"
)

// TakeCrossings returns the tokens that firings since the last call put into
// places of other parts, with their data, in order. They have left the shard,
// and their identities with it; they are for the owner to hand on: Inject takes
// them in where their place is. The slice is good until the next call that
// plays.
func (s *Shard) TakeCrossings() []split.Crossing {
	out := s.crossings
	s.crossings = s.crossings[:0]
	return out
}

// elsewhere reports whether a transition is of another part.
func (s *Shard) elsewhere(t int) bool { return s.part != nil && !s.part.Transitions[t] }

// outside reports whether a place is of another part.
func (s *Shard) outside(place int32) bool { return s.part != nil && !s.part.Places[place] }

// cross takes what goes to other parts out of s.out.
func (s *Shard) cross(i int) {
	kept := s.out[:0]
	for _, h := range s.out {
		if s.outside(h.place) {
			s.crossings = append(s.crossings, split.Crossing{Instance: s.Number(i), Place: h.place, Tokens: h.n, Data: h.data})
		} else {
			kept = append(kept, h)
		}
	}
	s.out = kept
}

// addCounts adds what was counted along to rows. What becomes of an instance is
// not seen in one part of several, and not counted there.
func (s *Shard) addCounts(rows *stats.Rows) {
	net := rows.Net
	s.rec.AddTo(rows)
	if s.part != nil {
		rows.Net = net
	}
}
