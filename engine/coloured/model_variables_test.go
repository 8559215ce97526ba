// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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

// How the model shares variables: each is looked up from scratch, token by token.

// modelVariable is a name in a frame.
type modelVariable struct {
	owner *modelFrame
	name  string
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

// variable returns the variable of a name at a token; ok is false if its data is no variables.
func (m *model) variable(k *modelToken, name string) (v modelVariable, ok bool) {
	f := k.in
	if m.net.Places[k.place].Data == petri.DataAround && f.up != nil {
		f = f.up
	}
	for f.up != nil {
		s := m.net.Scopes[slices.IndexFunc(m.net.Scopes, func(s petri.Scope) bool { return s.ID == f.scope })]
		if s.Apart || slices.Contains(s.Local, name) {
			break
		}
		f = f.up
	}
	return modelVariable{f, name}, m.net.Places[k.place].Data != petri.OwnData
}

// share writes what the put tokens have and the taken ones had not into all tokens.
func (m *model) share(taken, put []*modelToken) {
	if !m.net.Shared {
		return
	}
	before, writes := map[modelVariable]any{}, map[modelVariable]any{}
	for _, k := range taken {
		for name, value := range fieldsIn(k.Data) {
			if v, ok := m.variable(k, name); ok {
				before[v] = value
			}
		}
	}
	for _, k := range put {
		for name, value := range fieldsIn(k.Data) {
			v, ok := m.variable(k, name)
			if old, was := before[v]; ok && (!was || !reflect.DeepEqual(old, value)) {
				writes[v] = value
			}
		}
	}
	for _, k := range m.tokens {
		if m.write(k, writes) && k.run == nil {
			m.touch(k)
		}
	}
	for _, r := range m.runs {
		for _, k := range r.read {
			m.write(k, writes)
		}
	}
}

func (m *model) write(k *modelToken, writes map[modelVariable]any) (changed bool) {
	o := fieldsIn(k.Data)
	if k.Data == nil {
		o = map[string]any{}
	}
	for v, value := range writes {
		at, ok := m.variable(k, v.name)
		if old, has := o[v.name]; o != nil && ok && at == v && (!has || !reflect.DeepEqual(old, value)) {
			o[v.name], changed = value, true
		}
	}
	if changed {
		k.Data = textOf(o)
	}
	return changed
}

// pass leaves out of a put token what it passes on of variables of frames inside, unless
// one around has the name.
func (m *model) pass(taken []*modelToken, k *modelToken) {
	o := fieldsIn(k.Data)
	changed := false
	for name, value := range o {
		to, ok := m.variable(k, name)
		if !m.net.Shared || !ok {
			continue
		}
		keep := false
		for _, from := range taken {
			mine, has := fieldsIn(from.Data)[name]
			switch at, _ := m.variable(from, name); {
			case !has:
			case at == to:
				value, keep = mine, true
			default:
				keep = keep || at.owner.number < to.owner.number
			}
		}
		if slices.ContainsFunc(taken, func(from *modelToken) bool {
			_, variable := m.variable(from, name)
			_, has := fieldsIn(from.Data)[name]
			return has && !variable
		}) {
			continue
		}
		if !keep {
			delete(o, name)
			changed = true
		} else if !reflect.DeepEqual(o[name], value) {
			o[name], changed = value, true
		}
	}
	if changed {
		k.Data = textOf(o)
	}
}

// withData returns the data of a token after a call or a run returned data: in a shared net,
// variables that it does not name stay.
func (m *model) withData(k *modelToken, data []byte) []byte {
	o, given := fieldsIn(k.Data), fieldsIn(data)
	if !m.net.Shared || m.net.Places[k.place].Data == petri.OwnData || o == nil || given == nil {
		return data
	}
	for name, value := range given {
		o[name] = value
	}
	return textOf(o)
}

// rebased returns what a run returned, with the present values of what it left as it was.
func (m *model) rebased(r *modelRun, data []byte) []byte {
	o := fieldsIn(data)
	if o == nil || !m.net.Shared {
		return data
	}
	before, now := map[string]any{}, map[string]any{}
	for k := range r.taken {
		for name, value := range fieldsIn(r.seen[k].Data) {
			before[name] = value
		}
		for name, value := range fieldsIn(r.taken[k].Data) {
			now[name] = value
		}
	}
	changed := false
	for name, value := range now {
		old, was := before[name]
		mine, has := o[name]
		other := !was || !reflect.DeepEqual(old, value)
		left := !was && !has || was && has && reflect.DeepEqual(old, mine)
		if other && left {
			o[name], changed = value, true
		}
	}
	if !changed {
		return data
	}
	return textOf(o)
}

// someVariables returns an inscription whose value is some variables of the tokens, with a
// change.
func someVariables(salt uint32, each bool) Inscription {
	return func(tokens []Placed, now int64) []byte {
		value := someData(salt, each)(tokens, now)
		if each {
			return value
		}
		o := map[string]any{}
		for _, p := range tokens {
			for name, v := range fieldsIn(p.Token.Data) {
				o[name] = v
			}
		}
		if salt%3 > 0 {
			o[string("abcd"[salt%4])] = json.RawMessage(value)
		}
		return textOf(o)
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
			n.Places[k].Data = []petri.PlaceData{petri.Variables, petri.Variables, petri.Variables, petri.Variables, petri.DataAround, petri.OwnData}[r.IntN(6)]
		}
		for t := range bindings {
			b := &bindings[t]
			for k := range b.Data {
				b.Data[k] = someVariables(r.Uint32(), n.Arcs[arcOf(n, t, k)].Each)
			}
		}
		return n, bindings
	}
}

// arcOf returns the index of the k-th inscribed arc of a transition.
func arcOf(n *petri.Net, t, k int) int {
	for i := range n.Arcs {
		if n.Arcs[i].Source == n.Transitions[t].ID && n.Arcs[i].Data != "" {
			if k == 0 {
				return i
			}
			k--
		}
	}
	return -1
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
func TestVariablesThatWouldBeTooLargeAreRefused(t *testing.T) {
	field := func(name string, size int) []byte { return textOf(map[string]any{name: strings.Repeat("x", size)}) }
	const most, half, some = MaxData - 100, MaxData * 6 / 10, 200
	fire := func(data []byte) func(*Shard) error {
		return func(s *Shard) error { return s.Fire(0, 0, data, now0) }
	}
	for _, c := range []struct {
		rule, places, arcs string
		inscribed          [][]byte // of the last arcs
		try                func(*Shard) error
	}{
		{"a token of the same run", "p beside q", "p>t t>q", nil, fire(field("b", some))},
		{"a token around a new run", "p beside q@s", "p>t t>q", nil, fire(field("b", some))},
		{"a token around the new run of an injection", "p beside q@s", "p>t t>q", nil, func(s *Shard) error { return s.Inject(0, 2, field("b", some), 1, now0) }},
		{"two that are put together", "p q r", "p>t t>q t>r", [][]byte{field("c", half), field("d", half)}, fire(nil)},
		{"two that are put together into a new run", "p q@s r@s", "p>t t>q t>r", [][]byte{field("c", half), field("d", half)}, fire(nil)},
		{"one that is passed on", "p q r", "p>t t>q t>r", [][]byte{field("c", some)}, fire(nil)},
	} {
		t.Run(c.rule, func(t *testing.T) {
			n := build(c.places, "t", c.arcs)
			n.Shared = true
			b := Binding{Mode: plain.Mode{Kind: plain.Manual}}
			for k, value := range c.inscribed {
				n.Arcs[len(n.Arcs)-len(c.inscribed)+k].Data = "a value"
				b.Data = append(b.Data, func([]Placed, int64) []byte { return value })
			}
			w := newWorld(t, n, b)
			w.inject("p", string(field("a", most)))
			if strings.Contains(c.places, "beside") {
				w.inject("beside", string(field("a", most)))
			}
			w.s.TakeLog()
			before := w.s.AppendState(nil)
			if err := c.try(w.s); !errors.Is(err, ErrTooLarge) {
				t.Errorf("got %v, want %v", err, ErrTooLarge)
			}
			if after := w.s.AppendState(nil); !bytes.Equal(before, after) || len(w.s.TakeLog()) > 0 {
				t.Error("the refused firing changed something")
			}
		})
	}
}

// After a take-over, a run that is handed out again has the present variables, and one answer is
// accepted; one that is not handed out again accepts none.
func TestALateAnswerAfterATakeOverWritesNoVariables(t *testing.T) {
	for _, idempotent := range []bool{true, false} {
		n := build("p q r", "work other", "p>work work>q r>other other>r")
		n.Shared = true
		cfg := Config{Tables: petritest.Compile(t, n), Log: true, Runs: true,
			Bindings: []Binding{{Action: true, Idempotent: idempotent}, {Mode: plain.Mode{Kind: plain.Manual}}}}
		s := newShard(t, cfg)
		for _, place := range []int{0, 2} {
			if err := s.Inject(0, place, []byte(`{"a":1,"b":1}`), 1, now0); err != nil {
				t.Fatal(err)
			}
		}
		s.Step(10, now0)
		run := s.Starts()[0].Run
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
