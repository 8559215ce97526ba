// SPDX-License-Identifier: Apache-2.0

package coloured

// passing is the data that a firing passes on to new tokens.
type passing struct {
	t          int
	data       []byte // that an action or a call returned; nil for none
	written    bool   // the variables in data are
	made, seen bool   // carried is determined; shown is
	carried    []byte // by the tokens that were taken
	shown      []byte // by them, for a place of a shared net whose tokens have data of their own
}

// putNew adds new tokens, to which a firing passes on data, to out.
func (s *Shard) putNew(i int, in *instance, at spot, n uint32, p *passing) {
	s.out = append(s.out, held{lot{data: s.passedTo(i, in, at, p), n: n}, at})
}

// passedTo returns the data that new tokens of a spot carry.
func (s *Shard) passedTo(i int, in *instance, at spot, p *passing) []byte {
	own := s.shared && s.ownData(at.place)
	switch {
	case p.data != nil && s.shared && !own && !p.written:
		return s.keep(in, at, p.data)
	case p.data != nil:
		return s.carried(at.place, p.data)
	case own:
		if !p.seen {
			p.shown, p.seen = s.passed(i, in, p.t, true), true
		}
		return p.shown
	}
	if !p.made {
		p.carried, p.made = s.passed(i, in, p.t, false), true
	}
	return s.keep(in, at, p.carried)
}

// carried returns what a token of a place carries of data that an action or a call returned, whose
// variables are written already.
func (s *Shard) carried(place int32, data []byte) []byte {
	if s.shared && !s.ownData(place) && s.fields(data) != nil {
		return nil
	}
	return data
}

// passed returns the data for new tokens: that of the tokens that were taken, or that which they
// show.
func (s *Shard) passed(i int, in *instance, t int, shown bool) []byte {
	s.datas = s.datas[:0]
	for k := range s.took {
		data := s.took[k].data
		if shown {
			data = s.view(in, s.took[k].spot, data)
		}
		if data == nil {
			continue
		}
		for range min(int(s.took[k].n), MaxTaken-len(s.datas)) {
			s.datas = append(s.datas, data)
		}
	}
	switch {
	case len(s.datas) == 0:
		return nil
	case len(s.datas) == 1 || s.merge == nil:
		return s.datas[0]
	}
	merged, ok := merge(s.merge, s.datas)
	if !ok {
		s.count(opFailed, i, t)
		return s.datas[0]
	}
	return merged
}

// merge calls a user's function, which may panic. ok reports whether a token
// can carry the result.
func merge(how func([][]byte) []byte, data [][]byte) (merged []byte, ok bool) {
	defer func() {
		if why := recover(); why != nil {
			merged, ok = nil, false
		}
	}()
	merged = how(data)
	return merged, len(merged) <= MaxData
}
