// SPDX-License-Identifier: Apache-2.0

package game

import (
	"errors"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/split"
	"github.com/pnagent/pnagent/stats"
)

// ErrElsewhere is returned for a place or a transition of another part.
var ErrElsewhere = errors.New("it belongs to another part of the net")

// TakeCrossings returns the tokens that firings since the last call put into
// places of other parts, in order. They have left the shard, and are for the
// owner to hand on: Inject takes them in where their place is. The slice is good
// until the next Step, StepOne or Fire.
func (s *Shard) TakeCrossings() []split.Crossing {
	out := s.crossings
	s.crossings = s.crossings[:0]
	return out
}

// elsewhere reports whether a transition is of another part.
func (s *Shard) elsewhere(t int) bool { return s.part != nil && !s.part.Transitions[t] }

// outside reports whether a place is of another part.
func (s *Shard) outside(place int) bool { return s.part != nil && !s.part.Places[place] }

// divide returns what a firing does to the places of a part, and what it puts
// into others.
func divide(effects []petri.Effect, part *split.Part) (own, crosses []petri.Effect) {
	for _, e := range effects {
		if part.Places[e.Place] {
			own = append(own, e)
		} else {
			crosses = append(crosses, e)
		}
	}
	return own, crosses
}

// cross gathers what a firing puts into other parts.
func (s *Shard) cross(i int, crosses []petri.Effect) {
	for _, e := range crosses {
		s.crossings = append(s.crossings, split.Crossing{Instance: s.Number(i), Place: e.Place, Tokens: e.Put})
	}
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
