// SPDX-License-Identifier: Apache-2.0

package feel

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pnagent/pnagent/engine/guard/scan"
)

// context takes {name: value, …}. An entry sees those before it.
func (p *parser) context() node {
	p.Expect("{")
	defer p.bind()()
	var keys []string
	var values []node
	for !p.Sign("}") {
		if len(keys) > 0 {
			p.Expect(",")
		}
		p.Skip()
		at := p.Pos
		var key string
		if p.Is(`"`) {
			key = p.str()
		} else {
			key = p.key()
		}
		if slices.Contains(keys, key) {
			p.Fail(at, "a second entry %s; expected each once", scan.Quote(key))
		}
		p.Expect(":")
		keys, values = append(keys, key), append(values, p.expression())
		p.bound = append(p.bound, key)
	}
	return func(r *run) any {
		r.spend(1 + len(keys))
		c := NewContext()
		defer r.open(c.Get)()
		for i, k := range keys {
			c.Set(k, values[i](r))
		}
		return c
	}
}

// key takes the name of an entry, which may have any signs but a colon.
func (p *parser) key() string {
	at := p.Pos
	first, _ := utf8.DecodeRuneInString(p.Text[at:])
	end := strings.IndexAny(p.Text[at:], ":,{}()[]\"")
	if !nameStart(first) || end < 0 || p.Text[at+end] != ':' {
		p.Unexpected("the name of an entry")
	}
	p.Pos += end
	return strings.Join(strings.Fields(p.Text[at:p.Pos]), " ")
}

// sources takes what for, some and every iterate over. It returns a function that
// calls its argument with every combination, until that returns false.
func (p *parser) sources() func(r *run, body func() bool) bool {
	type source struct {
		name     string
		from, to node
	}
	var all []source
	for len(all) == 0 || p.Sign(",") {
		s := source{name: p.name()}
		p.expectWord("in")
		s.from = p.expression()
		if p.Sign("..") {
			s.to = p.expression()
		}
		all = append(all, s)
		p.bound = append(p.bound, s.name)
	}
	return func(r *run, body func() bool) bool {
		var nest func(i int) bool
		nest = func(i int) bool {
			if i == len(all) {
				return body()
			}
			s := all[i]
			v := s.from(r)
			if s.to != nil {
				v = &Range{Low: v, High: s.to(r), LowIncluded: true, HighIncluded: true, counts: true}
			}
			return r.each(v, func(item any) bool {
				defer r.open(func(name string) (any, bool) { return item, name == s.name })()
				return nest(i + 1)
			})
		}
		return nest(0)
	}
}

func (p *parser) loop() node {
	p.expectWord("for")
	defer p.bind("partial")()
	each := p.sources()
	p.expectWord("return")
	body := p.expression()
	return func(r *run) any {
		out := []any{}
		defer r.open(func(name string) (any, bool) { return slices.Clip(out), name == "partial" })()
		if !each(r, func() bool { r.spend(1); out = append(out, body(r)); return true }) {
			return nil
		}
		return out
	}
}

func (p *parser) quantified(w string) node {
	p.expectWord(w)
	defer p.bind()()
	each := p.sources()
	p.expectWord("satisfies")
	cond := p.expression()
	decides := w == "some"
	return func(r *run) any {
		var out any = !decides
		if !each(r, func() bool {
			switch v := cond(r); {
			case v == decides:
				out = decides
				return true
			case v != !decides && out != decides:
				out = nil
			}
			return true
		}) {
			return nil
		}
		return out
	}
}

// function takes the definition of a function.
func (p *parser) function() node {
	p.expectWord("function")
	p.Expect("(")
	defer p.bind()()
	f := Function{}
	for !p.Sign(")") {
		if len(f.params) > 0 {
			p.Expect(",")
		}
		name := p.name()
		var t *typ
		if p.Sign(":") {
			t = p.typeName()
		}
		f.params, f.types = append(f.params, name), append(f.types, t)
	}
	p.bound = append(p.bound, f.params...)
	if p.keyword("external") {
		p.Fail(p.Pos, "an external function; expected one in FEEL")
	}
	body := p.expression()
	return func(r *run) any {
		g := f
		g.body, g.scope = body, r.scope
		return &g
	}
}

// arguments of a call.
type arguments struct {
	values []node
	names  []string
}

func (a arguments) evaluate(r *run) []any {
	out := make([]any, len(a.values))
	for i, n := range a.values {
		out[i] = n(r)
	}
	return out
}

func (p *parser) arguments() arguments {
	p.Expect("(")
	var a arguments
	for !p.Sign(")") {
		if len(a.values) > 0 {
			p.Expect(",")
		}
		at := p.Pos
		p.Skip()
		if name, to := p.words(); name != "" {
			p.Pos = to
			if p.Sign(":") {
				a.names = append(a.names, name)
			} else {
				p.Pos = at
			}
		}
		a.values = append(a.values, p.expression())
		if len(a.names) > 0 && len(a.names) < len(a.values) {
			p.Fail(at, "an argument without a name beside one with a name; expected one kind")
		}
	}
	return a
}

// builtin takes the arguments of a function of FEEL.
func (p *parser) builtin(at int, name string) node {
	f, ok := functions[name]
	if !ok {
		p.Fail(at, "unknown function %s", scan.Quote(name))
	}
	if name == "now" || name == "today" {
		p.Reads("now()")
	}
	a := p.arguments()
	if len(a.names) > 0 {
		a = p.inOrder(at, name, f, a)
	}
	n := len(a.values)
	if !f.takes(n) {
		p.Fail(at, "%d arguments of %s; expected %s", n, name, f.expected())
	}
	return func(r *run) any {
		args := a.evaluate(r)
		r.spend(2 + len(args))
		return f.call(r, args)
	}
}

// inOrder sorts named arguments by the parameters of a function.
func (p *parser) inOrder(at int, name string, f *builtin, a arguments) arguments {
	for _, params := range f.params() {
		out := arguments{}
		used := 0
		for _, param := range params {
			i := slices.Index(a.names, param)
			if i < 0 {
				out.values = append(out.values, nil)
				continue
			}
			out.values, used = append(out.values, a.values[i]), used+1
		}
		for len(out.values) > 0 && out.values[len(out.values)-1] == nil {
			out.values = out.values[:len(out.values)-1]
		}
		for i, n := range out.values {
			if n == nil && f.gaps && i > 0 {
				out.values[i] = func(*run) any { return nil }
			}
		}
		if used == len(a.names) && !slices.ContainsFunc(out.values, func(n node) bool { return n == nil }) {
			return out
		}
	}
	p.Fail(at, "the names %s of arguments of %s; expected %s", strings.Join(a.names, ", "), name, f.expected())
	return a
}
