// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"cmp"
	"context"
	"slices"

	"github.com/pnagent/pnagent/telemetry"
)

// Standing are the tokens that one poll found in a place.
type Standing struct {
	Net    string `json:"net"`
	Place  string `json:"place"`
	Tokens int    `json:"tokens"`
	At     int64  `json:"at"`     // of the poll, as all times here in microseconds since the Unix epoch
	Oldest []Seen `json:"oldest"` // oldest first
}

// Seen is one of the oldest tokens of a place.
type Seen struct {
	Instance string `json:"instance"`
	telemetry.InstanceToken
}

// Look polls once, and returns the places that have tokens, by net, with at most some of the oldest
// tokens of each. It publishes nothing.
func (s *Source) Look(ctx context.Context, most int) ([]Standing, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	if err := s.cfg.Poll(ctx); err != nil {
		return nil, err
	}
	now := s.Now() - s.ahead
	var all []Standing
	for _, l := range s.ledgers {
		p := l.publish(now, s.ahead)
		oldest := slices.Clone(p.tokens)
		slices.SortFunc(oldest, func(a, b Token) int { return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.ID, b.ID)) })
		by := make([]Standing, len(p.def.Places))
		for i := range oldest {
			t := &oldest[i]
			at := &by[t.Place]
			at.Tokens = int(p.rows.Places[t.Place].Tokens)
			if len(at.Oldest) < most {
				at.Oldest = append(at.Oldest, Seen{t.Name(), p.token(t, s.cfg.Command)})
			}
		}
		for i, at := range by {
			if at.Tokens > 0 {
				at.Net, at.Place, at.At = p.def.ID, p.def.Places[i].ID, now
				all = append(all, at)
			}
		}
	}
	return all, nil
}
