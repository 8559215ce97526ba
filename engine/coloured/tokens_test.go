// SPDX-License-Identifier: Apache-2.0

package coloured

// Tokens returns the tokens of an instance, at most a given number, by place and
// oldest first, including those in flight.
func (s *Shard) Tokens(i, most int) []Placed {
	var out []Placed
	for k := range s.instances[i].piles {
		for _, l := range s.standing(i, &s.instances[i].piles[k]) {
			for j := range l.n {
				if len(out) >= most {
					return out
				}
				tok := l.token()
				tok.ID += uint64(j)
				out = append(out, Placed{Place: s.instances[i].piles[k].place, Token: tok})
			}
		}
	}
	return out
}
