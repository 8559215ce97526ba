// SPDX-License-Identifier: Apache-2.0

package coloured

import "github.com/pnagent/pnagent/engine/internal/shard"

// begin returns the stream of one decision of an instance. Each begins one of its
// own, from what it depends on, so that nothing has to be kept.
func (s *Shard) begin(i int, a, b uint64) shard.Stream {
	return shard.NewStream(s.seed, uint64(s.Number(i)), a, b)
}

// delay draws how long a clock of a transition runs that started at a time.
func (s *Shard) dueOf(i, t int, since int64) int64 {
	r := &s.rules[t]
	if r.Due != nil {
		return r.Due(since)
	}
	s.random = s.begin(i, uint64(t)+1, uint64(since))
	return since + r.Mode.Delay.Draw(s.delays)
}
