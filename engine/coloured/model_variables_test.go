// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// How the model has variables: each is looked up from scratch, frame by frame.

// modelVariable is a name in a frame.
type modelVariable struct {
	owner *modelFrame
	name  string
}

// modelWrite is variables that a firing writes, as a frame sees them.
type modelWrite struct {
	in     *modelFrame
	fields map[string]any
}

func fieldsIn(data []byte) map[string]any {
	var o map[string]any
	if json.Unmarshal(data, &o) != nil {
		return nil
	}
	return o
}

func textOf(o map[string]any) []byte {
	out, _ := json.Marshal(o)
	return out
}

func (m *model) scopeOf(f *modelFrame) petri.Scope {
	return m.net.Scopes[slices.IndexFunc(m.net.Scopes, func(s petri.Scope) bool { return s.ID == f.scope })]
}

// holder returns the frame whose variables a token of a place in a frame shows.
func (m *model) holder(f *modelFrame, place int32) *modelFrame {
	if m.net.Places[place].Data == petri.DataAround && f.up != nil {
		return f.up
	}
	return f
}

// owner returns the frame that has a variable which is seen in a frame.
func (m *model) owner(f *modelFrame, name string) *modelFrame {
	if f.up == nil || m.scopeOf(f).Apart || slices.Contains(m.scopeOf(f).Local, name) {
		return f
	}
	return m.owner(f.up, name)
}

// variables returns what a frame sees.
func (m *model) variables(f *modelFrame) map[string]any {
	all := map[string]any{}
	if f.up != nil && !m.scopeOf(f).Apart {
		all = m.variables(f.up)
	}
	maps.Copy(all, f.own)
	return all
}

// seenIn returns what a frame sees, as JSON; nil for nothing.
func (m *model) seenIn(f *modelFrame) []byte {
	if all := m.variables(f); len(all) > 0 {
		return textOf(all)
	}
	return nil
}

// view returns the data that a token shows.
func (m *model) view(k *modelToken) []byte {
	if !m.net.Shared || k.Data != nil {
		return k.Data
	}
	return m.seenIn(m.holder(k.in, k.place))
}

// context returns the innermost frame whose variables the tokens show that a transition takes.
func (m *model) context(f *modelFrame, t int) (g *modelFrame) {
	m.each(func(p int32) {
		if a := m.between(p, t); a.take > 0 || a.join {
			if h := m.holder(m.home(f, p), p); g == nil || h.within(g) {
				g = h
			}
		}
	})
	return g
}

// keep returns what a new token carries of data, and notes the variables in it.
func (m *model) keep(place int32, in *modelFrame, data []byte) []byte {
	o := fieldsIn(data)
	if !m.net.Shared || o == nil {
		return data
	}
	m.writes = append(m.writes, modelWrite{m.holder(in, place), o})
	return nil
}

// begin notes what an action or a call returned for a firing.
func (m *model) begin(f *modelFrame, t int, data []byte, puts []Put) {
	m.writes = nil
	if m.tables.Source(t) {
		m.startAfresh()
	}
	if g := m.context(f, t); g != nil && m.net.Shared && puts == nil && fieldsIn(data) != nil {
		m.writes = append(m.writes, modelWrite{g, fieldsIn(data)})
	}
}

// startAfresh forgets the variables of an instance that is at its end and begins again.
func (m *model) startAfresh() {
	if !slices.ContainsFunc(m.tokens, func(k *modelToken) bool { return !m.final(k.place) || k.run != nil }) {
		if m.frames[0].own != nil {
			m.rewritten = append(m.rewritten, m.frames[0])
		}
		m.frames[0].own = nil
	}
}

// settleWrites makes what was noted the values of variables. fresh are the frames that have opened.
func (m *model) settleWrites(fresh []*modelFrame) {
	news := map[modelVariable]any{}
	for _, w := range m.writes {
		for name, value := range w.fields {
			v := modelVariable{m.owner(w.in, name), name}
			if old, has := v.owner.own[name]; !has || !reflect.DeepEqual(old, value) {
				news[v] = value
			}
		}
	}
	for _, f := range m.frames {
		values := map[string]any{}
		if m.net.Shared && slices.Contains(fresh, f) && m.scopeOf(f).Apart && slices.ContainsFunc(m.scopeOf(f).In, func(a petri.Assignment) bool { return a.Name == "" }) {
			values = m.variables(f.up)
		}
		for v, value := range news {
			if v.owner == f {
				values[v.name] = value
			}
		}
		if len(values) == 0 {
			continue
		}
		if f.own == nil {
			f.own = map[string]any{}
		}
		maps.Copy(f.own, values)
		m.rewritten = append(m.rewritten, f)
	}
	m.writes = nil
}

// passed returns what a new token carries that a firing passes data on to. data is what an action
// or a call returned.
func (m *model) passed(f *modelFrame, t int, taken []*modelToken, data []byte, place int32, in *modelFrame) []byte {
	switch {
	case data != nil && m.net.Shared && m.context(f, t) == nil:
		return m.keep(place, in, data)
	case data != nil:
		return m.carried(data)
	}
	for _, k := range taken {
		if k.Data != nil {
			return m.keep(place, in, k.Data)
		}
	}
	return nil
}

// carried returns what a token carries of data whose variables are noted.
func (m *model) carried(data []byte) []byte {
	if m.net.Shared && fieldsIn(data) != nil {
		return nil
	}
	return data
}

// withData returns the data of a token after a call or a run returned data: in a shared net,
// variables that it does not name stay.
func (m *model) withData(k *modelToken, data []byte) []byte {
	o, given := fieldsIn(m.view(k)), fieldsIn(data)
	if !m.net.Shared || o == nil || given == nil {
		return data
	}
	maps.Copy(o, given)
	return textOf(o)
}

// rebased returns what a run returned, with the present values of what it left as it was.
func (m *model) rebased(r *modelRun, data []byte) []byte {
	o, g := fieldsIn(data), m.context(r.in, r.t)
	if o == nil || !m.net.Shared || g == nil {
		return data
	}
	for name, value := range m.variables(g) {
		if old, was := fieldsIn(r.saw)[name]; was && reflect.DeepEqual(old, o[name]) {
			o[name] = value
		}
	}
	return textOf(o)
}

// someVariables returns an expression whose value is some variables of the tokens, with a
// change.
func someVariables(salt uint32) Value {
	return func(tokens []Placed, now int64) []byte {
		value := someData(salt)(tokens, now)
		o := map[string]any{}
		for _, p := range tokens {
			for name, v := range fieldsIn(p.Token.Data) {
				o[name] = v
			}
		}
		if salt%3 > 0 {
			o[string("abcd"[salt%4])] = json.RawMessage(value)
		}
		if text := textOf(o); len(text) < 10_000 { // the model has no bound for variables in variables
			return text
		}
		return value
	}
}

// variablesOf returns the data of an event in a random shared net.
func variablesOf(r *rand.Rand) []byte {
	o := map[string]any{}
	for range 1 + r.IntN(3) {
		o[string("abcd"[r.IntN(4)])] = r.IntN(5)
	}
	if r.IntN(10) == 0 {
		return fmt.Append(nil, r.IntN(5))
	}
	return textOf(o)
}

// dataFor returns the data of tokens that are injected.
func dataFor(r *rand.Rand, s *Shard) []byte {
	if s.Tables.Net.Shared {
		return variablesOf(r)
	}
	return []byte(fmt.Sprint("x", r.IntN(9)))
}

func union(o map[string]any, name string, value any) map[string]any {
	o[name] = value
	return o
}

// randomShared returns the maker of random nets whose tokens share variables.
func randomShared(of func(*rand.Rand) (*petri.Net, []Binding)) func(*rand.Rand) (*petri.Net, []Binding) {
	return func(r *rand.Rand) (*petri.Net, []Binding) {
		n, bindings := of(r)
		n.Shared = true
		for k := range n.Scopes {
			n.Scopes[k].Apart = r.IntN(5) == 0
			for _, name := range []string{"a", "b", "c"} {
				if r.IntN(4) == 0 {
					n.Scopes[k].Local = append(n.Scopes[k].Local, name)
				}
			}
		}
		for k := range n.Places {
			n.Places[k].Data = []petri.PlaceData{petri.Variables, petri.Variables, petri.Variables, petri.Variables, petri.DataAround}[r.IntN(5)]
		}
		randomExchange(r, n, bindings)
		return n, bindings
	}
}

// On random nets whose tokens share variables, too, the machine does the same as the model.
func TestTheMachineIsTheModelWithVariables(t *testing.T) {
	for seed := range seeds.Of(20, 600, 272, 94, 180, 205, 209, 417, 266, 162, 366, 248, 544, 549, 28, 46, 128, 270, 20, 111, 115, 117, 145, 172, 269, 426, 532) {
		beside(t, seed, randomShared(randomNet))
		beside(t, seed, randomShared(randomScopedNet))
	}
}

// A firing or an injection after which the variables of any token would be too large is refused
// and changes nothing.
//
//promise:refused hostile
func TestVariablesThatWouldBeTooLargeAreRefused(t *testing.T) {
	field := func(name string, size int) []byte { return textOf(map[string]any{name: strings.Repeat("x", size)}) }
	const most, half, some = MaxData - 100, MaxData * 6 / 10, 200
	fire := func(data []byte) func(*Shard) error {
		return func(s *Shard) error { return s.Fire(0, 0, data, now0) }
	}
	puts := func(s *Shard, data ...[]byte) error {
		x, o := s.at(0, now0), &outcome{}
		for k := range data {
			o.puts = append(o.puts, Put{Place: int32(k + 1), Data: data[k]})
		}
		x.renew()
		x.hold(s.Tokens(0, 1))
		if no := x.plan(&s.instances[0].frame, 0, o, s.Tokens(0, 1), nil, true); no != nil {
			return no.err
		}
		return nil
	}
	for _, c := range []struct {
		rule, places, arcs string
		try                func(*Shard) error
	}{
		{"a token of the same run", "p beside q", "p>t t>q", fire(field("b", some))},
		{"a token around a new run", "p beside q@s", "p>t t>q", fire(field("b", some))},
		{"a token around the new run of an injection", "p beside q@s", "p>t t>q", func(s *Shard) error { return s.Inject(0, 2, field("b", some), 1, now0) }},
		{"two that are put together", "p q r", "p>t t>q t>r", func(s *Shard) error { return puts(s, field("c", half), field("d", half)) }},
		{"two that are put together into a new run", "p q@s r@s", "p>t t>q t>r", func(s *Shard) error { return puts(s, field("c", half), field("d", half)) }},
		{"one that is passed on", "p q r", "p>t t>q t>r", func(s *Shard) error { return puts(s, field("c", some)) }},
		{"one of a source", "p q", "p>u t>q", fire(field("b", some))},
		{"one of a source, in a new run", "p q@s", "p>u t>q", fire(field("b", some))},
	} {
		t.Run(c.rule, func(t *testing.T) {
			n := build(c.places, "t u", c.arcs)
			n.Shared = true
			for k := range n.Scopes {
				n.Scopes[k].Local = []string{"c", "d"}
			}
			manual := Binding{Mode: plain.Mode{Kind: plain.Manual}}
			w := newWorld(t, n, manual, manual)
			w.inject("p", string(field("a", most)))
			if strings.Contains(c.places, "beside") {
				w.inject("beside", string(field("a", most)))
			}
			w.s.Ready()
			before := w.s.AppendState(nil)
			if err := c.try(w.s); !errors.Is(err, ErrTooLarge) {
				t.Errorf("got %v, want %v", err, ErrTooLarge)
			}
			if after := w.s.AppendState(nil); !bytes.Equal(before, after) || len(w.s.Ready().Log) > 0 {
				t.Error("the refused firing changed something")
			}
		})
	}
}

// What begins an instance again that is at its end is measured without the variables that the
// instance forgets then.
func TestVariablesOfAnEndedInstanceTakeNoRoom(t *testing.T) {
	field := func(name string, size int) []byte { return textOf(map[string]any{name: strings.Repeat("x", size)}) }
	most, large := field("a", MaxData-100), field("b", MaxData-200)
	for rule, again := range map[string]func(*Shard) error{
		"an injection":                func(s *Shard) error { return s.Inject(0, 0, large, 1, now0) },
		"a source":                    func(s *Shard) error { return s.Fire(0, 0, large, now0) },
		"an injection of the same":    func(s *Shard) error { return s.Inject(0, 0, most, 1, now0) },
		"an injection into a new run": func(s *Shard) error { return s.Inject(0, 1, large, 1, now0) },
	} {
		t.Run(rule, func(t *testing.T) {
			n := build("p q@s", "source t", "source>p p>t t>q")
			n.Shared = true
			manual := Binding{Mode: plain.Mode{Kind: plain.Manual}}
			w := newWorld(t, n, manual, manual)
			w.inject("q", string(most))
			if err := again(w.s); err != nil {
				t.Fatal(err)
			}
			want := large
			if strings.HasSuffix(rule, "same") {
				want = most
			}
			for _, p := range w.s.Tokens(0, 10) {
				if !bytes.Equal(p.Token.Data, want) {
					t.Errorf("a token shows %.20s…, %d bytes; want %.20s…, %d bytes", p.Token.Data, len(p.Token.Data), want, len(want))
				}
			}
		})
	}
}

// After a take-over, a run that is handed out again has the present variables, and one answer is
// accepted; one that is not handed out again accepts none.
//
//promise:refused kill
func TestALateAnswerAfterATakeOverWritesNoVariables(t *testing.T) {
	for _, idempotent := range []bool{true, false} {
		n := build("p q r", "work other", "p>work work>q r>other other>r")
		n.Shared = true
		cfg := Config{Tables: petritest.Compile(t, n), Log: true,
			Bindings: []Binding{{Action: true, Idempotent: idempotent}, {Mode: plain.Mode{Kind: plain.Manual}}}}
		s := newShard(t, cfg)
		for _, place := range []int{0, 2} {
			if err := s.Inject(0, place, []byte(`{"a":1,"b":1}`), 1, now0); err != nil {
				t.Fatal(err)
			}
		}
		s.Step(10, now0)
		run := s.Ready().Starts[0].Run
		if err := s.Fire(0, 1, []byte(`{"a":2,"b":1}`), now0); err != nil {
			t.Fatal(err)
		}
		w := &world{t, newShard(t, cfg), now0}
		if _, err := w.s.LoadState(s.AppendState(nil)); err != nil {
			t.Fatal(err)
		}
		w.s.Resume(now0)
		want := `p: {"a":2,"b":1}; r: {"a":2,"b":1}`
		if idempotent {
			again := w.started()
			if again.Run != run || string(again.Taken[0].Token.Data) != `{"a":2,"b":1}` {
				t.Errorf("handed out %+v", again)
			}
			w.done(run, Outcome{Data: []byte(`{"a":2,"b":3}`)})
			want = `q: {"a":2,"b":3}; r: {"a":2,"b":3}`
		}
		if err := w.s.Done(run, Outcome{Data: []byte(`{"a":1,"b":4}`)}, now0); !errors.Is(err, ErrLate) {
			t.Errorf("the late answer: %v, want %v", err, ErrLate)
		}
		w.want(want)
	}
}
