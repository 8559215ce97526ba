// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/pnagent/pnagent/engine/internal/shard"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri"
)

// These mark an entry of a state as a run, and as a due time.
const (
	stateRun = shard.StateEnded + 1 + iota
	stateDue
	stateOwn
	stateBeyond
)

// AppendState appends the instances that have moved since they were created. An
// instance is written as:
//
//   - its number plus one, its turn and the state in which it is at rest, its
//     firings, the last identity, the stamps of its order;
//   - if the net has scopes, how many runs of them have opened, and the number
//     of those that are open, and for each its number, its scope and the number
//     of the run around it;
//   - the number of its clocks, and for each the transition and when it
//     started;
//   - the number of places that hold tokens, and for each its index and the
//     number of its lots, and for each lot the first identity, the injection
//     time, the number of tokens and their data.
//
// If the net has scopes, the number of a run follows the transition of a clock
// and the index of a place.
//
// The variables and the due times by Binding.Until follow, each as an entry of the instance: see
// own and due.
//
// The runs that are not over follow, if Config.Runs is set; then a zero. Tokens
// in flight are written in their places.
//
// An instance without tokens and clocks is not written. Finished ones are
// written as rows: the first number plus one, the distance from one to the
// next, and how many follow. Others are left out if the initial marking is
// empty, because LoadState finds them as New created them; their turn,
// identities and random decisions start from scratch, also if one has a run that
// took no token. Instances that never moved are left out, too. One that is back at an initial marking with tokens
// is written, because their ages differ.
func (s *Shard) AppendState(dst []byte) []byte {
	dst = s.AppendEnded(dst, func(i int) bool {
		in := &s.instances[i]
		return in.has(finished) && s.spent(in)
	})
	w := state{writer{dst, s.log.scoped}, s}
	for i := range s.instances {
		switch in := &s.instances[i]; {
		case !in.has(everMoved):
			w.dues(in)
		case !s.spent(in):
			w.instance(in)
		}
	}
	w.runs()
	w.put(0)
	return w.text
}

// state is a state that is written.
type state struct {
	writer
	s *Shard
}

// entry begins what has a kind of an instance.
func (w *state) entry(in *instance, kind uint64) {
	w.put(uint64(w.s.Number(int(in.index)))+1, kind*w.s.Turns())
}

func (w *state) instance(in *instance) {
	w.put(uint64(w.s.Number(int(in.index)))+1, uint64(in.turn)+shard.StateOf(in.flags)*w.s.Turns(), uint64(in.played), in.lastID)
	for _, stamp := range w.s.Order(int(in.index)) {
		w.put(uint64(stamp))
	}
	w.frames(in)
	w.clocks(in)
	w.lots(in)
	w.own(in)
	w.dues(in)
}

// spent reports whether an instance that has moved need not be written. One that
// begins again after a restart repeats its random decisions.
func (s *Shard) spent(in *instance) bool {
	if !s.vacant(in) {
		return false
	}
	for id := in.notes; id != none; id = s.notes.all[id].next {
		if s.isDelay(id) {
			return false
		}
	}
	return in.has(finished) || !in.has(atRest) && s.Barren && (s.Part != nil || s.OpenEnded || !in.has(moved))
}

// frames writes the open frames of an instance.
func (w *state) frames(in *instance) {
	if !w.scoped {
		return
	}
	all := &w.s.frames[in.index]
	w.put(uint64(all.last), uint64(len(all.open)))
	for _, f := range all.open {
		w.put(uint64(f.number), uint64(f.scope), uint64(f.up.id()))
	}
	w.loops(in)
}

// clocks writes the clocks of an instance, the latest first.
func (w *state) clocks(in *instance) {
	var clocks []*note
	for id := in.notes; id != none; id = w.s.notes.all[id].next {
		if w.s.isDelay(id) {
			clocks = append(clocks, &w.s.notes.all[id])
		}
	}
	w.put(uint64(len(clocks)))
	for _, n := range clocks {
		w.put(uint64(n.transition))
		w.frame(n.frame)
		w.put(uint64(n.since))
	}
}

func (s *Shard) isDelay(id int32) bool {
	n := &s.notes.all[id]
	return n.kind == noteClock && s.rules[n.transition].Mode.Kind == plain.Delayed
}

// lots writes the tokens of an instance.
func (w *state) lots(in *instance) {
	places := 0
	for range w.s.filled(in) {
		places++
	}
	w.put(uint64(places))
	for f, p := range w.s.filled(in) {
		lots := joined(w.s.standing(in, f, p))
		w.put(uint64(p.place))
		w.frame(f.id())
		w.put(uint64(len(lots)))
		for _, l := range lots {
			w.put(l.id, uint64(l.injected), uint64(l.n))
			w.data(l.data)
		}
	}
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

// LoadState puts instances into the state that AppendState wrote, and returns
// the bytes that follow it. It skips instances that the shard does not hold.
// Those at rest are counted as having come to rest once; other counters stay 0
// unless the caller passes them to Recount. The shard must not have played yet.
// Call [Shard.Resume] when everything is replayed.
func (s *Shard) LoadState(src []byte) (rest []byte, err error) {
	ended := -1 // the last instance of the rows so far
	for r := (&reader{Reader: shard.Reader{Left: src}, s: s}); ; {
		number := r.Next(math.MaxInt64)
		if r.Err == nil && number == 0 {
			return r.Left, nil
		}
		r.of(number - 1)
		head := r.Next(stateBeyond*s.Turns() - 1)
		switch state := head / s.Turns(); state {
		case shard.StateEnded:
			s.LoadEnded(&r.Reader, int(number)-1, &ended, s.loadEnded)
		case stateRun:
			r.loadRun()
		case stateDue:
			r.due()
		case stateOwn:
			r.loadOwn()
		default:
			r.loadInstance(uint16(head%s.Turns()), state)
		}
		if r.Err != nil {
			return nil, r.Err
		}
	}
}

// loadEnded marks an instance as finished and without tokens.
func (s *Shard) loadEnded(i int) {
	s.forgetAll(&s.instances[i])
	s.instances[i] = instance{notes: none, runs: none, index: int32(i), flags: finished | everMoved}
	if s.frames != nil {
		s.frames[i] = frames{}
	}
	if s.shared {
		s.variables[i] = nil
	}
	clear(s.Order(i))
}

// maxTime bounds the times that are read, so that they cannot overflow.
const maxTime = 1 << 61

// loadInstance reads the rest of an instance. Until all is read, it is of a copy.
func (r *reader) loadInstance(turn uint16, state uint64) {
	s, in := r.s, &instance{notes: none, runs: none, turn: turn}
	in.played, in.lastID = uint32(r.Next(math.MaxUint32)), r.Next(maxID)
	order := make(petri.Order, s.OrderLen())
	for k := range order {
		if order[k] = uint16(r.Next(math.MaxUint16)); order[k] > order[0] {
			r.Fail("a choice later than the latest")
		}
	}
	if r.in != nil {
		in.index, r.in = r.in.index, in
		if s.frames != nil {
			defer func(before frames) {
				if r.Err != nil { // the instance stays as it was
					s.frames[in.index] = before
				}
			}(s.frames[in.index])
		}
	}
	r.loadFrames()
	var clocks []note
	for range r.Next(uint64(len(r.Left))) {
		n := note{kind: noteClock, instance: in.index, transition: uint16(r.Index(len(s.rules)))}
		f := r.frame()
		n.frame, n.since = f.id(), int64(r.Next(maxTime))
		if r.Err == nil && r.in != nil && f.scopeID() != s.Tables.ActsIn(int(n.transition)) {
			r.Fail("a clock of transition %d in run %d of another scope", n.transition, n.frame)
		}
		if r.Err != nil {
			return
		}
		if s.rules[n.transition].Mode.Kind != plain.Delayed || s.Elsewhere(int(n.transition)) {
			r.Fail("a clock of transition %d, which has no delay", n.transition)
		}
		clocks = append(clocks, n)
	}
	x := s.of(in, 0)
	x.renew()
	r.loadTokens(x)
	if r.Err != nil || r.in == nil {
		return
	}
	i := x.i
	if s.shared {
		s.variables[i] = nil
		x.settleWrites(false)
		x.rewritten = x.rewritten[:0]
	}
	in.move()
	in.flags |= s.CountRest(shard.FlagOf(state))
	s.forgetAll(&s.instances[i])
	s.instances[i] = *in
	copy(s.Order(i), order)
	in = &s.instances[i]
	for k := len(clocks) - 1; k >= 0; k-- { // so that the latest is the first again
		f := s.frame(in, clocks[k].frame)
		if f.id() == clocks[k].frame && s.notes.clock(in, f, int(clocks[k].transition)) == none { // a run that held nothing is gone
			s.notes.addNote(in, f, clocks[k])
		}
	}
}

// forgetAll removes all notes of an instance.
func (s *Shard) forgetAll(in *instance) {
	for in.notes != none {
		s.notes.dropNote(in, in.notes)
	}
	for in.runs != none {
		s.drop(in, in.runs)
	}
	s.stir(in)
}

// loadFrames reads the open frames of an instance.
func (r *reader) loadFrames() {
	s, in := r.s, r.in
	if s.frames == nil {
		return
	}
	skipped := frames{}
	all := &skipped
	if in != nil {
		all = &s.frames[in.index]
	}
	*all = frames{last: uint32(r.Next(math.MaxUint32)), first: all.first, loud: all.loud}
	before := uint32(0)
	for range r.Next(uint64(len(r.Left))) {
		f := &frame{number: uint32(r.Next(uint64(all.last))), scope: int32(r.Index(s.Tables.Scopes())), notes: none}
		up := uint32(r.Next(uint64(all.last)))
		if k, ok := slices.BinarySearchFunc(all.open, up, func(f *frame, n uint32) int { return cmp.Compare(f.number, n) }); ok {
			f.up = all.open[k]
			f.up.inside++
		}
		if f.number <= before || f.scope == 0 || f.up.id() != up || f.up.scopeID() != s.Tables.ScopeParent(f.scope) {
			r.Fail("run %d of scope %d after run %d, in run %d", f.number, f.scope, before, up)
		}
		if r.Err != nil {
			return
		}
		before = f.number
		all.open = append(all.open, f)
		if in != nil {
			s.unsettle(in, f)
		}
	}
	r.loops(all.open)
}

// loadTokens reads the tokens of an instance.
func (r *reader) loadTokens(x *change) {
	s, in := r.s, x.in
	last := spot{place: -1}
	for range r.Next(uint64(len(r.Left))) {
		at := r.spot()
		p := pile{place: at.place}
		if r.Err == nil && (r.in != nil || s.frames == nil) && cmp.Or(cmp.Compare(at.frame, last.frame), cmp.Compare(at.place, last.place)) <= 0 {
			r.Fail("place %d after place %d", at.place, last.place)
		}
		if s.Outside(int(p.place)) {
			r.Fail("place %q: %w", s.Tables.Net.Places[p.place].ID, plain.ErrElsewhere)
			return
		}
		last = at
		for range r.Next(uint64(len(r.Left))) {
			l := lot{id: r.Next(maxID), injected: int64(r.Next(maxTime)), n: uint32(r.Next(math.MaxUint32))}
			l.data = r.data(nil)
			if l.id == 0 || l.n == 0 || l.n > math.MaxUint32-p.n || in.lastID < l.id || in.lastID-l.id < uint64(l.n)-1 {
				r.Fail("%d tokens from %d on, where the last is %d", l.n, l.id, in.lastID)
			}
			if r.Err != nil {
				return
			}
			if r.in != nil {
				l.data = x.keep(at, l.data) // earlier versions wrote variables with the tokens
			}
			p.add(l)
		}
		if r.Err != nil {
			return
		}
		if p.n > 0 {
			f := s.frame(in, at.frame)
			ps := f.in(in)
			*ps = append(*ps, p)
			s.occupy(in, f, at.place, 1)
		}
	}
	if r.in == nil {
		return
	}
	for _, f := range slices.Clone(s.opened(in)) {
		s.leave(in, f) // if it holds nothing
	}
}
