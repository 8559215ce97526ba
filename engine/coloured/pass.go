// SPDX-License-Identifier: Apache-2.0

package coloured

import "github.com/pnagent/pnagent/petri/split"

// putNew adds new tokens, to which a firing passes on data, to out.
func (x *change) putNew(at spot, n uint32, data []byte) {
	x.out = append(x.out, held{lot{data: x.keep(at, data), n: n}, at})
}

// passes returns the data that a firing in a frame passes on to new tokens: what an action or a call
// returned, if any, or what the tokens carry that were taken.
func (x *change) passes(f *frame, t int, returned []byte) []byte {
	r := &x.s.rules[t]
	if returned == nil && len(r.reach) > 0 {
		return x.passed(t)
	}
	if _, written := x.s.context(f, r); written {
		return x.s.carried(returned)
	}
	return returned
}

// carried returns what a token carries of data that an action or a call returned, whose variables
// are written already.
func (s *scopes) carried(data []byte) []byte {
	if s.shared && s.fields(data) != nil {
		return nil
	}
	return data
}

// passed returns the data for new tokens: that of the tokens that were taken.
func (x *change) passed(t int) []byte {
	x.datas = x.datas[:0]
	for k := range x.took {
		data := x.took[k].data
		if data == nil {
			continue
		}
		for range min(int(x.took[k].n), MaxTaken-len(x.datas)) {
			x.datas = append(x.datas, data)
		}
	}
	switch {
	case len(x.datas) == 0:
		return nil
	case len(x.datas) == 1 || x.s.merge == nil:
		return x.datas[0]
	}
	merged, ok := merge(x.s.merge, x.datas)
	if !ok {
		x.s.count(opFailed, x.i, t)
		return x.datas[0]
	}
	return merged
}

// merge calls a user's function, which may panic. ok reports whether a token
// can carry the result.
func merge(how func([][]byte) []byte, data [][]byte) (merged []byte, ok bool) {
	defer func() { _ = recover() }()
	merged = how(data)
	return merged, len(merged) <= MaxData
}

// cross moves the tokens for other parts out of out.
func (x *change) cross() {
	kept := x.out[:0]
	for _, h := range x.out {
		if x.s.Outside(int(h.place)) {
			x.s.done.Crossings = append(x.s.done.Crossings, split.Crossing{Instance: x.s.Number(x.i), Place: h.place, Tokens: h.n, Data: h.data})
		} else {
			kept = append(kept, h)
		}
	}
	x.out = kept
}
