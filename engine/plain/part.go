// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/split"
)

// divide divides the effects of a firing into those on the places of a part and
// the tokens that it puts into other parts.
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

// cross collects the tokens that a firing puts into other parts.
func (s *Shard) cross(i int, crosses []petri.Effect) {
	for _, e := range crosses {
		s.crossings = append(s.crossings, split.Crossing{Instance: s.Number(i), Place: e.Place, Tokens: e.Put})
	}
}
