// SPDX-License-Identifier: Apache-2.0

package plain

import "github.com/pnagent/pnagent/stats"

// Inside adds the content of an instance, given by its index: all its tokens,
// and what each waits for.
func (s *Shard) Inside(i int, into *stats.HeldList) {
	c := &s.cells[i]
	if c.n != isWide {
		for k, p := range c.places[:c.n&7] {
			into.Add(stats.Held{Place: int32(p), Tokens: 1, Injected: c.times[k], Waits: s.waits(i, int(p))})
		}
		return
	}
	for p, q := range s.wideOf(c).queues {
		var waits []stats.Wait
		for k, r := range q.left() {
			if k == 0 {
				waits = s.waits(i, p)
			}
			into.Add(stats.Held{Place: int32(p), Tokens: uint64(r.n), Injected: r.time, Waits: waits})
		}
	}
}
