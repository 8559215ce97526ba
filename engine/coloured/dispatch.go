// SPDX-License-Identifier: Apache-2.0

package coloured

import "github.com/pnagent/pnagent/engine/ready"

// Present returns the priorities that have ready instances: bit p is set for
// priority p.
func (s *Shard) Present() uint8 { return s.pool.Present() }

// ReadySince returns since when the first ready instance of a priority has been
// ready, if there is one.
func (s *Shard) ReadySince(p ready.Priority) (since int64, ok bool) { return s.pool.SinceOf(p) }

// Expire applies everything that is due at now. Step calls it; an owner of
// several shards calls it before it compares their ready instances.
func (s *Shard) Expire(now int64) {
	s.expire(now)
	s.Urge(now)
}

// StepOne plays one event: the first ready instance of a priority. It makes at
// most budget firings and starts of actions, and returns their number. It is
// for an owner of several shards that decides the turn itself, and does not use
// the shard's own discipline. See [ready.Turn].
func (s *Shard) StepOne(p ready.Priority, budget int, now int64) int {
	if budget < 1 {
		return 0
	}
	i, ok := s.pool.StartOf(p, now)
	if !ok {
		return 0
	}
	played := s.visit(i, min(budget, s.quota), now)
	s.pool.End(i, now)
	return played
}
