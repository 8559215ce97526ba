// SPDX-License-Identifier: Apache-2.0

package plain

import "github.com/pnagent/pnagent/stats"

// Find offers the tokens of an instance in a place, without data. name is the name of the
// instance, which is given by its index.
func (s *Shard) Find(place, i int, name string, _ func(data []byte) string, into *stats.Search) {
	c := &s.cells[i]
	offer := func(at int64, n uint32) {
		into.Offer(stats.FoundToken{Token: stats.Token{Instance: name, Injected: at}, N: uint64(n)}, nil, func() []stats.Wait { return s.waits(i, place) })
	}
	if c.n == isWide {
		for _, r := range s.wideOf(c).queues[place].left() {
			offer(r.time, r.n)
		}
		return
	}
	for k, p := range c.places[:c.n&7] {
		if int(p) == place {
			offer(c.times[k], 1)
		}
	}
}

// Inside adds the content of an instance, given by its index: all its tokens,
// and what each waits for. They have no data.
func (s *Shard) Inside(i int, _ func(data []byte) string, into *stats.HeldList) {
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
