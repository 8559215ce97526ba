// SPDX-License-Identifier: Apache-2.0

package feel

import (
	"slices"
	"strings"
)

// typ is a type of FEEL.
type typ struct {
	name   string
	of     *typ // of list and range
	keys   []string
	fields []*typ // of context
	params int    // of function; -1 if any
}

var typeNames = []string{"days and time duration", "years and months duration", "date and time", "day time duration", "year month duration",
	"number", "string", "boolean", "date", "time", "list", "context", "range", "function", "Any", "Null", "any", "null"}

func (p *parser) typeName() *typ {
	defer p.Enter()()
	p.Skip()
	for _, n := range typeNames {
		to := p.spelt(n)
		if to < 0 {
			continue
		}
		p.Pos = to
		t := &typ{name: n, params: -1}
		switch n {
		case "day time duration":
			t.name = "days and time duration"
		case "year month duration":
			t.name = "years and months duration"
		case "any", "null":
			t.name = strings.ToUpper(n[:1]) + n[1:]
		case "list", "range":
			p.typeArgument(t)
		case "context":
			p.contextType(t)
		case "function":
			p.functionType(t)
		}
		return t
	}
	p.Unexpected("a type")
	return nil
}

func (p *parser) typeArgument(t *typ) {
	if p.Sign("<") {
		t.of = p.typeName()
		p.Expect(">")
	}
}

func (p *parser) contextType(t *typ) {
	if !p.Sign("<") {
		return
	}
	for !p.Sign(">") {
		if len(t.keys) > 0 {
			p.Expect(",")
		}
		p.Skip()
		t.keys = append(t.keys, p.key())
		p.Expect(":")
		t.fields = append(t.fields, p.typeName())
	}
}

func (p *parser) functionType(t *typ) {
	if !p.Sign("<") {
		return
	}
	for t.params = 0; !p.Sign(">"); t.params++ {
		if t.params > 0 {
			p.Expect(",")
		}
		p.typeName()
	}
	p.Expect("->")
	t.of = p.typeName()
}

// has reports whether a value has the type.
func (t *typ) has(r *run, v any) bool {
	r.spend(1)
	if v == nil {
		return t.name == "Null"
	}
	if t.name == "Any" {
		return true
	}
	if KindOf(v) != t.name {
		return false
	}
	switch v := v.(type) {
	case []any:
		return t.of == nil || !slices.ContainsFunc(v, func(e any) bool { return !t.of.admits(r, e) })
	case *Range:
		return t.of == nil || (v.Low == nil || t.of.has(r, v.Low)) && (v.High == nil || t.of.has(r, v.High))
	case *Context:
		for i, k := range t.keys {
			if e, ok := v.Get(k); !ok || !t.fields[i].admits(r, e) {
				return false
			}
		}
	case *Function:
		if t.params >= 0 {
			r.fail("a type of function with arguments")
		}
	}
	return true
}

// admits reports whether a value has the type or is null.
func (t *typ) admits(r *run, v any) bool { return v == nil || t.has(r, v) }

// coerce returns a value as an argument of the type.
func (t *typ) coerce(r *run, v any) (any, bool) {
	if t.admits(r, v) {
		return v, true
	}
	if l, ok := v.([]any); ok && len(l) == 1 && t.name != "list" && t.has(r, l[0]) {
		return l[0], true
	}
	if l := []any{v}; t.name == "list" && t.has(r, l) {
		return l, true
	}
	if d, ok := v.(Date); ok && t.name == "date and time" {
		return DateTime{d, Time{Zoned: true}}, true
	}
	return nil, false
}
