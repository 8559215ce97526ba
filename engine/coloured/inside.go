// SPDX-License-Identifier: Apache-2.0

package coloured

import "github.com/pnagent/pnagent/stats"

// Inside adds the content of an instance, given by its index: all its tokens,
// including those in flight, and what each waits for.
func (s *Shard) Inside(i int, into *stats.HeldList) {
	in := &s.instances[i]
	for f := range s.each(in) {
		for k := range *f.in(in) {
			p := &(*f.in(in))[k]
			waits := s.waits(in, spot{p.place, f.id()}, none)
			for _, lot := range p.left() {
				into.Add(stats.Held{Place: p.place, Tokens: uint64(lot.n), Injected: lot.injected, Waits: waits})
			}
		}
	}
	for id := in.runs; id != none; id = s.notes.all[id].next {
		for _, t := range s.load(id).taken {
			into.Add(stats.Held{Place: t.Place, Tokens: 1, Injected: t.Token.Injected, Waits: s.waits(in, t.at(), id)})
		}
	}
}
