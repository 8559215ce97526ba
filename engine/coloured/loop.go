// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/pnagent/pnagent/petri"
)

// loop is a petri.Loop in the form in which it is played.
type loop struct {
	*petri.Loop
	funcs  *ScopeFuncs
	net    *petri.Net
	scope  int32     // of one run
	around int32     // of the activity as a whole
	in     *exchange // what a run gets; nil for nothing
	into   []petri.Effect
	out    []petri.Effect // what the end of the last run puts outside
}

// MaxRuns is the maximum number of runs of a petri.Loop.
const MaxRuns = 10_000

// series is the runs of a loop in one run of the scope around.
type series struct {
	*loop
	n           int // planned; -1 if that is not known
	begun, over int
	text        []byte            // the list
	list        []json.RawMessage // its elements
	results     [][]byte          // by run, as JSON; nil for one that has none
	size        int               // of the results, in bytes
}

// turn is what a firing does to a loop: of a beginning, the series is that which begins.
type turn struct {
	*series
	ends, last bool   // a run ends; it is the last one
	runs       int    // that begin
	result     []byte // of the run that ends; nil for none
}

// compileLoop fills in the loop of a scope in the rules of the transitions that begin and end its runs.
func (s *Shard) compileLoop(sc *petri.Scope, scope int32, begin, end int, funcs *ScopeFuncs) {
	t := s.Tables
	l := &loop{Loop: sc.Loop, funcs: funcs, net: t.Net, scope: scope, around: t.ScopeParent(scope), in: s.rules[begin].in}
	s.rules[begin].begins, s.rules[end].ends = l, l
	s.rules[begin].evaluates()
	s.rules[end].evaluates()
	for _, e := range t.Effects(begin) {
		if e.Put > 0 && s.inLoop(l, e.Place) {
			l.into, s.rules[end].reach = append(l.into, e), append(s.rules[end].reach, e.Place)
		}
	}
	for _, e := range t.Effects(end) {
		if e.Put > 0 && !t.Encloses(l.around, t.ScopeOf(e.Place)) {
			l.out, s.rules[begin].reach = append(l.out, e), append(s.rules[begin].reach, e.Place)
		}
	}
}

// inLoop reports whether a place is in the scope of the runs of a loop.
func (s *scopes) inLoop(l *loop, place int32) bool {
	return s.tables.Encloses(l.scope, s.tables.ScopeOf(place))
}

// amount reads the number of runs, or the list.
func (l *loop) amount(text []byte) (n int, list []json.RawMessage, err error) {
	if l.List.Text != "" {
		if json.Unmarshal(text, &list) != nil || list == nil {
			return 0, nil, at(l.net, &l.List, fmt.Errorf("found %.40s; expected a list", text))
		}
		if len(list) > MaxRuns {
			return 0, nil, at(l.net, &l.List, fmt.Errorf("a list of %d elements; expected at most %d", len(list), MaxRuns))
		}
		return len(list), list, nil
	}
	digits := string(text)
	_ = json.Unmarshal(text, &digits) // or it is no text
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || v < 0 || v > MaxRuns || v != math.Trunc(v) {
		return 0, nil, at(l.net, &l.Number, fmt.Errorf("found %.40s; expected a whole number from 0 to %d", text, MaxRuns))
	}
	return int(v), nil, nil
}

// own returns the variables with which a run begins, of which the engine sets the values.
func (l *loop) own(k int, list []json.RawMessage) object {
	o := object{petri.LoopCounter: strconv.AppendInt(nil, int64(l.First+k), 10)}
	if l.Element != "" && k < len(list) {
		o[l.Element] = list[k]
	}
	return o
}

// also returns tokens and, if there are any variables, one more with them: the youngest, which counts.
func also(tokens []Placed, o object) []Placed {
	if len(o) == 0 {
		return tokens
	}
	return append(tokens[:len(tokens):len(tokens)], Placed{Place: -1, Token: Token{ID: math.MaxUint64, Injected: math.MaxInt64, Data: o.data()}})
}

// holds asks a condition of a loop.
func (l *loop) holds(x *petri.Expression, of Guard, tokens []Placed, now int64) (bool, error) {
	v, err := ask(of, tokens, now)
	if err != nil {
		return false, at(l.net, x, err)
	}
	return v.OK, nil
}

// planBegin evaluates how a loop begins in a frame. tokens are those that a Value sees.
func (x *change) planBegin(f *frame, r *rule, tokens []Placed, o *outcome) (*turn, error) {
	l := r.begins
	t := &turn{series: &series{loop: l, n: -1}, runs: 1}
	if l.Multi() {
		amount := &l.Number
		if l.List.Text != "" {
			amount = &l.List
		}
		value, err := evaluate(l.funcs.Amount, tokens, x.now)
		if err != nil {
			return nil, at(l.net, amount, err)
		}
		if t.n, t.list, err = l.amount(value); err != nil {
			return nil, err
		}
		if t.list != nil {
			t.text = value
		}
		t.runs = t.n
		if !l.Parallel {
			t.runs = min(t.n, 1)
		}
	} else if l.Before && l.While.Text != "" {
		again, err := l.holds(&l.While, l.funcs.While, also(tokens, l.own(0, nil)), x.now)
		if err != nil {
			return nil, err
		}
		if !again {
			t.runs = 0
		}
	}
	if t.runs == 0 && l.Into != "" {
		o.writes = append(o.writes, write{x.s.around(f, l.into[0].Place), object{l.Into: json.RawMessage("[]")}})
	}
	return t, x.planRuns(t, o, 0, x.s.fields(x.s.renewedIn(f, o.data)), tokens)
}

// planRuns evaluates what the runs get that begin, from a number on: copies are of some fields.
func (x *change) planRuns(t *turn, o *outcome, from int, of object, tokens []Placed) error {
	for k := range t.runs {
		if t.in == nil {
			break
		}
		own := t.own(from+k, t.list)
		given, err := x.s.assign(t.in, []object{own, of}, tokens, own, x.now)
		if err != nil {
			return err
		}
		o.given = append(o.given, given)
	}
	return nil
}

// planEnd evaluates how a run ends in a frame, and what is next. The outcome has what the run gives.
func (x *change) planEnd(f *frame, taken, read []Placed, o *outcome) (*turn, error) {
	q := f.up.loop
	t := &turn{series: q, ends: true}
	after := object{}
	for _, w := range o.writes {
		if w.f == f.up {
			maps.Copy(after, w.fields)
		}
	}
	var tokens []Placed
	if t.Result.Text != "" || t.Until.Text != "" || t.While.Text != "" {
		tokens = also(x.visible(f, taken, read, o.data), after)
	}
	if t.Result.Text != "" {
		value, err := evaluate(t.funcs.Result, tokens, x.now)
		if err != nil {
			return nil, at(t.net, &t.Result, err)
		}
		if t.result = value; q.size+len(t.result) > MaxData {
			return nil, at(t.net, &t.Result, fmt.Errorf("the results have more than %d bytes", MaxData))
		}
	}
	var err error
	if t.last, err = q.done(tokens, x.now); err != nil {
		return nil, err
	}
	if t.last && t.Into != "" {
		o.writes = append(o.writes, write{f.up, object{t.Into: q.collected(f, t.result)}})
	}
	if t.last || t.Parallel {
		return t, nil
	}
	t.runs = 1
	outside, of := x.s.outsideOf(f, o.data), object{}
	maps.Copy(of, x.s.fields(outside[0].Token.Data))
	maps.Copy(of, after)
	return t, x.planRuns(t, o, q.begun, of, also(outside, after))
}

// outsideOf returns a token with what is seen outside of a run that ends, for the run after it.
func (s *scopes) outsideOf(f *frame, data []byte) []Placed {
	seen, fields := s.seenIn(f.up), maps.Clone(s.fields(data))
	maps.DeleteFunc(fields, func(name string, _ json.RawMessage) bool { return s.isLocal(f.scope, name) })
	if len(fields) > 0 {
		seen = s.over(seen, fields.data())
	}
	return []Placed{{Place: -1, Token: Token{Data: seen}}}
}

// lead returns the variables of a run that its loop sets and only the expressions of the loop see,
// because the run is apart.
func (s *scopes) lead(f *frame) object {
	if q := f.of(); q != nil && s.isApart(f.scope) {
		return q.own(f.turn, q.list)
	}
	return nil
}

// of returns the loop of which a frame is a run; nil if it is none.
func (f *frame) of() *series {
	if f.up == nil || f.up.loop == nil || f.up.loop.scope != f.scope {
		return nil
	}
	return f.up.loop
}

// done reports whether the runs of a loop are over when one ends. tokens have the variables after it.
func (q *series) done(tokens []Placed, now int64) (bool, error) {
	over := q.over + 1
	if q.Multi() {
		if over >= q.n || q.Until.Text == "" {
			return over >= q.n, nil
		}
		active := 1
		if q.Parallel {
			active = q.n - over
		}
		number := func(n int) json.RawMessage { return strconv.AppendInt(nil, int64(n), 10) }
		counts := object{petri.LoopRuns: number(q.n), petri.LoopEnded: number(over), petri.LoopContinue: number(active)}
		return q.holds(&q.Until, q.funcs.Until, also(tokens, counts), now)
	}
	if q.Most > 0 && over >= int(q.Most) || q.While.Text == "" {
		return q.While.Text != "" || q.Most == 0 || over >= int(q.Most), nil
	}
	again, err := q.holds(&q.While, q.funcs.While, tokens, now)
	return !again, err
}

// collected returns the list of results, with that of a run that ends.
func (q *series) collected(f *frame, last []byte) []byte {
	all := slices.Concat(q.results, make([][]byte, max(q.n, q.begun)-len(q.results)))
	if last != nil {
		all[f.turn] = last
	}
	for k := range all {
		if all[k] == nil {
			all[k] = []byte("null")
		}
	}
	return slices.Concat([]byte{'['}, bytes.Join(all, []byte{','}), []byte{']'})
}

// skips reports whether a firing leaves a place alone because other runs of the loop follow, or
// because no run begins.
func (t *turn) skips(s *Shard, place int32) bool {
	switch {
	case t == nil:
		return false
	case t.ends:
		return !t.last && !s.inLoop(t.loop, place)
	}
	return s.inLoop(t.loop, place) || t.runs == 0 && s.Tables.Encloses(t.around, s.Tables.ScopeOf(place))
}

// endRun ends a run of a loop, and after the last one those that are still active.
func (x *change) endRun(f *frame, t *turn) {
	q := f.up.loop
	x.s.log.note(x.i, op{kind: opOver, flag: t.last, held: held{lot{data: t.result}, spot{frame: f.number}}})
	f.ended = true
	q.over++
	if t.result != nil {
		for len(q.results) <= f.turn {
			q.results = append(q.results, nil)
		}
		q.results[f.turn], q.size = t.result, q.size+len(t.result)
	}
	if !t.last {
		return
	}
	f.up.loop = nil
	for _, run := range f.up.inside {
		if run.scope != t.scope || run.ended {
			continue
		}
		for g := range run.all {
			for len(g.piles) > 0 {
				x.emptySpot(g, g.piles[0].place)
			}
		}
	}
}

// turnPuts adds to out what a loop puts: into runs that begin, or outside if there is none.
func (x *change) turnPuts(f *frame, o *outcome, data []byte) {
	t := o.turn
	var up *frame
	if t.ends {
		up = f.up
	} else {
		up = x.s.around(f, t.into[0].Place)
		if t.runs == 0 {
			for _, p := range t.out {
				x.putNew(spot{p.Place, x.aim(f, p.Place)}, p.Put, data)
			}
			return
		}
		up = x.enter(up, t.around)
		up.loop = t.series
		x.s.log.loop(x.i, up)
	}
	for k := range t.runs {
		run := x.openFrame(up, t.scope, up.loop.begun)
		x.entered = x.entered[:0] // what is inside of one run is not inside of the next
		for _, p := range t.into {
			x.putNew(spot{p.Place, x.enter(run, x.s.Tables.ScopeOf(p.Place)).number}, p.Put, data)
		}
		if o.given != nil {
			x.writes = append(x.writes, write{run, o.given[k]})
		}
	}
}
