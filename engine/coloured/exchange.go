// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// Value returns the value of an expression of a scope, as JSON. It gets the tokens that a guard gets; those
// that were taken have the data that an action or a call returned for the new tokens, if any. The rules for a
// Guard hold for it, too. A panic is an incident of the transition, see Binding.Retry.
type Value func(tokens []Placed, now int64) []byte

// evaluate calls a user's function, which may panic.
func evaluate(what Value, tokens []Placed, now int64) (value []byte, err error) {
	defer caught(&err)
	value = what(tokens, now)
	if len(value) > MaxData {
		return nil, fmt.Errorf("%w, not %d", ErrTooLarge, len(value))
	}
	return value, nil
}

// ScopeFuncs are the functions for the expressions of a petri.Scope, in the binding of its Begin.
// One is nil if there is no such expression.
type ScopeFuncs struct {
	In, Out []Value // in the order of the scope's; see petri.Assignment

	Amount       Value // the number of runs, or the list, of a multi-instance activity
	Until, While Guard
	Result       Value
}

// exchange is what the runs of a scope get or give.
type exchange struct {
	scope  int32
	list   []petri.Assignment
	values []Value // of list; those of copies are not used
	takes  func(*petri.Assignment) bool
}

// compileScopes fills in what rules do when they begin and end runs, and when something leaves one.
func (s *Shard) compileScopes() {
	t := s.Tables
	for tr := range s.rules {
		k := t.Begins(tr)
		if k == 0 {
			continue
		}
		sc, funcs := &t.Net.Scopes[k-1], cmp.Or(s.rules[tr].Scope, &ScopeFuncs{})
		end, _ := t.TransitionIndex(sc.End) // the net is valid
		named := func(a *petri.Assignment) bool { return a.Name != "" }
		if slices.ContainsFunc(sc.In, func(a petri.Assignment) bool { return named(&a) }) {
			s.rules[tr].in = &exchange{k, sc.In, funcs.In, named}
			s.rules[tr].evaluates()
		}
		s.gives(end, &exchange{k, sc.Out, funcs.Out, func(*petri.Assignment) bool { return true }})
		for _, id := range sc.Leave {
			tr, _ := t.TransitionIndex(id)
			s.gives(tr, &exchange{k, sc.Out, funcs.Out, func(a *petri.Assignment) bool { return a.Leaves || a.Inner }})
		}
		if sc.Loop != nil {
			s.compileLoop(sc, k, tr, end, funcs)
		}
	}
}

// gives makes a rule write what runs give, of the innermost scope first.
func (s *Shard) gives(tr int, x *exchange) {
	if !slices.ContainsFunc(x.list, func(a petri.Assignment) bool { return x.takes(&a) }) {
		return
	}
	r := &s.rules[tr]
	k := 0
	for k < len(r.outs) && s.Tables.Encloses(x.scope, r.outs[k].scope) {
		k++
	}
	r.outs = slices.Insert(r.outs, k, x)
	r.evaluates()
}

// evaluates makes a rule evaluate something before it fires.
func (r *rule) evaluates() { r.values, r.oldest = true, false }

// checkScope reports which functions are missing for the scope that a transition begins.
func (b *Binding) checkScope(t *petri.Tables, tr int, fault report) {
	k := t.Begins(tr)
	if k == 0 {
		return
	}
	sc, f := &t.Net.Scopes[k-1], cmp.Or(b.Scope, &ScopeFuncs{})
	check := func(x *petri.Expression, bound bool) {
		fault(x.Text != "" && !bound, "no function is bound to %q, %s", x.Text, x.Of)
	}
	for k := range sc.In {
		check(&sc.In[k].Value, k < len(f.In) && f.In[k] != nil)
	}
	for k := range sc.Out {
		check(&sc.Out[k].Value, k < len(f.Out) && f.Out[k] != nil)
	}
	if l := sc.Loop; l != nil {
		check(&l.Number, f.Amount != nil)
		check(&l.List, f.Amount != nil)
		check(&l.Until, f.Until != nil)
		check(&l.While, f.While != nil)
		check(&l.Result, f.Result != nil)
	}
}

// at returns an error about an expression of a net, with its position in the source.
func at(n *petri.Net, x *petri.Expression, err error) error {
	return &petri.Fault{File: n.File, Pos: x.Pos, Msg: x.Of + ": " + err.Error()}
}

// assign returns the variables that a run gets or gives. Copies are of the first of some objects that
// has the variable. Expressions see tokens, and over these the variables of a loop.
func (s *scopes) assign(x *exchange, of []object, tokens []Placed, lead object, now int64) (object, error) {
	given, seen, size := object{}, object{}, 0
	maps.Copy(seen, lead)
	for k := range x.list {
		a := &x.list[k]
		if !x.takes(a) {
			continue
		}
		if a.Name == "" {
			maps.Copy(given, of[0])
			for _, name := range s.tables.Net.Scopes[x.scope-1].Local {
				delete(given, name)
			}
			continue
		}
		value := json.RawMessage("null")
		if a.Value.Text != "" {
			var err error
			if value, err = evaluate(x.values[k], also(tokens, seen), now); err != nil {
				return nil, at(s.tables.Net, &a.Value, err)
			}
		} else if k := slices.IndexFunc(of, func(o object) bool { return o[a.Source] != nil }); k >= 0 {
			value = of[k][a.Source]
		}
		size += len(value)
		if size > MaxData {
			return nil, fmt.Errorf("the variables that a run of scope %q exchanges: %w", s.tables.Net.Scopes[x.scope-1].ID, ErrTooLarge)
		}
		seen[a.Name] = value
		if !a.Inner {
			given[a.Name] = value
		}
	}
	return given, nil
}

// valued evaluates what a firing in a frame does to runs of scopes, and what these get and give. It
// returns an error if a function panics or its result does not fit.
func (x *change) valued(f *frame, r *rule, o *outcome, taken, read []Placed) error {
	err := x.give(f, r, taken, o)
	switch {
	case err != nil:
	case r.begins != nil:
		o.turn, err = x.planBegin(f, r, x.visible(f, taken, read, o.data), o)
	case r.in != nil: // what the run gets that it begins
		seen := x.s.fields(x.s.renewedIn(f, o.data))
		o.given = make([]object, 1)
		o.given[0], err = x.s.assign(r.in, []object{seen}, x.visible(f, taken, read, o.data), nil, x.now)
	case r.ends != nil && f.up.loop != nil:
		o.turn, err = x.planEnd(f, taken, read, o)
	}
	return err
}

// visible returns the tokens that a Value sees.
func (x *change) visible(f *frame, taken, read []Placed, data []byte) []Placed {
	tokens := slices.Concat(x.s.with(x.in, taken, data), x.s.seen(x.in, read))
	slices.SortStableFunc(tokens, func(a, b Placed) int { return cmp.Compare(a.Place, b.Place) })
	return also(tokens, x.s.lead(f))
}

// renewedIn returns what is seen in a run after an action or a call returned data.
func (s *scopes) renewedIn(f *frame, data []byte) []byte {
	seen := s.seenIn(f)
	if s.fields(data) == nil {
		return seen
	}
	return s.over(seen, data)
}

// give evaluates what runs give that a firing in a frame ends, or that something leaves with it. It
// is written in the runs around.
func (x *change) give(f *frame, r *rule, taken []Placed, o *outcome) error {
	for _, e := range r.outs {
		g := f
		for g.scope != e.scope {
			g = g.up
		}
		inside, news := x.s.renewedIn(g, o.data), object{}
		for _, w := range o.writes {
			for name, value := range w.fields {
				if g.within(x.s.owner(w.f, name)) {
					news[name] = value
				}
			}
		}
		if len(news) > 0 {
			inside = x.s.over(inside, news.data())
		}
		token := Placed{Place: -1, Token: Token{Data: inside}}
		if len(taken) > 0 {
			token.Place, token.Token.ID, token.Token.Injected = taken[0].Place, taken[0].Token.ID, taken[0].Token.Injected
		}
		if x.s.isApart(g.scope) {
			token.Token.Data = x.s.over(x.s.seenIn(g.up), inside)
		}
		fields, err := x.s.assign(e, []object{x.s.fields(inside)}, []Placed{token}, x.s.lead(g), x.now)
		if err != nil {
			return err
		}
		o.writes = append(o.writes, write{g.up, fields})
	}
	return nil
}
