// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// What the runs of the model get and give, evaluated run by run.

// modelExchange is what a firing does to variables beside its arcs.
type modelExchange struct {
	begins string // the scope of which it begins a run; "" for none
	given  map[string]any
	gives  []modelWrite
}

func (m *model) beginOf(sc *petri.Scope) int {
	return slices.IndexFunc(m.net.Transitions, func(t petri.Transition) bool { return t.ID == sc.Begin })
}

// exchange evaluates it for a firing in a frame; ok is false if something has no value.
func (m *model) exchange(f *modelFrame, t int, c modelChoice, data []byte) (x modelExchange, ok bool) {
	id, ok := m.net.Transitions[t].ID, true
	for g := f; g.up != nil && ok; g = g.up {
		sc := m.scopeOf(g)
		if sc.End != id && !slices.Contains(sc.Leave, id) {
			continue
		}
		inside := m.variables(g)
		maps.Copy(inside, fieldsIn(data))
		for _, w := range x.gives {
			for name, value := range w.fields {
				if g.within(m.owner(w.in, name)) {
					inside[name] = value
				}
			}
		}
		seen := inside
		if sc.Apart {
			seen = m.variables(g.up)
			maps.Copy(seen, inside)
		}
		token := Placed{Place: -1}
		if len(c.taken) > 0 {
			token.Place, token.Token = c.taken[0].place, c.taken[0].Token
		}
		token.Token.Data = nil
		if len(seen) > 0 {
			token.Token.Data = textOf(seen)
		}
		var given map[string]any
		given, ok = m.assigned(&sc, sc.Out, m.bindings[m.beginOf(&sc)].Scope.Out, inside, []Placed{token}, true, sc.End != id)
		x.gives = append(x.gives, modelWrite{g.up, given})
	}
	for k := range m.net.Scopes {
		if sc := &m.net.Scopes[k]; sc.Begin == id && ok {
			of := m.variables(f)
			maps.Copy(of, fieldsIn(data))
			tokens := modelChoice{savedTokens(c.taken), c.read}
			for _, k := range tokens.taken {
				if data != nil {
					k.Data = m.withData(k, data)
				}
			}
			x.begins = sc.ID
			x.given, ok = m.assigned(sc, sc.In, m.bindings[t].Scope.In, of, m.seen(tokens), false, false)
		}
	}
	return x, ok
}

func (m *model) assigned(sc *petri.Scope, list []petri.Assignment, funcs []Value, of map[string]any, tokens []Placed, out, leaves bool) (map[string]any, bool) {
	given, seen := map[string]any{}, map[string]any{}
	for k, a := range list {
		var value any
		switch {
		case leaves && !a.Leaves && !a.Inner, a.Name == "" && !out:
			continue
		case a.Name == "":
			for name, v := range of {
				if !slices.Contains(sc.Local, name) {
					given[name] = v
				}
			}
			continue
		case a.Source != "":
			value = of[a.Source]
		default:
			all := slices.Clone(tokens)
			if len(seen) > 0 {
				all = append(all, Placed{Place: -1, Token: Token{ID: math.MaxUint64, Injected: math.MaxInt64, Data: textOf(seen)}})
			}
			text, err := evaluate(funcs[k], all, m.now)
			if err != nil {
				return nil, false
			}
			_ = json.Unmarshal(text, &value)
		}
		seen[a.Name] = value
		if !a.Inner {
			given[a.Name] = value
		}
	}
	return given, true
}

// randomExchange makes runs of the scopes of a random net get and give variables.
func randomExchange(r *rand.Rand, n *petri.Net, bindings []Binding) {
	tables, err := petri.Compile(n)
	if err != nil {
		panic(err)
	}
	some := func(apart, out bool) (list []petri.Assignment, funcs []Value) {
		if apart && r.IntN(3) > 0 {
			list, funcs = append(list, petri.Assignment{Leaves: out && r.IntN(2) == 0}), append(funcs, nil)
		}
		for range r.IntN(3) {
			a, f := petri.Assignment{Name: string("abcd"[r.IntN(4)]), Leaves: out && r.IntN(2) == 0, Inner: out && r.IntN(4) == 0}, Value(nil)
			if r.IntN(2) == 0 {
				a.Source = string("abcd"[r.IntN(4)])
			} else {
				a.Value, f = petri.Expression{Text: "some", Of: "some"}, someVariables(r.Uint32())
			}
			list, funcs = append(list, a), append(funcs, f)
		}
		return list, funcs
	}
	used := map[int]bool{}
	pick := func(of func(t int) bool) int {
		for t := range n.Transitions {
			if !used[t] && of(t) {
				used[t] = true
				return t
			}
		}
		return -1
	}
	for k := range n.Scopes {
		sc, scope := &n.Scopes[k], int32(k)+1
		inside := func(place int32) bool { return tables.Encloses(scope, tables.ScopeOf(place)) }
		begin := pick(func(t int) bool {
			return !tables.Encloses(scope, tables.ActsIn(t)) && tables.Encloses(tables.ActsIn(t), scope) &&
				slices.ContainsFunc(tables.Effects(t), func(e petri.Effect) bool { return e.Put > 0 && inside(e.Place) })
		})
		end := pick(func(t int) bool { return tables.ActsIn(t) == scope })
		if begin < 0 || end < 0 {
			if sc.Apart && r.IntN(2) == 0 {
				sc.In = []petri.Assignment{{}}
			}
			continue
		}
		sc.Begin, sc.End = n.Transitions[begin].ID, n.Transitions[end].ID
		f := &ScopeFuncs{}
		sc.In, f.In = some(sc.Apart, false)
		sc.Out, f.Out = some(sc.Apart, true)
		for t := range n.Transitions {
			if t != end && tables.Encloses(scope, tables.ActsIn(t)) && r.IntN(3) == 0 {
				sc.Leave = append(sc.Leave, n.Transitions[t].ID)
			}
		}
		bindings[begin].Scope = f
	}
}
