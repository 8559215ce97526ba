// SPDX-License-Identifier: Apache-2.0

package plain

import "github.com/pnagent/pnagent/engine/internal/shard"

// Urge fires the urgent transitions, see petri.Urgent, that are enabled in the
// instances that have changed since the last call: until none is enabled, at
// most 1024 in each instance. The owner calls it after each call that changes
// tokens and after Step, so that nothing else happens in an instance before. It
// returns the number of firings.
func (s *Shard) Urge(now int64) (fired int) {
	for _, i := range s.Stirred {
		fired += s.urge(int(i), now)
	}
	s.Stirred = s.Stirred[:0]
	return fired
}

func (s *Shard) urge(i int, now int64) (n int) {
	c := &s.cells[i]
	for n < shard.MaxUrgent && c.flags&failed == 0 && s.urgent(c) && s.fireOrFail(i, c, s.next(i, c), now) {
		n++
	}
	return n
}

// urgent reports whether an urgent transition is enabled that fires by itself.
func (s *Shard) urgent(c *cell) bool {
	if c.n == isWide {
		t := s.wideOf(c).state.Next(int(c.turn), nil)
		return t >= 0 && s.Tables.Urgent(t)
	}
	enabled := s.enabledNarrow(c)
	return len(enabled) > 0 && s.Tables.Urgent(int(enabled[0]))
}
