// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"encoding/binary"
	"encoding/json"
	"maps"
	"math"
	"slices"
)

// turns reports whether a firing of the rule puts tokens of a place for a loop.
func (r *rule) turns(place int32) bool {
	for _, l := range []*loop{r.begins, r.ends} {
		if l == nil {
			continue
		}
		for _, p := range l.into {
			if p.place == place {
				return true
			}
		}
		for _, p := range l.out {
			if p.place == place {
				return true
			}
		}
	}
	return false
}

// from returns the frame from which what a firing in f puts is seen: the end of a run begins others.
func (r *rule) from(f *frame) *frame {
	if r.ends != nil {
		return f.up
	}
	return f
}

// noteLoop records that a loop begins: the run of the scope around, the scope of the runs, how
// many are planned, and the list.
func (s *Shard) noteLoop(i int, up *frame) {
	s.noteBeyond(i, opLoop)
	s.done.Log = binary.AppendUvarint(s.done.Log, uint64(up.number))
	s.done.Log = binary.AppendUvarint(s.done.Log, uint64(up.loop.scope))
	s.done.Log = binary.AppendUvarint(s.done.Log, uint64(up.loop.n+1))
	s.done.Log = appendData(s.done.Log, up.loop.text)
}

// noteRunEnd records how the run of a loop ends: its number, whether it is the last one, and its
// result.
func (s *Shard) noteRunEnd(i int, f *frame, t *turn) {
	s.noteBeyond(i, opOver)
	s.done.Log = binary.AppendUvarint(s.done.Log, uint64(f.number))
	last := byte(0)
	if t.last {
		last = 1
	}
	s.done.Log = appendData(append(s.done.Log, last), t.result)
}

// noteOwn records new values of variables that a run owns.
func (s *Shard) noteOwn(i int, f *frame, values object) {
	for _, text := range values.texts() {
		s.noteBeyond(i, opOwn)
		s.done.Log = binary.AppendUvarint(s.done.Log, uint64(f.id()))
		s.done.Log = appendData(s.done.Log, text)
	}
}

// texts returns the object as JSON in one text, or, if that is too long, one for each field.
func (o object) texts() (all [][]byte) {
	if text := o.data(); len(text) <= MaxData {
		return [][]byte{text}
	}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		all = append(all, object{name: o[name]}.data())
	}
	return all
}

// replayLoop reads what noteLoop, noteRunEnd or noteOwn wrote.
func (s *Shard) replayLoop(r *reader, i int, mine bool, what uint64) {
	number := uint32(r.Next(maxFrames))
	var scope, n uint64
	switch what {
	case opLoop:
		scope, n = r.Next(uint64(s.Tables.Scopes()-1)), r.Next(MaxEach+1)
	case opOver:
		n = r.Next(1)
	}
	data := r.data(nil)
	if r.Err != nil || !mine {
		return
	}
	in := &s.instances[i]
	f := s.frame(in, number)
	switch {
	case f.id() != number:
		r.Fail("run %d of a scope, which is not open", number)
	case what == opOwn:
		s.readOwn(r, i, in, f, data)
	case f == nil:
		r.Fail("a loop in run 0")
	case what == opLoop:
		f.loop = s.readSeries(r, f, int32(scope), int(n)-1, data)
	case f.up == nil || f.up.loop == nil || f.up.loop.scope != f.scope || f.ended:
		r.Fail("run %d of scope %d ends, which is none of a loop", number, f.scope)
	default:
		s.turn = &turn{loop: f.up.loop.loop, ends: true, last: n == 1, result: data}
	}
}

// readSeries returns the loop of a scope that begins in a frame.
func (s *Shard) readSeries(r *reader, f *frame, scope int32, n int, text []byte) *series {
	var l *loop
	for k := range s.rules {
		if b := s.rules[k].begins; b != nil && b.scope == scope {
			l = b
		}
	}
	if l == nil || l.around != f.scope || (n < 0) == l.Multi() {
		r.Fail("a loop of scope %d in run %d of scope %d", scope, f.number, f.scope)
		return nil
	}
	q := &series{loop: l, n: n, text: text}
	if text != nil && (json.Unmarshal(text, &q.list) != nil || len(q.list) != n) || (l.List.Text != "") != (text != nil) {
		r.Fail("a list of other than %d elements in run %d", n, f.number)
	}
	return q
}

// readOwn gives variables that a run owns the values that a log or a state has.
func (s *Shard) readOwn(r *reader, i int, in *instance, f *frame, data []byte) {
	values := objectOf(data)
	if values == nil || !s.shared {
		r.Fail("variables of run %d, which owns none", f.id())
		return
	}
	s.setOwn(i, in, f, values, false)
}

// appendOwn appends the variables of an instance, each run's as an entry: its number and the
// variables. Earlier versions wrote those of the runs of loops elsewhere, and the others with the
// tokens.
func (s *Shard) appendOwn(dst []byte, i int, in *instance) []byte {
	if !s.shared {
		return dst
	}
	for f := range s.each(in) {
		own := *s.owned(in, f)
		if own == nil {
			continue
		}
		for _, text := range s.fields(own).texts() {
			dst = binary.AppendUvarint(dst, uint64(s.Number(i))+1)
			dst = binary.AppendUvarint(dst, stateOwn*s.Turns())
			dst = appendData(binary.AppendUvarint(dst, uint64(f.id())), text)
		}
	}
	return dst
}

// loadOwn reads what appendOwn wrote; i is -1 for an instance that the shard does not hold.
func (s *Shard) loadOwn(r *reader, i int) {
	number := uint32(r.Next(maxFrames))
	data := r.data(nil)
	if r.Err != nil || i < 0 {
		return
	}
	in := &s.instances[i]
	f := s.frame(in, number)
	if f.id() != number {
		r.Fail("variables of run %d of a scope, which is not open", number)
		return
	}
	s.readOwn(r, i, in, f, data)
	s.rewritten = s.rewritten[:0]
}

// appendLoops appends what the frames of an instance have of loops: of each a loop in it, and what
// it is as one run of a loop.
func (s *Shard) appendLoops(dst []byte, in *instance) []byte {
	if !s.looped {
		return dst
	}
	for _, f := range s.opened(in) {
		dst = f.loop.append(dst)
		if s.Tables.Net.Scopes[f.scope-1].Loop == nil {
			continue
		}
		head := uint64(f.turn) << 1
		if f.ended {
			head++
		}
		dst = appendData(binary.AppendUvarint(dst, head), nil) // earlier versions wrote the variables here
	}
	return dst
}

// append appends the scope of the runs, 0 for none; how many are planned, have begun and are over;
// the list; and the results.
func (q *series) append(dst []byte) []byte {
	if q == nil {
		return append(dst, 0)
	}
	dst = binary.AppendUvarint(dst, uint64(q.scope))
	for _, n := range []int{q.n + 1, q.begun, q.over} {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	dst = binary.AppendUvarint(appendData(dst, q.text), uint64(len(q.results)))
	for _, result := range q.results {
		dst = appendData(dst, result)
	}
	return dst
}

// loadLoops reads what appendLoops wrote; own is nil for an instance that the shard does not hold.
func (s *Shard) loadLoops(r *reader, open []*frame) {
	if !s.looped {
		return
	}
	for _, f := range open {
		s.loadSeries(r, f)
		if r.Err == nil && s.Tables.Net.Scopes[f.scope-1].Loop != nil {
			head := r.Next(math.MaxUint32)
			f.turn, f.ended = int(head>>1), head&1 != 0
			if own := r.data(nil); own != nil && objectOf(own) == nil {
				r.Fail("variables of run %d that are no object", f.number)
			} else if !s.isApart(f.scope) {
				f.own = own
			}
		}
		if r.Err != nil {
			return
		}
	}
}

func (s *Shard) loadSeries(r *reader, f *frame) {
	scope := r.Next(uint64(s.Tables.Scopes() - 1))
	if r.Err != nil || scope == 0 {
		return
	}
	n, begun, over := int(r.Next(MaxEach+1))-1, int(r.Next(math.MaxInt32)), int(r.Next(math.MaxInt32))
	text := r.data(nil)
	if r.Err != nil {
		return
	}
	if f.loop = s.readSeries(r, f, int32(scope), n, text); r.Err != nil {
		return
	}
	f.loop.begun, f.loop.over = begun, over
	for range r.Next(uint64(len(r.Left))) {
		result := r.data(nil)
		if f.loop.size += len(result); r.Err != nil {
			return
		}
		f.loop.results = append(f.loop.results, result)
	}
	if over > begun || n >= 0 && begun > n || len(f.loop.results) > begun {
		r.Fail("%d of %d runs of scope %d are over, %d planned", over, begun, scope, n)
	}
}
