// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"encoding/json"
	"maps"
	"math"
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// turns reports whether a firing of the rule puts tokens of a place for a loop.
func (r *rule) turns(place int32) bool {
	puts := func(e petri.Effect) bool { return e.Place == place }
	return slices.ContainsFunc([]*loop{r.begins, r.ends}, func(l *loop) bool {
		return l != nil && (slices.ContainsFunc(l.into, puts) || slices.ContainsFunc(l.out, puts))
	})
}

// from returns the frame from which what a firing in f puts is seen: the end of a run begins others.
func (r *rule) from(f *frame) *frame {
	if r.ends != nil {
		return f.up
	}
	return f
}

// loop writes that a loop begins: the run of the scope around, the scope of the runs, how
// many are planned, and the list.
func (l *log) loop(i int, up *frame) {
	if l.on {
		l.begin(i, opLoop, uint64(up.number), uint64(up.loop.scope), uint64(up.loop.n+1))
		l.data(up.loop.text)
	}
}

// runEnds writes how the run of a loop ends: its number, whether it is the last one, and its
// result.
func (l *log) runEnds(i int, f *frame, t *turn) {
	if l.on {
		l.begin(i, opOver, uint64(f.number), flagged(0, t.last))
		l.data(t.result)
	}
}

// own writes new values of variables that a run owns.
func (l *log) own(i int, f *frame, values object) {
	if l.on {
		for _, text := range values.texts() {
			l.begin(i, opOwn, uint64(f.id()))
			l.data(text)
		}
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

// loop reads what log.loop, runEnds or own wrote.
func (r *reader) loop(what uint64) {
	number := uint32(r.Next(maxFrames))
	var scope, n uint64
	switch what {
	case opLoop:
		scope, n = r.Next(uint64(r.s.Tables.Scopes()-1)), r.Next(MaxRuns+1)
	case opOver:
		n = r.Next(1)
	}
	data := r.data(nil)
	if r.Err != nil || r.in == nil {
		return
	}
	f := r.s.frame(r.in, number)
	switch {
	case f.id() != number:
		r.Fail("run %d of a scope, which is not open", number)
	case what == opOwn:
		r.own(f, data)
	case f == nil:
		r.Fail("a loop in run 0")
	case what == opLoop:
		f.loop = r.series(f, int32(scope), int(n)-1, data)
	case f.of() == nil || f.ended:
		r.Fail("run %d of scope %d ends, which is none of a loop", number, f.scope)
	default:
		r.turn = &turn{series: f.up.loop, ends: true, last: n == 1, result: data}
	}
}

// series returns the loop of a scope that begins in a frame.
func (r *reader) series(f *frame, scope int32, n int, text []byte) *series {
	var l *loop
	for k := range r.s.rules {
		if b := r.s.rules[k].begins; b != nil && b.scope == scope {
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

// own gives variables that a run owns the values that a log or a state has.
func (r *reader) own(f *frame, data []byte) {
	values := objectOf(data)
	if values == nil || !r.s.shared {
		r.Fail("variables of run %d, which owns none", f.id())
		return
	}
	r.s.of(r.in, r.now).setOwn(f, values, false)
}

// own writes the variables of an instance, each run's as an entry: its number and the
// variables. Earlier versions wrote those of the runs of loops elsewhere, and the others with the
// tokens.
func (w *state) own(in *instance) {
	if !w.s.shared {
		return
	}
	for f := range w.s.each(in) {
		own := *w.s.owned(in, f)
		if own == nil {
			continue
		}
		for _, text := range w.s.fields(own).texts() {
			w.entry(in, stateOwn)
			w.put(uint64(f.id()))
			w.data(text)
		}
	}
}

// loadOwn reads what state.own wrote.
func (r *reader) loadOwn() {
	number := uint32(r.Next(maxFrames))
	data := r.data(nil)
	if r.Err != nil || r.in == nil {
		return
	}
	f := r.s.frame(r.in, number)
	if f.id() != number {
		r.Fail("variables of run %d of a scope, which is not open", number)
		return
	}
	r.own(f, data)
	r.s.change.rewritten = r.s.change.rewritten[:0]
}

// loops writes what the frames of an instance have of loops: of each a loop in it, and what
// it is as one run of a loop.
func (w *state) loops(in *instance) {
	if !w.s.looped {
		return
	}
	for _, f := range w.s.opened(in) {
		w.series(f.loop)
		if w.s.Tables.Net.Scopes[f.scope-1].Loop != nil {
			w.put(flagged(uint64(f.turn), f.ended), refNone) // earlier versions wrote the variables here
		}
	}
}

// series writes the scope of the runs, 0 for none; how many are planned, have begun and are over;
// the list; and the results.
func (w *writer) series(q *series) {
	if q == nil {
		w.put(0)
		return
	}
	w.put(uint64(q.scope), uint64(q.n+1), uint64(q.begun), uint64(q.over))
	w.data(q.text)
	w.put(uint64(len(q.results)))
	for _, result := range q.results {
		w.data(result)
	}
}

// loops reads what state.loops wrote.
func (r *reader) loops(open []*frame) {
	if !r.s.looped {
		return
	}
	for _, f := range open {
		r.loadSeries(f)
		if r.Err == nil && r.s.Tables.Net.Scopes[f.scope-1].Loop != nil {
			head := r.Next(math.MaxUint32)
			f.turn, f.ended = int(head>>1), head&1 != 0
			if own := r.data(nil); own != nil && objectOf(own) == nil {
				r.Fail("variables of run %d that are no object", f.number)
			} else if !r.s.isApart(f.scope) {
				f.own = own
			}
		}
		if r.Err != nil {
			return
		}
	}
}

func (r *reader) loadSeries(f *frame) {
	scope := r.Next(uint64(r.s.Tables.Scopes() - 1))
	if r.Err != nil || scope == 0 {
		return
	}
	n, begun, over := int(r.Next(MaxRuns+1))-1, int(r.Next(math.MaxInt32)), int(r.Next(math.MaxInt32))
	text := r.data(nil)
	if r.Err != nil {
		return
	}
	if f.loop = r.series(f, int32(scope), n, text); r.Err != nil {
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
