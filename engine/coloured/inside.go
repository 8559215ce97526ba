// SPDX-License-Identifier: Apache-2.0

package coloured

import "github.com/pnagent/pnagent/stats"

// Find offers the tokens of an instance in a place, including those in flight. name is the
// name of the instance, which is given by its index, and show returns what may be seen of
// the data of a token.
func (s *Shard) Find(place, i int, name string, show func(data []byte) string, into *stats.Search) {
	in := &s.instances[i]
	offer := func(at int64, n uint32, data []byte, spot spot, run int32) {
		into.Offer(stats.FoundToken{Token: stats.Token{Instance: name, Injected: at}, N: uint64(n)}, func() string { return show(s.view(in, spot, data)) },
			func() []stats.Wait { return s.waits(in, spot, run) })
	}
	for f := range s.each(in) {
		for k := range *f.in(in) {
			if p := &(*f.in(in))[k]; int(p.place) == place {
				for _, lot := range p.left() {
					offer(lot.injected, lot.n, lot.data, spot{p.place, f.id()}, none)
				}
			}
		}
	}
	for id := in.runs; id != none; id = s.notes.all[id].next {
		for _, t := range s.load(id).taken {
			if int(t.Place) == place {
				offer(t.Token.Injected, 1, t.Token.Data, t.at(), id)
			}
		}
	}
}

// Inside adds the content of an instance, given by its index: all its tokens,
// including those in flight, what each waits for, and what show returns of its data.
func (s *Shard) Inside(i int, show func(data []byte) string, into *stats.HeldList) {
	in := &s.instances[i]
	for f := range s.each(in) {
		for k := range *f.in(in) {
			p := &(*f.in(in))[k]
			waits := s.waits(in, spot{p.place, f.id()}, none)
			for _, lot := range p.left() {
				into.Add(stats.Held{Place: p.place, Tokens: uint64(lot.n), Injected: lot.injected, Waits: waits, Data: show(s.view(in, spot{p.place, f.id()}, lot.data))})
			}
		}
	}
	for id := in.runs; id != none; id = s.notes.all[id].next {
		for _, t := range s.load(id).taken {
			into.Add(stats.Held{Place: t.Place, Tokens: 1, Injected: t.Token.Injected, Waits: s.waits(in, t.at(), id), Data: show(s.view(in, t.at(), t.Token.Data))})
		}
	}
}
