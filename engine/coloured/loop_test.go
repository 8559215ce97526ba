// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// loopNet is a net with one activity that runs several times: begin takes a token of from. A run
// has two steps, half and end, and what it kept remains in the run. stop ends the activity from outside.
func loopNet(l petri.Loop) *petri.Net {
	n := build("from active@w run@w.e more@w.e kept@w.e to gone other", "begin half end stop write",
		"from>begin begin>active begin>run run>half half>more more>end active~end active#end end>to end>kept active>stop run#stop more#stop stop>gone other>write write>other")
	n.Shared = true
	for k := range n.Scopes {
		if n.Scopes[k].ID == "w.e" {
			n.Scopes[k].Loop, n.Scopes[k].Local, n.Scopes[k].Begin, n.Scopes[k].End = &l, []string{"loopCounter", "x"}, "begin", "end"
		}
	}
	return n
}

// slowLoop is the activity in the slow model: everything is looked up where it is.
type slowLoop struct {
	l       petri.Loop
	vars    map[string]any // of the instance
	begun   bool
	active  bool
	n       int // planned, -1 if unknown
	list    []any
	runs    []*slowRun // in the order of beginning
	results []any
	until   int // the runs after which it is enough; 0 for none
	again   int // of a standard loop: how often it continues
	to      int // tokens that have arrived
	gone    int
}

type slowRun struct {
	k          int
	own        map[string]any
	half, over bool // the first step is done; the run is over
	ended      bool // by itself
}

func (m *slowLoop) begin() {
	m.begun, m.active, m.n = true, true, -1
	if m.l.Multi() {
		m.n = len(m.list)
		if m.l.Number.Text != "" {
			m.n = int(m.vars["n"].(float64))
		}
	}
	first := 1
	switch {
	case m.l.Parallel:
		first = m.n
	case m.n == 0, m.l.Before && m.again == 0:
		first = 0
	}
	for range first {
		m.open()
	}
	if first == 0 {
		m.finish()
	}
}

func (m *slowLoop) open() {
	r := &slowRun{k: len(m.runs), own: map[string]any{"loopCounter": float64(m.l.First + len(m.runs))}}
	if m.l.Element != "" && r.k < len(m.list) {
		r.own["x"] = m.list[r.k]
	}
	m.runs = append(m.runs, r)
}

func (m *slowLoop) finish() {
	m.active = false
	m.to++
	for _, r := range m.runs {
		r.over = true
	}
	if m.l.Into != "" {
		all := make([]any, max(m.n, len(m.runs)))
		copy(all, m.results)
		m.vars[m.l.Into] = all
	}
}

// write is what a firing in a run, or outside if r is nil, writes.
func (m *slowLoop) write(r *slowRun, data map[string]any) {
	for name, value := range data {
		if r != nil && (name == "x" || name == "loopCounter") {
			r.own[name] = value
		} else {
			m.vars[name] = value
		}
	}
}

func (m *slowLoop) end(r *slowRun) {
	r.over, r.ended = true, true
	ended := 0
	for _, x := range m.runs {
		if x.ended {
			ended++
		}
	}
	for len(m.results) <= r.k {
		m.results = append(m.results, nil)
	}
	m.results[r.k] = r.own["loopCounter"]
	switch {
	case m.n >= 0 && ended == m.n, m.until > 0 && ended >= m.until, m.n < 0 && ended > m.again, m.l.Most > 0 && ended == int(m.l.Most):
		m.finish()
	case !m.l.Parallel:
		m.open()
	}
}

// view is what a token of a run shows, or one outside if r is nil.
func (m *slowLoop) view(r *slowRun) string {
	all := maps.Clone(m.vars)
	if r != nil {
		maps.Copy(all, r.own)
	}
	return string(textOf(all))
}

// tokens are all tokens, each with its place and data, sorted.
func (m *slowLoop) tokens() (out []string) {
	add := func(place string, r *slowRun) { out = append(out, place+" "+m.view(r)) }
	add("other", nil)
	if !m.begun {
		add("from", nil)
	}
	for range m.to {
		add("to", nil)
	}
	for range m.gone {
		add("gone", nil)
	}
	if m.active {
		add("active", nil)
	}
	for _, r := range m.runs {
		switch {
		case r.ended:
			add("kept", r)
		case r.over:
		case r.half:
			add("more", r)
		default:
			add("run", r)
		}
	}
	slices.Sort(out)
	return out
}

// loopWorld is a machine beside the slow model.
type loopWorld struct {
	*testing.T
	r      *rand.Rand
	m      *slowLoop
	cfg    Config
	s      *Shard
	replay *Shard // follows the log of s
	now    int64
}

// fieldOf returns a field of the youngest token.
func fieldOf(tokens []Placed, name string) any {
	return fieldsIn(tokens[len(tokens)-1].Token.Data)[name]
}

func newLoopWorld(t *testing.T, seed uint64) *loopWorld {
	r := rand.New(rand.NewPCG(33, seed))
	some := petri.Expression{Text: "some", Of: "some"}
	l, f := petri.Loop{}, &ScopeFuncs{}
	m := &slowLoop{vars: map[string]any{"a": 0.0}}
	if r.IntN(4) > 0 {
		l.Parallel, l.First = r.IntN(2) == 0, r.IntN(2)
		if r.IntN(2) == 0 {
			l.Number, m.vars["n"] = some, float64(r.IntN(5))
			f.Amount = func(tokens []Placed, _ int64) []byte { return fmt.Append(nil, fieldOf(tokens, "n")) }
		} else {
			l.List, l.Element = some, "x"
			for k := range r.IntN(5) {
				m.list = append(m.list, fmt.Sprint("e", k))
			}
			text, _ := json.Marshal(append([]any{}, m.list...))
			f.Amount = func([]Placed, int64) []byte { return text }
		}
		if m.until = r.IntN(4); m.until > 0 {
			l.Until = some
			f.Until = func(tokens []Placed, _ int64) Verdict {
				return Verdict{OK: fieldOf(tokens, petri.LoopEnded).(float64) >= float64(m.until)}
			}
		}
		if r.IntN(2) == 0 {
			l.Into, l.Result = "all", some
			f.Result = func(tokens []Placed, _ int64) []byte { return fmt.Append(nil, fieldOf(tokens, "loopCounter")) }
		}
	} else {
		l.While, l.Before, m.again = some, r.IntN(2) == 0, r.IntN(4)
		f.While = func([]Placed, int64) Verdict {
			if len(m.runs) == 0 || !m.active {
				return Verdict{OK: m.again > 0}
			}
			ended := 0
			for _, x := range m.runs {
				if x.ended {
					ended++
				}
			}
			return Verdict{OK: ended < m.again}
		}
		l.Most = uint32(r.IntN(3))
	}
	m.l = l
	n := loopNet(l)
	byHand := Binding{Mode: plain.Mode{Kind: plain.Manual}}
	bindings := []Binding{byHand, byHand, byHand, byHand, byHand}
	bindings[0].Scope = f
	cfg := Config{Tables: petritest.Compile(t, n), Bindings: bindings, Log: true}
	w := &loopWorld{t, r, m, cfg, newShard(t, cfg), newShard(t, cfg), now0}
	for _, place := range []string{"from", "other"} {
		p, _ := cfg.Tables.PlaceIndex(place)
		if err := w.s.Inject(0, p, textOf(m.vars), 1, w.now); err != nil {
			t.Fatal(err)
		}
	}
	w.compare()
	return w
}

// someWrites returns what a call writes; nil for nothing.
func (w *loopWorld) someWrites() map[string]any {
	o := map[string]any{}
	for _, name := range []string{"a", "b", "x", "loopCounter"} {
		if w.r.IntN(4) == 0 {
			o[name] = float64(w.r.IntN(9))
		}
	}
	if len(o) == 0 {
		return nil
	}
	return o
}

// fire fires a transition, in the run of a token of a place if that is given.
func (w *loopWorld) fire(id string, scope uint32, data map[string]any) {
	w.Helper()
	t, _ := w.cfg.Tables.TransitionIndex(id)
	var text []byte
	if data != nil {
		text = textOf(data)
	}
	var err error
	if scope == 0 {
		err = w.s.Fire(0, t, text, w.now)
	} else {
		err = w.s.FireIn(0, t, scope, text, w.now)
	}
	if err != nil {
		w.Fatalf("%s in run %d: %v", id, scope, err)
	}
}

// happens makes one thing happen to both.
func (w *loopWorld) happens() {
	open := slices.DeleteFunc(slices.Clone(w.m.runs), func(r *slowRun) bool { return r.over })
	switch k := w.r.IntN(12); {
	case !w.m.begun:
		data := w.someWrites()
		w.m.write(nil, data)
		w.m.begin()
		if len(w.m.runs) == 0 && w.m.l.Into != "" {
			w.m.vars[w.m.l.Into] = []any{}
		}
		w.beginMachine(data)
	case k == 0:
		data := w.someWrites()
		w.m.write(nil, data)
		w.fire("write", 0, data)
	case k == 1 && w.m.active && w.r.IntN(3) == 0:
		data := w.someWrites()
		delete(data, "x")
		delete(data, "loopCounter")
		w.m.write(nil, data)
		w.m.active = false
		w.m.gone++
		for _, r := range w.m.runs {
			r.over = true
		}
		w.fire("stop", 0, data)
	case len(open) > 0:
		r, data := open[w.r.IntN(len(open))], w.someWrites()
		scope, id := w.runOf(r), "half"
		w.m.write(r, data)
		if r.half {
			id = "end"
		}
		w.fire(id, scope, data)
		if r.half {
			w.m.end(r)
		}
		r.half = true
	}
}

// beginMachine fires begin. Its functions see the model as it was before.
func (w *loopWorld) beginMachine(data map[string]any) {
	was := *w.m
	w.m.active, w.m.runs = false, nil
	w.fire("begin", 0, data)
	*w.m = was
}

// runOf returns the number of the run of the machine that is one of the model: the runs of the
// machine have ascending numbers.
func (w *loopWorld) runOf(r *slowRun) uint32 {
	var all []uint32
	for _, f := range w.s.opened(&w.s.instances[0]) {
		if f.scope == w.s.Tables.ScopeOf(int32(w.placeOf("run"))) && f.turn == r.k {
			all = append(all, f.number)
		}
	}
	if len(all) != 1 {
		w.Fatalf("the runs %v of the machine are run %d of the model", all, r.k)
	}
	return all[0]
}

func (w *loopWorld) placeOf(id string) int {
	p, _ := w.cfg.Tables.PlaceIndex(id)
	return p
}

// compare compares the tokens, and the state with those after a replay and after a restart.
func (w *loopWorld) compare() {
	w.Helper()
	for w.s.Step(100, w.now) > 0 {
	}
	var got []string
	for _, p := range w.s.Tokens(0, 1000) {
		got = append(got, w.cfg.Tables.Net.Places[p.Place].ID+" "+string(textOf(fieldsIn(p.Token.Data))))
	}
	slices.Sort(got)
	if want := w.m.tokens(); !slices.Equal(got, want) {
		w.Fatalf("the tokens are\n%s\nthe model has\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	state := w.s.AppendState(nil)
	if err := w.replay.Replay(w.s.Ready().Log, w.now); err != nil {
		w.Fatal(err)
	}
	if !bytes.Equal(w.replay.AppendState(nil), state) {
		w.Fatal("the replay has another state")
	}
	loaded := newShard(w.T, w.cfg)
	if _, err := loaded.LoadState(state); err != nil {
		w.Fatal(err)
	}
	if !bytes.Equal(loaded.AppendState(nil), state) {
		w.Fatal("the state that is read is another one")
	}
	if w.r.IntN(4) == 0 { // it continues after a restart
		loaded.Resume(w.now)
		loaded.Ready()
		w.s = loaded
	}
}

// Random loops do what the slow model does, in any order, with any writes; so do a replay of
// the log and a restart at each step.
func TestLoopsAreThoseOfTheModel(t *testing.T) {
	ended, runs := 0, 0
	n := uint64(0)
	for seed := range seeds.Of(60, 3000) {
		n++
		w := newLoopWorld(t, seed)
		for range 40 {
			w.now += w.r.Int64N(100)
			w.happens()
			w.compare()
		}
		ended, runs = ended+w.m.to, runs+len(w.m.runs)
	}
	if n > 1 && (uint64(ended) < n/2 || uint64(runs) < n) {
		t.Errorf("%d of %d loops ended, with %d runs", ended, n, runs)
	}
}

// An element of a list with which the variables of its run would be too large is refused, and changes
// nothing. One that just fits is in the state.
func TestAnElementIsBoundedByTheVariablesOfItsRun(t *testing.T) {
	for _, fits := range []bool{true, false} {
		size := MaxData - 20
		if fits {
			size -= 20
		}
		list := []byte(`["` + strings.Repeat("e", size) + `"]`)
		n := loopNet(petri.Loop{Parallel: true, List: petri.Expression{Text: "list", Of: "list"}, Element: "x"})
		manual := plain.Mode{Kind: plain.Manual}
		bindings := []Binding{{Mode: manual, Scope: &ScopeFuncs{Amount: func([]Placed, int64) []byte { return list }}}, {Mode: manual}, {Mode: manual}, {Mode: manual}, {Mode: manual}}
		w := newWorld(t, n, bindings...)
		w.inject("from", "{}")
		before := w.s.AppendState(nil)
		err := w.s.Fire(0, 0, nil, w.now)
		after := w.s.AppendState(nil)
		if fits != (err == nil) || !fits && !errors.Is(err, ErrTooLarge) || fits == bytes.Equal(before, after) {
			t.Errorf("an element of %d bytes: %v; the state has %d and then %d bytes", size, err, len(before), len(after))
		}
		again := newShard(t, Config{Tables: petritest.Compile(t, n), Bindings: bindings})
		if _, err := again.LoadState(after); err != nil || !bytes.Equal(again.AppendState(nil), after) {
			t.Errorf("the state with an element of %d bytes is another one, %v", size, err)
		}
	}
}
