// SPDX-License-Identifier: Apache-2.0

package coloured

import "github.com/pnagent/pnagent/engine/internal/shard"

// begin returns the random stream of one decision of an instance. Its seed
// depends only on the instance and on a and b, so no generator has to be kept.
func (s *Shard) begin(i int, a, b uint64) shard.Stream {
	return shard.NewStream(s.seed, uint64(s.Number(i)), a, b)
}

// dueOf returns when a transition is due in a frame, where its clock started at
// since. It draws the delay.
func (s *Shard) dueOf(i int, f *frame, t int, since int64) int64 {
	r := &s.rules[t]
	if r.Due != nil {
		return r.Due(since)
	}
	s.random = s.begin(i, uint64(t)+1+uint64(f.id())<<16, uint64(since))
	return since + r.Mode.Delay.Draw(s.delays)
}
