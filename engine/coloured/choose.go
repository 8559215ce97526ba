// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"cmp"
	"math"
	"slices"

	"github.com/pnagent/pnagent/engine/internal/shard"
)

// candidate is a transition that may fire, in a frame. It takes the tokens from
// to to of Shard.picked, or the oldest if from is oldest. It is as small as it is
// because it is passed around for every firing.
type candidate struct {
	t        int32
	frame    uint32
	from, to int32
}

const oldest = -1

func (c candidate) picked() bool { return c.from != oldest }

// tokens returns the tokens that a candidate was picked with.
func (s *Shard) tokensOf(c candidate) []Placed {
	if !c.picked() {
		return nil
	}
	return s.picked[c.from:c.to]
}

// choose returns the immediate transition to fire, if one may fire. contested
// reports whether it was preferred to an enabled rival.
func (s *Shard) choose(i int, in *instance, now int64) (c candidate, contested, ok bool) {
	return s.chooseOf(i, in, &s.Immediate, now)
}

// chooseOf is choose among some transitions.
func (s *Shard) chooseOf(i int, in *instance, of *shard.Immediate, now int64) (c candidate, contested, ok bool) {
	s.found, s.picked = s.found[:0], s.picked[:0]
	for k := range in.piles {
		s.find(i, in, nil, of.Triggered[in.piles[k].place], now)
	}
	if s.frames != nil {
		s.findInside(i, in, of, now)
	}
	s.find(i, in, nil, of.Untriggered, now)
	switch {
	case len(s.found) == 0:
		return candidate{}, false, false
	case len(s.found) == 1:
		return s.found[0], false, true
	case s.Shuffle:
		slices.SortFunc(s.found, func(a, b candidate) int { return cmp.Compare(a.t, b.t) })
		s.random = s.begin(i, 0, uint64(in.played))
		return s.found[s.byChance()], false, true
	}
	first := s.firstInTurn(int32(in.turn))
	order := s.Order(i)
	if order == nil {
		return s.found[first], false, true
	}
	s.before = append(s.before[:0], order...)
	t := s.Tables.Choose(int(s.found[first].t), order, func(t int) bool { return s.foundAt(int32(t)) >= 0 })
	return s.found[s.foundAt(int32(t))], order[0] != s.before[0], true
}

// byChance returns an index in found, drawn by the weights.
func (s *Shard) byChance() int {
	if s.weights == nil {
		return s.random.Below(len(s.found))
	}
	sum := 0.0
	for _, c := range s.found {
		sum += s.weights[c.t]
	}
	left := sum * s.delays.Float64()
	for k, c := range s.found {
		left -= s.weights[c.t]
		if left < 0 {
			return k
		}
	}
	return len(s.found) - 1
}

// findInside adds the transitions that may fire in runs of scopes to found.
func (s *Shard) findInside(i int, in *instance, of *shard.Immediate, now int64) {
	for _, f := range s.frames[in.index].busy {
		for k := range f.piles {
			s.find(i, in, f, of.Triggered[f.piles[k].place], now)
		}
	}
}

// unchoose undoes the latest choice, because the transition could not fire.
func (s *Shard) unchoose(i int, contested bool) {
	if contested {
		copy(s.Order(i), s.before)
	}
}

// find adds the transitions that may fire in a frame to found, but none that
// is in found for an older frame. If one has a higher priority than those in
// found, it replaces them.
func (s *Shard) find(i int, in *instance, f *frame, transitions []int32, now int64) {
	for _, t := range transitions {
		rank := s.rules[t].rank
		if len(s.found) > 0 && rank > s.rules[s.found[0].t].rank || (f != nil || s.rules[t].join != nil) && s.foundAt(t) >= 0 {
			continue
		}
		c, ok := s.ready(i, in, f, int(t), now)
		if !ok {
			continue
		}
		if len(s.found) > 0 && rank < s.rules[s.found[0].t].rank {
			s.found = s.found[:0]
		}
		s.found = append(s.found, c)
	}
}

func (s *Shard) foundAt(t int32) int {
	for k := range s.found {
		if s.found[k].t == t {
			return k
		}
	}
	return -1
}

// soonest is the shortest time, in µs, after which a guard is asked again at
// its own request. With less, other instances would get no time.
const soonest = 1000

// ready reports whether a transition may fire in a frame without a call, and
// with which tokens. It remembers a rejection by the guard.
func (s *Shard) ready(i int, in *instance, f *frame, t int, now int64) (candidate, bool) {
	r := &s.rules[t]
	if r.single {
		if n, _ := f.in(in).count(r.conds[0].Place); n == 0 {
			return candidate{}, false
		}
	} else if !s.holds(in, f, t) {
		return candidate{}, false
	}
	if in.notes != none && s.blocked(in, f, t) || r.Action && in.running >= s.running {
		return candidate{}, false
	}
	if r.oldest {
		return candidate{t: int32(t), frame: f.id(), from: oldest}, true
	}
	c, v := s.pick(in, f, t, nil, nil, now)
	if v.panicked != nil {
		s.panicked(i, in, f, t, s.tokensOf(c), "guard failed", v.panicked, now)
		return candidate{}, false
	}
	if !v.OK {
		id := s.addNote(in, f, note{kind: noteNo, instance: int32(i), transition: uint16(t), ref: s.placeOrNone(v.WaitsFor), since: now})
		if v.Again > 0 {
			s.notes.plan(id, max(v.Again, now+soonest))
		}
	}
	return c, v.OK
}

// firstInTurn returns the index in found of the first transition from turn on,
// starting again at 0 after the last transition.
func (s *Shard) firstInTurn(turn int32) int {
	best, nearest := 0, int32(math.MaxInt32)
	for k := range s.found {
		d := s.found[k].t - turn
		if d < 0 {
			d += int32(len(s.rules))
		}
		if d < nearest {
			best, nearest = k, d
		}
	}
	return best
}
