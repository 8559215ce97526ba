// SPDX-License-Identifier: Apache-2.0

package feel

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/pnagent/pnagent/engine/guard/scan"
	"github.com/woodsbury/decimal128"
)

// Tests is a compiled list of unary tests: the input entry of a rule of a decision table. It is read-only, so any
// number of goroutines may use it.
type Tests struct {
	test  test // nil if all values pass
	paths []string
}

// CompileTests compiles unary tests such as < 10, [20..30] or not("a", "b"), or - for any value. A
// text that is empty is -, and == is =, as engines have it. names is as for Compile. The error is an *scan.Error.
func CompileTests(text string, names ...string) (t *Tests, err error) {
	defer func() { err = scan.Caught(recover(), err) }()
	if s := strings.TrimSpace(text); s == "" || s == "-" {
		return &Tests{}, nil
	}
	in := newParser(text, names)
	all := in.unaryTests()
	in.Skip()
	if in.Pos < len(in.Text) {
		in.Unexpected("a comma or the end")
	}
	return &Tests{test: all, paths: in.Paths()}, nil
}

// Paths returns the names of variables that the tests read, as Program.Paths.
func (t *Tests) Paths() []string { return t.paths }

// Pass reports whether a value passes one of the tests. The error is an *scan.Error, as that of Program.Eval.
func (t *Tests) Pass(b *Budget, now time.Time, v any, variables func(name string) (any, bool)) (yes bool, err error) {
	if t.test == nil {
		return true, nil
	}
	r := b.run(now, variables)
	defer func() { b.Left, err = r.left, scan.Caught(recover(), err) }()
	r.spend(1)
	r.open(func(name string) (any, bool) { return v, name == "?" })
	return t.test(r, v) == true, nil
}

// Reads notes the name of a variable, but not the input.
func (p *parser) Reads(path string) {
	if path == "?" || strings.HasPrefix(path, "?.") {
		p.asks = true
		return
	}
	p.Reader.Reads(path)
}

// unaryTests takes tests, or not( ) around them.
func (p *parser) unaryTests() test {
	start := p.Pos
	if p.keyword("not") && p.Sign("(") {
		all := p.unaryList()
		if p.Sign(")") {
			p.Skip()
			if p.Pos == len(p.Text) {
				return func(r *run, v any) any { return not(all(r, v)) }
			}
		}
	}
	p.Pos = start
	return p.unaryList()
}

// unaryList takes tests with commas between them, of which one has to pass.
func (p *parser) unaryList() test {
	all := []test{p.unaryTest()}
	for p.Sign(",") {
		all = append(all, p.unaryTest())
	}
	return func(r *run, v any) any {
		return slices.ContainsFunc(all, func(t test) bool { return t(r, v) == true })
	}
}

func (p *parser) unaryTest() test {
	op := p.comparator()
	if op == "=" {
		p.Sign("=")
	}
	if op != "" {
		right := p.additive()
		return func(r *run, v any) any { return compared(r, op, v, right(r)) }
	}
	p.asks = false
	of := p.expression()
	asks := p.asks
	return func(r *run, v any) any {
		got := of(r)
		_, truth := v.(bool)
		if _, is := got.(bool); asks || is && !truth {
			return got
		}
		return within(r, v, got)
	}
}

// Typed returns a text as the date, time or duration that a type of DMN such as "date" makes of it: JSON has
// no such values. Other values stay as they are.
func Typed(now time.Time, v any, typeRef string) any {
	s, ok := v.(string)
	_, name, prefixed := strings.Cut(typeRef, ":")
	if !prefixed {
		name = typeRef
	}
	if !ok || len(s) > 100 || !slices.Contains([]string{"date", "time", "dateTime", "date and time", "dayTimeDuration", "days and time duration", "yearMonthDuration", "years and months duration"}, name) {
		return v
	}
	r := (&Budget{Left: MaxSteps}).run(now, nil)
	t := r.zoned(temporal(s))
	switch at := t.(type) {
	case nil:
		return v
	case DateTime:
		if name == "date" {
			return at.Date
		}
	case Date:
		if name == "dateTime" || name == "date and time" {
			return DateTime{Date: at}
		}
	}
	return t
}

// Equal reports whether two values are equal. Two lists of values may have null in them.
func Equal(a, b any) bool {
	x, list := a.([]any)
	y, list2 := b.([]any)
	if list && list2 {
		return slices.EqualFunc(x, y, Equal)
	}
	return equal(&run{left: MaxSteps, most: MaxSteps}, a, b) == true
}

// Call calls a function of FEEL with one list.
func Call(b *Budget, name string, list []any) (v any, err error) {
	r := b.run(time.Time{}, nil)
	defer func() { b.Left, err = r.left, scan.Caught(recover(), err) }()
	return functions[name].call(r, []any{list}), nil
}

// Export returns a value as decoded JSON, the reverse of Import. Dates, times and durations are texts.
func Export(v any) any {
	switch v := v.(type) {
	case decimal128.Decimal:
		return json.Number(Digits(v))
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = Export(e)
		}
		return out
	case *Context:
		out := make(map[string]any, len(v.keys))
		for k, e := range v.values {
			out[k] = Export(e)
		}
		return out
	case interface{ ISO() string }:
		return v.ISO()
	case interface{ String() string }:
		return v.String()
	}
	return v
}
