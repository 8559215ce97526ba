// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/pnagent/pnagent/engine/internal/shard"
	"github.com/pnagent/pnagent/engine/plain"
)

// AppendState appends the instances that have moved since they were created: the rows of those that
// have ended, as Base.AppendEnded writes them, and a zero; then the length of what follows, in 8
// bytes, and the operations of a log that lead to the others, and to the runs of actions that are not
// over. Tokens in flight are written in their places.
//
// An instance without tokens and clocks is not written, unless it has ended or the initial marking is
// not empty: LoadState finds it as New created it. Its turn, identities and random decisions start
// from scratch, also if it has a run that took no token.
func (s *Shard) AppendState(dst []byte) []byte {
	dst = s.AppendEnded(dst, func(i int) bool {
		in := &s.instances[i]
		return in.has(finished) && s.spent(in)
	})
	dst = append(dst, 0)
	w := state{s.log, s}
	w.on, w.text = true, append(dst, make([]byte, lengthSize)...)
	for i := range s.instances {
		switch in := &s.instances[i]; {
		case !in.has(everMoved):
			w.clocks(in)
		case !s.spent(in):
			w.instance(in)
		}
	}
	w.unended()
	binary.BigEndian.PutUint64(w.text[len(dst):], uint64(len(w.text)-len(dst)-lengthSize))
	return w.text
}

const lengthSize = 8

// state is a state that is written.
type state struct {
	log
	s *Shard
}

func (w *state) instance(in *instance) {
	i := int(in.index)
	opened := uint32(0) // runs of scopes
	if w.s.frames != nil {
		opened = w.s.frames[i].last
	}
	w.note(i, op{kind: opIs, turn: int32(in.turn), rest: in.flags & atRest, order: w.s.Order(i), held: held{lot{n: in.played, id: in.lastID}, spot{frame: opened}}})
	for _, f := range w.s.opened(in) {
		w.open(i, f)
		if f.loop != nil {
			w.loop(i, f)
		}
	}
	for f, p := range w.s.filled(in) {
		w.note(i, op{kind: opPile, lots: joined(w.s.standing(in, f, p)), held: held{spot: spot{p.place, f.number}}})
	}
	w.clocks(in)
	if w.s.shared {
		for f := range w.s.each(in) {
			if f.own != nil {
				w.own(i, f, w.s.fields(f.own))
			}
		}
	}
}

// spent reports whether an instance that has moved need not be written. One that
// begins again after a restart repeats its random decisions.
func (s *Shard) spent(in *instance) bool {
	if !s.vacant(in) {
		return false
	}
	for id := range s.notes.each(in) {
		if s.isDelay(id) {
			return false
		}
	}
	return in.has(finished) || !in.has(atRest) && s.Barren && (s.Part != nil || s.OpenEnded || !in.has(moved))
}

// clocks writes the clocks of an instance, the latest last: if it never moved, those that are due by
// Binding.Until.
func (w *state) clocks(in *instance) {
	var clocks []note
	for id := range w.s.notes.each(in) {
		n := w.s.notes.all[id]
		if !w.s.isDelay(id) {
			continue
		}
		if w.s.rules[n.transition].Until == nil {
			n.due = 0 // it is drawn again
		}
		if n.due > 0 || in.has(everMoved) {
			clocks = append(clocks, n)
		}
	}
	for k := range clocks {
		w.clock(&clocks[len(clocks)-1-k])
	}
}

func (s *Shard) isDelay(id int32) bool {
	n := &s.notes.all[id]
	return n.kind == noteClock && s.rules[n.transition].Mode.Kind == plain.Delayed
}

// joined returns the tokens of a place in as few lots as possible, so that
// equal tokens are always equal bytes.
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

// unended writes the runs of actions that are not over.
func (w *state) unended() {
	all := map[RunID]*run{}
	maps.Copy(all, w.s.runs.unended)
	for name, id := range w.s.runs.active {
		all[name] = w.s.notes.all[id].run
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		w.start(name, all[name], true)
	}
}

// LoadState puts instances into the state that AppendState wrote, and returns the bytes that follow it. It
// skips instances that the shard does not hold. Those at rest are counted as having come to rest once; other
// counters stay 0 unless the caller passes them to Recount. The shard must not have played yet, and must be
// discarded after an error. Call [Shard.Resume] when everything is replayed.
func (s *Shard) LoadState(src []byte) (rest []byte, err error) {
	ended := -1 // the last instance of the rows so far
	r := &shard.Reader{Left: src}
	for number := r.Next(math.MaxInt64); number > 0; number = r.Next(math.MaxInt64) {
		if kind := r.Next(shard.StateEnded * s.Turns()); kind != shard.StateEnded*s.Turns() {
			r.Fail("an entry of kind %d among the instances that have ended", kind)
		}
		s.LoadEnded(r, int(number)-1, &ended, func(i int) { s.vacate(&s.instances[i]).flags |= finished })
	}
	length := r.Bytes(lengthSize)
	if r.Err != nil {
		return nil, r.Err
	}
	text := r.Bytes(binary.BigEndian.Uint64(length))
	if r.Err != nil {
		return nil, r.Err
	}
	if err := s.Replay(text, 0); err != nil {
		return nil, err
	}
	s.change.renew()
	for i := range s.instances {
		for _, f := range slices.Clone(s.opened(&s.instances[i])) {
			s.unsettle(&s.instances[i], f)
			s.leave(&s.instances[i], f) // if it holds nothing
		}
	}
	return r.Left, nil
}

// vacate makes an instance one that holds nothing.
func (s *Shard) vacate(in *instance) *instance {
	for id := range s.notes.each(in) {
		s.notes.dropNote(in, id)
	}
	s.Calm(&in.flags)
	i := in.index
	if s.frames != nil {
		s.frames[i] = frames{}
	}
	clear(s.Order(int(i)))
	*in = s.blank(i)
	in.flags = everMoved
	return in
}

// is makes an instance what it was, without tokens.
func (r *reader) is(o *op) {
	for _, stamp := range o.order {
		if stamp > o.order[0] {
			r.Fail("instance %d: a choice later than the latest", r.number)
		}
	}
	if o.rest&(o.rest-1) != 0 || o.rest == revived {
		r.Fail("instance %d is at rest as %b", r.number, o.rest)
	}
	if r.Err != nil {
		return
	}
	in := r.s.vacate(r.in)
	in.turn, in.played, in.lastID = uint16(o.turn), o.n, o.id
	in.flags |= moved | r.s.CountRest(o.rest)
	copy(r.s.Order(int(in.index)), o.order)
	if r.s.frames != nil {
		r.s.frames[in.index].last = o.frame
	}
}

// pile puts the tokens of a place.
func (r *reader) pile(o *op) {
	f := r.home(o.spot)
	for _, l := range o.lots {
		if r.Err != nil {
			return
		}
		_, total := f.piles.count(o.place)
		if l.id == 0 || l.n == 0 || total+l.n < l.n || r.in.lastID < l.id || r.in.lastID-l.id < uint64(l.n)-1 {
			r.Fail("instance %d: %d tokens from %d on, where the last is %d", r.number, l.n, l.id, r.in.lastID)
			return
		}
		r.s.at(int(r.in.index), r.now).openPile(f, o.place).add(l)
	}
}
