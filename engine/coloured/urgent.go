// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"slices"

	"github.com/pnagent/pnagent/engine/internal/shard"
)

// Urge fires the urgent transitions, see petri.Urgent, that are enabled in the
// instances that have changed since the last call: until none is enabled, at
// most 1024 in each instance. An instance that throws an event continues with
// the call after its delivery. The owner calls Urge after each call that
// changes tokens, so that nothing else happens in an instance before. It
// returns the number of firings and starts of actions.
func (s *Shard) Urge(now int64) (played int) {
	left := s.Stirred[:0]
	for _, i := range s.Stirred {
		played += s.urge(int(i), now)
		if s.done.threw(int(i)) && !slices.Contains(left, i) {
			left = append(left, i)
		}
	}
	s.Stirred = left
	return played
}

func (s *Shard) urge(i int, now int64) (n int) {
	x := s.at(i, now)
	for n < shard.MaxUrgent && !s.done.threw(i) {
		c, contested, ok := x.choose(s.Urgent)
		if !ok {
			return n
		}
		if x.perform(c, contested) {
			n++
		}
	}
	return n
}
