// SPDX-License-Identifier: Apache-2.0

package coloured

import "github.com/pnagent/pnagent/petri/split"

// passing is the data that a firing passes on to new tokens.
type passing struct {
	t       int
	data    []byte // that an action or a call returned; nil for none
	written bool   // the variables in data are
	made    bool   // carried is determined
	carried []byte // by the tokens that were taken
}

// putNew adds new tokens, to which a firing passes on data, to out.
func (x *change) putNew(at spot, n uint32, p *passing) {
	x.out = append(x.out, held{lot{data: x.passedTo(at, p), n: n}, at})
}

// passedTo returns the data that new tokens of a spot carry.
func (x *change) passedTo(at spot, p *passing) []byte {
	switch {
	case p.data != nil && x.s.shared && !p.written:
		return x.keep(at, p.data)
	case p.data != nil:
		return x.s.carried(p.data)
	}
	if !p.made {
		p.carried, p.made = x.passed(p.t), true
	}
	return x.keep(at, p.carried)
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
