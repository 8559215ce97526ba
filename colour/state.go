// SPDX-License-Identifier: Apache-2.0

package colour

import (
	"bytes"
	"encoding/binary"
	"math"
	"sort"

	"github.com/pnagent/pnagent/game"
	"github.com/pnagent/pnagent/petri"
)

// What a state says an instance is at rest as, and that the entry is of a row of
// instances that have ended, or of a run.
const (
	stateFinished = 1 + iota
	stateDeadlocked
	stateFailed
	stateEnded
	stateRun
	stateBeyond
)

// AppendState appends the instances that have moved since they were created:
// for each its number plus one, its turn and what it is at rest as, its firings,
// the last identity, the
// stamps of its order; how many clocks it has, and for each the transition and
// when it started; how many places hold tokens, and for each its index and how
// many lots, and for each lot the first identity, the injection time, the
// tokens and their data; then the runs that go on, if Config.Runs is set; then a
// zero. Tokens in flight are where they came from.
//
// An instance without tokens and clocks is not kept. If it has finished it is in
// a row of such ones, of which there is only the first number plus one, how far
// it is from one to the next, and how many follow it. Else it is left out if the
// initial marking is empty: LoadState finds it as New made it. Its turn, its
// identities and its chance begin anew. Instances that never moved are left out,
// too; one that is back at an initial marking with tokens is kept, because they
// have other ages.
func (s *Shard) AppendState(dst []byte) []byte {
	dst = s.appendEnded(dst)
	for i := range s.instances {
		in := &s.instances[i]
		if !in.has(everMoved) || s.spent(in) {
			continue
		}
		dst = binary.AppendUvarint(dst, uint64(s.Number(i))+1)
		dst = binary.AppendUvarint(dst, uint64(in.turn)+in.state()*s.turns())
		dst = binary.AppendUvarint(dst, uint64(in.played))
		dst = binary.AppendUvarint(dst, in.lastID)
		for _, stamp := range s.order(i) {
			dst = binary.AppendUvarint(dst, uint64(stamp))
		}
		dst = s.appendClocks(dst, in)
		dst = s.appendTokens(dst, i, in)
	}
	return binary.AppendUvarint(s.appendRuns(dst), 0)
}

// turns is how many turns there can be.
func (s *Shard) turns() uint64 { return uint64(max(len(s.rules), 1)) }

func (in *instance) state() uint64 {
	switch {
	case in.has(finished):
		return stateFinished
	case in.has(deadlocked):
		return stateDeadlocked
	case in.has(failed):
		return stateFailed
	}
	return 0
}

// spent reports whether an instance that has moved need not be kept.
func (s *Shard) spent(in *instance) bool {
	if len(in.piles) > 0 || in.runs != none {
		return false
	}
	for id := in.notes; id != none; id = s.notes.all[id].next {
		if s.isDelay(id) {
			return false
		}
	}
	return in.has(finished) || !in.has(atRest) && s.barren && (s.part != nil || s.openEnded || !in.has(moved))
}

// appendEnded appends the rows of instances that have finished and are spent.
func (s *Shard) appendEnded(dst []byte) []byte {
	first, step, more := -1, 0, 0
	flush := func() {
		if first >= 0 {
			dst = binary.AppendUvarint(dst, uint64(first)+1)
			dst = binary.AppendUvarint(dst, stateEnded*s.turns())
			dst = binary.AppendUvarint(dst, uint64(max(step, 1)))
			dst = binary.AppendUvarint(dst, uint64(more))
		}
	}
	for i := range s.instances {
		if in := &s.instances[i]; !in.has(finished) || !s.spent(in) {
			continue
		}
		switch n := s.Number(i); {
		case first >= 0 && more == 0:
			step, more = n-first, 1
		case first >= 0 && n == first+step*(more+1):
			more++
		default:
			flush()
			first, step, more = n, 0, 0
		}
	}
	flush()
	return dst
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
// what follows it. Instances that the shard does not hold are passed over. Those
// at rest are counted as having come to rest once, and nothing else: Recount, if
// what was counted is known. The
// shard has not been played yet. Call [Shard.Resume] when all is replayed.
func (s *Shard) LoadState(src []byte) (rest []byte, err error) {
	ended := -1 // the last instance of the rows so far
	for r := (&reader{left: src}); ; {
		number := r.next(math.MaxInt64)
		if r.err == nil && number == 0 {
			return r.left, nil
		}
		i, err := s.Index(int(number) - 1)
		if err != nil {
			i = -1
		}
		head := r.next(stateBeyond*s.turns() - 1)
		switch state := head / s.turns(); state {
		case stateEnded:
			s.loadEnded(r, int(number)-1, &ended)
		case stateRun:
			s.loadRun(r, i)
		default:
			s.loadInstance(r, i, uint16(head%s.turns()), state)
		}
		if r.err != nil {
			return nil, r.err
		}
	}
}

// loadEnded reads the rest of a row that begins with an instance. Rows follow
// each other, so that reading them costs no more than there are instances.
func (s *Shard) loadEnded(r *reader, first int, ended *int) {
	step, more := r.next(math.MaxInt64), r.next(math.MaxInt64)
	if step == 0 || first <= *ended || more > uint64(math.MaxInt64-first)/step {
		r.fail("%d instances each %d after %d, which follows %d", more, step, first, *ended)
	}
	if r.err != nil {
		return
	}
	*ended = first + int(step*more)
	for i := s.indexFrom(first); i < len(s.instances) && s.Number(i) <= *ended; i++ {
		if uint64(s.Number(i)-first)%step != 0 {
			continue
		}
		s.forgetAll(&s.instances[i])
		s.instances[i] = instance{notes: none, runs: none, flags: finished | everMoved}
		clear(s.order(i))
		s.rec.Net.Finished++
	}
}

// indexFrom returns the first instance whose number is not below another.
func (s *Shard) indexFrom(number int) int {
	if s.numbers != nil {
		return sort.Search(len(s.numbers), func(k int) bool { return int(s.numbers[k]) >= number })
	}
	if number <= s.first {
		return 0
	}
	return (number-s.first-1)/s.stride + 1
}

// maxTime bounds the times that are read, far from overflow.
const maxTime = 1 << 61

// loadInstance reads the rest of an instance; -1 is one that is not ours.
func (s *Shard) loadInstance(r *reader, i int, turn uint16, state uint64) {
	in := &instance{notes: none, runs: none, turn: turn}
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
	switch state {
	case stateFinished:
		in.flags |= finished
		s.rec.Net.Finished++
	case stateDeadlocked:
		in.flags |= deadlocked
		s.deadlocked++
	case stateFailed:
		in.flags |= failed
		s.rec.Net.Failed++
	}
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
