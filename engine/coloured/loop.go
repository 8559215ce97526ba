// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/pnagent/pnagent/petri"
)

// LoopFuncs are the functions for the expressions of a petri.Loop, in the binding of the
// transition that begins it. One is nil if the loop has no such expression.
type LoopFuncs struct {
	Amount       Inscription // the number of runs, or the list, of a multi-instance activity
	Until, While Guard
	Result       Inscription
}

// loop is a petri.Loop in the form in which it is played.
type loop struct {
	*petri.Loop
	funcs  LoopFuncs
	net    *petri.Net
	scope  int32         // of one run
	around int32         // of the activity as a whole
	data   []Inscription // of the transition that begins it
	varied bool          // into has data of its own
	into   []loopPut
	out    []loopPut // what the end of the last run puts outside
}

// loopPut is an arc of a transition of a loop.
type loopPut struct {
	place int32
	n     uint32
	data  int // of those into the scope: the index in Binding.Data; -1 if it passes data on
}

// series is the runs of a loop in one run of the scope around.
type series struct {
	*loop
	n           int // planned; -1 if that is not known
	begun, over int
	text        []byte            // the list
	list        []json.RawMessage // its elements
	results     []json.RawMessage // by run; nil for one that has none
	size        int               // of the results, in bytes
}

// turn is what a firing does to a loop.
type turn struct {
	*loop
	ends, last bool              // a run ends; it is the last one
	n          int               // of a beginning: as of series
	text       []byte            // of a beginning: as of series
	list       []json.RawMessage // of a beginning: as of series
	runs       int               // that begin
	values     [][][]byte        // by run that begins: the data of the arcs into it, in the order of into; nil if all pass data on
	result     []byte            // of the run that ends; nil for none
	results    []byte            // after the last run: the list of all, if there is a variable for it
}

// compileLoops fills in the loops of the rules.
func (s *Shard) compileLoops() {
	t := s.Tables
	for k := range t.Net.Scopes {
		of := t.Net.Scopes[k].Loop
		if of == nil {
			continue
		}
		begin, _ := t.TransitionIndex(of.Begin) // the net is valid
		end, _ := t.TransitionIndex(of.End)
		l := &loop{Loop: of, net: t.Net, scope: int32(k) + 1, around: t.ScopeParent(int32(k) + 1), data: s.rules[begin].Data}
		if f := s.rules[begin].Loop; f != nil {
			l.funcs = *f
		}
		s.rules[begin].begins, s.rules[begin].values, s.rules[begin].oldest = l, true, false
		s.rules[end].ends, s.rules[end].values, s.rules[end].oldest = l, true, false
		for _, e := range s.rules[begin].effects {
			if e.Put > 0 && s.inLoop(l, e.Place) {
				l.into = append(l.into, loopPut{e.Place, e.Put, -1})
			}
		}
		for k, a := range t.Inscribed(begin) {
			if s.inLoop(l, a.Place) {
				l.into, l.varied = append(l.into, loopPut{a.Place, a.Put, k}), true
			}
		}
		for _, e := range t.Effects(end) {
			if e.Put > 0 && !t.Encloses(l.around, t.ScopeOf(e.Place)) {
				l.out = append(l.out, loopPut{e.Place, e.Put, -1})
			}
		}
		s.looped = true
	}
}

// inLoop reports whether a place is in the scope of the runs of a loop.
func (s *Shard) inLoop(l *loop, place int32) bool {
	return s.Tables.Encloses(l.scope, s.Tables.ScopeOf(place))
}

// checkLoop returns an error if functions for the loop are missing that a transition begins.
func (c *Config) checkLoop(tr int) error {
	for k := range c.Tables.Net.Scopes {
		l := c.Tables.Net.Scopes[k].Loop
		if l == nil || l.Begin != c.Tables.Net.Transitions[tr].ID {
			continue
		}
		f := c.Bindings[tr].Loop
		if f == nil {
			f = &LoopFuncs{}
		}
		for _, x := range l.Expressions() {
			missing := x == &l.Until && f.Until == nil || x == &l.While && f.While == nil || x == &l.Result && f.Result == nil ||
				(x == &l.Number || x == &l.List) && f.Amount == nil
			if x.Text != "" && missing {
				return fmt.Errorf("no function is bound to %q, %s", x.Text, x.Of)
			}
		}
	}
	return nil
}

// fault returns an error about an expression of a loop, with its position in the source.
func (l *loop) fault(x *petri.Expression, err error) error {
	return &petri.Fault{File: l.net.File, Pos: x.Pos, Msg: x.Of + ": " + err.Error()}
}

// amount reads the number of runs, or the list.
func (l *loop) amount(text []byte) (n int, list []json.RawMessage, err error) {
	if l.List.Text != "" {
		if json.Unmarshal(text, &list) != nil || list == nil {
			return 0, nil, l.fault(&l.List, fmt.Errorf("found %.40s; expected a list", text))
		}
		if len(list) > MaxEach {
			return 0, nil, l.fault(&l.List, fmt.Errorf("a list of %d elements; expected at most %d", len(list), MaxEach))
		}
		return len(list), list, nil
	}
	digits := string(text)
	_ = json.Unmarshal(text, &digits) // or it is no text
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || v < 0 || v > MaxEach || v != math.Trunc(v) {
		return 0, nil, l.fault(&l.Number, fmt.Errorf("found %.40s; expected a whole number from 0 to %d", text, MaxEach))
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

// also returns tokens and, if there are any variables, one more with them: the youngest, which
// counts.
func also(tokens []Placed, o object) []Placed {
	if len(o) == 0 {
		return tokens
	}
	return append(tokens[:len(tokens):len(tokens)], Placed{Place: -1, Token: Token{ID: math.MaxUint64, Injected: math.MaxInt64, Data: o.data()}})
}

// holds asks a condition of a loop.
func (l *loop) holds(x *petri.Expression, of Guard, tokens []Placed, now int64) (bool, error) {
	a := ask(of, tokens, now)
	if a.panicked != nil {
		return false, l.fault(x, a.panicked)
	}
	return a.OK, nil
}

// planBegin evaluates how a loop begins. tokens are those that an inscription sees.
func (s *Shard) planBegin(r *rule, tokens []Placed, now int64) (*turn, error) {
	l := r.begins
	t := &turn{loop: l, n: -1, runs: 1}
	if l.Multi() {
		x := &l.Number
		if l.List.Text != "" {
			x = &l.List
		}
		value, err := evaluate(l.funcs.Amount, false, tokens, now)
		if err != nil {
			return nil, l.fault(x, err)
		}
		if t.n, t.list, err = l.amount(value[0]); err != nil {
			return nil, err
		}
		if t.list != nil {
			t.text = value[0]
		}
		if t.runs = t.n; !l.Parallel {
			t.runs = min(t.n, 1)
		}
	} else if l.Before && l.While.Text != "" {
		again, err := l.holds(&l.While, l.funcs.While, also(tokens, l.own(0, nil)), now)
		if err != nil {
			return nil, err
		}
		if !again {
			t.runs = 0
		}
	}
	if t.runs == 0 && l.Into != "" {
		t.results = []byte("[]")
	}
	return t, s.planRuns(t, 0, tokens, now)
}

// planRuns evaluates the data of the arcs into the runs that begin, from a number on.
func (s *Shard) planRuns(t *turn, from int, tokens []Placed, now int64) error {
	if !t.varied {
		return nil
	}
	for k := range t.runs {
		seen, values := also(tokens, t.own(from+k, t.list)), make([][]byte, len(t.into))
		for j, p := range t.into {
			if p.data < 0 {
				continue
			}
			value, err := evaluate(t.data[p.data], false, seen, now)
			if err != nil {
				return fmt.Errorf("the data of the arc to place %q: %w", t.net.Places[p.place].ID, err)
			}
			values[j] = value[0]
		}
		t.values = append(t.values, values)
	}
	return nil
}

// planEnd evaluates how a run ends in a frame, and what is next. values are those of the
// inscribed arcs, and data is what an action or a call returned.
func (s *Shard) planEnd(in *instance, f *frame, r *rule, taken, read []Placed, o *outcome, now int64) (*turn, error) {
	q := f.up.loop
	t := &turn{loop: r.ends, ends: true, n: q.n, list: q.list}
	var tokens []Placed
	if t.Result.Text != "" || t.Until.Text != "" || t.While.Text != "" {
		tokens = s.inscribable(in, f, taken, read, o.data)
	}
	if t.Result.Text != "" {
		value, err := evaluate(t.funcs.Result, false, tokens, now)
		if err != nil {
			return nil, t.fault(&t.Result, err)
		}
		if t.result = value[0]; q.size+len(t.result) > MaxData {
			return nil, t.fault(&t.Result, fmt.Errorf("the results have more than %d bytes", MaxData))
		}
	}
	after := object{}
	for k, v := range o.values {
		if a := &(*r.inscribed)[k]; len(v) > 0 && !s.Tables.Encloses(t.around, s.Tables.ScopeOf(a.Place)) {
			maps.Copy(after, s.fields(v[0]))
		}
	}
	var err error
	if t.last, err = q.done(also(tokens, after), now); err != nil {
		return nil, err
	}
	if t.last && t.Into != "" {
		t.results = q.collected(f, t.result)
	}
	if t.last || t.Parallel {
		return t, nil
	}
	t.runs = 1
	if !t.varied {
		return t, nil
	}
	return t, s.planRuns(t, q.begun, also(s.outsideOf(in, f, o.data), after), now)
}

// outsideOf returns a token with what is seen outside of a run that ends, for the run after it.
func (s *Shard) outsideOf(in *instance, f *frame, data []byte) []Placed {
	seen, fields := s.seenIn(in, f.up), maps.Clone(s.fields(data))
	maps.DeleteFunc(fields, func(name string, _ json.RawMessage) bool { return s.isLocal(f.scope, name) })
	if len(fields) > 0 {
		seen = s.over(seen, fields.data())
	}
	return []Placed{{Place: -1, Token: Token{Data: seen}}}
}

// lead returns the variables of a run that its loop sets and only the expressions of the loop see,
// because the run is apart.
func (s *Shard) lead(f *frame) object {
	if f.parent() == nil || f.up.loop == nil || f.up.loop.scope != f.scope || !s.isApart(f.scope) {
		return nil
	}
	return f.up.loop.own(f.turn, f.up.loop.list)
}

// begun gives a new frame the variables of its run, if it is one of a loop.
func (s *Shard) begun(f *frame) {
	if f.up == nil || f.up.loop == nil || f.up.loop.scope != f.scope {
		return
	}
	q := f.up.loop
	f.turn = q.begun
	if !s.isApart(f.scope) {
		f.own = q.own(f.turn, q.list).data()
	}
	q.begun++
}

// done reports whether the runs of a loop are over when one ends. tokens have the variables
// after it.
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
	out := []byte{'['}
	for k := range max(q.n, q.begun) {
		if k > 0 {
			out = append(out, ',')
		}
		switch {
		case k == f.turn && last != nil:
			out = append(out, last...)
		case k < len(q.results) && q.results[k] != nil:
			out = append(out, q.results[k]...)
		default:
			out = append(out, "null"...)
		}
	}
	return append(out, ']')
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
func (s *Shard) endRun(i int, in *instance, f *frame, t *turn, now int64) {
	q := f.up.loop
	if s.logging {
		s.noteRunEnd(i, f, t)
	}
	f.ended = true
	if q.over++; t.result != nil {
		for len(q.results) <= f.turn {
			q.results = append(q.results, nil)
		}
		q.results[f.turn], q.size = t.result, q.size+len(t.result)
	}
	if !t.last {
		return
	}
	f.up.loop = nil
	for _, g := range s.opened(in) {
		if run := g.below(f.up); run == nil || run.scope != t.scope || run.ended {
			continue
		}
		for len(g.piles) > 0 {
			s.emptySpot(i, in, &g.piles, spot{g.piles[0].place, g.number}, now)
		}
	}
}

// below returns the frame, g or one around it, that is directly in an outer one; nil if g is not
// inside of that.
func (f *frame) below(outer *frame) *frame {
	for f != nil && f.up != outer {
		f = f.up
	}
	return f
}

// turnPuts adds to out what a loop puts: into runs that begin, or outside if there is none.
func (s *Shard) turnPuts(i int, in *instance, f *frame, t *turn, pass *passing) {
	up := f.parent()
	if !t.ends {
		up = s.around(f, t.into0())
		if t.runs == 0 {
			for _, p := range t.out {
				s.putNew(i, in, spot{p.place, s.aim(i, in, f, p.place, false)}, p.n, pass)
			}
			return
		}
		up = s.enter(i, in, up, t.around, false)
		up.loop = &series{loop: t.loop, n: t.n, text: t.text, list: t.list}
		if s.logging {
			s.noteLoop(i, up)
		}
	}
	for k := range t.runs {
		run := s.openFrame(i, in, up, t.scope)
		before := s.entered
		s.entered = []*frame{run}
		for j, p := range t.into {
			at := spot{p.place, s.enter(i, in, run, s.Tables.ScopeOf(p.place), false).id()}
			if p.data < 0 {
				s.putNew(i, in, at, p.n, pass)
				continue
			}
			s.out = append(s.out, held{lot{data: s.keep(in, at, t.values[k][j]), n: p.n}, at})
		}
		s.entered = before
	}
}

func (f *frame) parent() *frame {
	if f == nil {
		return nil
	}
	return f.up
}

// into0 returns a place of the scope of the runs.
func (t *turn) into0() int32 { return t.into[0].place }

// turnResults writes the list of results where a firing puts tokens outside of the activity.
func (s *Shard) turnResults(in *instance, t *turn) {
	if t.results == nil {
		return
	}
	value := object{t.Into: t.results}.data()
	for k := range s.out {
		h := &s.out[k]
		switch {
		case s.Tables.Encloses(t.around, s.Tables.ScopeOf(h.place)):
		case h.data == nil:
			h.data = s.keep(in, h.spot, value)
		default:
			h.data = s.keep(in, h.spot, s.over(h.data, value))
		}
	}
}

// turnLeaves drops what a run would put outside, after its variables are written, if other runs
// follow.
func (s *Shard) turnLeaves(o *outcome) {
	if t := o.turn; t.ends && !t.last && !o.replayed {
		s.out = slices.DeleteFunc(s.out, func(h held) bool { return !s.inLoop(t.loop, h.place) })
	}
}
