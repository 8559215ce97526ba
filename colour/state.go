// SPDX-License-Identifier: Apache-2.0

package colour

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/pnagent/pnagent/game"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// AppendState appends the instances that have moved since they were created:
// for each its number plus one, its turn, its firings, the last identity, the
// stamps of its order; how many clocks it has, and for each the transition and
// when it started; how many places hold tokens, and for each its index and how
// many lots, and for each lot the first identity, the injection time, the
// tokens and their data; then a zero. Instances that never moved are left out:
// LoadState finds them as New made them. Tokens in flight are where they came
// from.
func (s *Shard) AppendState(dst []byte) []byte {
	for i := range s.instances {
		in := &s.instances[i]
		if !in.has(everMoved) {
			continue
		}
		dst = binary.AppendUvarint(dst, uint64(s.Number(i))+1)
		dst = binary.AppendUvarint(dst, uint64(in.turn))
		dst = binary.AppendUvarint(dst, uint64(in.played))
		dst = binary.AppendUvarint(dst, in.lastID)
		for _, stamp := range s.order(i) {
			dst = binary.AppendUvarint(dst, uint64(stamp))
		}
		dst = s.appendClocks(dst, in)
		dst = s.appendTokens(dst, i, in)
	}
	return binary.AppendUvarint(dst, 0)
}

// appendClocks appends the clocks of an instance, the latest first.
func (s *Shard) appendClocks(dst []byte, in *instance) []byte {
	n := uint64(0)
	for id := in.notes; id != none; id = s.notes.all[id].next {
		if s.isDelay(id) {
			n++
		}
	}
	dst = binary.AppendUvarint(dst, n)
	for id := in.notes; id != none; id = s.notes.all[id].next {
		if s.isDelay(id) {
			dst = binary.AppendUvarint(dst, uint64(s.notes.all[id].transition))
			dst = binary.AppendUvarint(dst, uint64(s.notes.all[id].since))
		}
	}
	return dst
}

func (s *Shard) isDelay(id int32) bool {
	n := &s.notes.all[id]
	return n.kind == noteClock && s.rules[n.transition].Mode.Kind == game.Delayed
}

func (s *Shard) appendTokens(dst []byte, i int, in *instance) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(in.piles)))
	for k := range in.piles {
		lots := joined(s.standing(i, &in.piles[k]))
		dst = binary.AppendUvarint(dst, uint64(in.piles[k].place))
		dst = binary.AppendUvarint(dst, uint64(len(lots)))
		for _, l := range lots {
			dst = binary.AppendUvarint(dst, l.id)
			dst = binary.AppendUvarint(dst, uint64(l.injected))
			dst = binary.AppendUvarint(dst, uint64(l.n))
			dst = appendData(dst, l.data)
		}
	}
	return dst
}

// joined returns the tokens of a place in as few lots as can be, so that the
// same tokens are always the same bytes.
func joined(lots []lot) []lot {
	out := make([]lot, 0, len(lots))
	for _, l := range lots {
		if k := len(out) - 1; k >= 0 && out[k].id+uint64(out[k].n) == l.id && out[k].injected == l.injected &&
			(out[k].data == nil) == (l.data == nil) && bytes.Equal(out[k].data, l.data) {
			out[k].n += l.n
			continue
		}
		out = append(out, l)
	}
	return out
}

// LoadState puts instances into the state that AppendState wrote, and returns
// what follows it. Instances that the shard does not hold are passed over. The
// shard has not been played yet. Call [Shard.Restart] when all is replayed.
func (s *Shard) LoadState(src []byte) (rest []byte, err error) {
	for r := (&reader{left: src}); ; {
		number := r.next(math.MaxInt64)
		if r.err == nil && number == 0 {
			return r.left, nil
		}
		i, err := s.Index(int(number) - 1)
		if err != nil {
			i = -1
		}
		if s.loadInstance(r, i); r.err != nil {
			return nil, r.err
		}
	}
}

// maxTime bounds the times that are read, far from overflow.
const maxTime = 1 << 61

// loadInstance reads an instance; -1 is one that is not ours.
func (s *Shard) loadInstance(r *reader, i int) {
	in := &instance{notes: none, runs: none}
	in.turn = uint16(r.index(max(len(s.rules), 1)))
	in.played, in.lastID = uint32(r.next(math.MaxUint32)), r.next(maxID)
	order := make(petri.Order, s.orderLen())
	for k := range order {
		if order[k] = uint16(r.next(math.MaxUint16)); order[k] > order[0] {
			r.fail("a choice later than the latest")
		}
	}
	var clocks []note
	for range r.next(uint64(len(r.left))) {
		n := note{kind: noteClock, instance: int32(i), transition: uint16(r.index(len(s.rules))), since: int64(r.next(maxTime))}
		if r.err != nil {
			return
		}
		if s.rules[n.transition].Mode.Kind != game.Delayed || s.elsewhere(int(n.transition)) {
			r.fail("a clock of transition %d, which has no delay", n.transition)
		}
		clocks = append(clocks, n)
	}
	s.loadTokens(r, in)
	if r.err != nil || i < 0 {
		return
	}
	in.move()
	s.forgetAll(&s.instances[i])
	s.instances[i] = *in
	copy(s.order(i), order)
	in = &s.instances[i]
	for k := len(clocks) - 1; k >= 0; k-- { // the latest is the first again
		if s.clock(in, int(clocks[k].transition)) == none {
			s.notes.add(&in.notes, clocks[k])
		}
	}
}

// forgetAll drops everything that is remembered of an instance.
func (s *Shard) forgetAll(in *instance) {
	for in.notes != none {
		s.notes.remove(&in.notes, in.notes)
	}
	for in.runs != none {
		s.drop(in, in.runs)
	}
	s.stir(in)
}

func (s *Shard) orderLen() int {
	if s.shuffle {
		return 0
	}
	return s.tables.OrderLen()
}

func (s *Shard) loadTokens(r *reader, in *instance) {
	last := -1
	for range r.next(uint64(len(r.left))) {
		p := pile{place: int32(r.index(s.tables.Places()))}
		if int(p.place) <= last {
			r.fail("place %d after place %d", p.place, last)
		}
		if s.outside(p.place) {
			r.fail("place %q: %w", s.tables.Net.Places[p.place].ID, game.ErrElsewhere)
			return
		}
		last = int(p.place)
		for range r.next(uint64(len(r.left))) {
			l := lot{id: r.next(maxID), injected: int64(r.next(maxTime)), n: uint32(r.next(math.MaxUint32))}
			l.data = r.data(nil)
			if l.id == 0 || l.n == 0 || l.n > math.MaxUint32-p.n || in.lastID < l.id || in.lastID-l.id < uint64(l.n)-1 {
				r.fail("%d tokens from %d on, where the last is %d", l.n, l.id, in.lastID)
			}
			if r.err != nil {
				return
			}
			p.add(l)
		}
		if r.err != nil {
			return
		}
		if p.n > 0 {
			in.piles = append(in.piles, p)
		}
	}
}

// Restart begins to count anew, after LoadState and Replay: what they did was
// counted by the process that did it first. All instances are looked at again.
func (s *Shard) Restart(now int64) {
	s.rec = stats.NewRecorder(s.tables.Places(), s.tables.Transitions())
	s.rec.Net.Created = uint64(len(s.instances))
	for i := range s.instances {
		if s.pool.Waiting(s.channels[i]) == 0 {
			s.wake(i, now)
		}
	}
}
