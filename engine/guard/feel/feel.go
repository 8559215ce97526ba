// SPDX-License-Identifier: Apache-2.0

package feel

import (
	"slices"
	"time"

	"github.com/pnagent/pnagent/engine/guard/scan"
)

// MaxSteps bounds the work of one evaluation: operations, elements of lists that are
// made or visited, and each 16 bytes of texts that are made.
const MaxSteps = 1 << 18

// Program is a compiled expression. It is read-only, so any number of goroutines may
// use it.
type Program struct {
	root  node
	paths []string
}

// Compile compiles an expression. names are names of variables with other signs than
// letters, digits and spaces, and names of variables that are functions. The error is
// an *scan.Error.
func Compile(text string, names ...string) (p *Program, err error) {
	defer func() { err = scan.Caught(recover(), err) }()
	in := newParser(text, names)
	root := in.expression()
	in.Skip()
	if in.Pos < len(in.Text) {
		in.Unexpected("an operator or the end")
	}
	return &Program{root: root, paths: in.Paths()}, nil
}

// Paths returns the names of variables that the expression reads, sorted. A name has
// the field that is read of it, if that is known: "order.total". "now()" stands for a
// function of the time.
func (p *Program) Paths() []string { return p.paths }

// Eval returns the value of the expression; what FEEL defines as null is nil. See Import
// for the types of values. now is the time that the expression sees, in UTC. variables
// returns the value of a variable, and whether there is one. The error is an *scan.Error: a bound, or what this package does not do.
func (p *Program) Eval(now time.Time, variables func(name string) (any, bool)) (v any, err error) {
	return p.EvalWithin(&Budget{Left: MaxSteps}, now, variables)
}

// Budget is how many steps are left for several evaluations.
type Budget struct{ Left int }

// EvalWithin is Eval with the steps of a budget, which it spends.
func (p *Program) EvalWithin(b *Budget, now time.Time, variables func(name string) (any, bool)) (v any, err error) {
	r := b.run(now, variables)
	defer func() { b.Left, err = r.left, scan.Caught(recover(), err) }()
	return p.root(r), nil
}

func (b *Budget) run(now time.Time, variables func(name string) (any, bool)) *run {
	return &run{most: b.Left, left: b.Left, now: timeOn(now.UTC()), scope: &scope{get: variables}}
}

// run is one evaluation.
type run struct {
	most  int // steps at the beginning
	left  int // steps
	depth int // of calls
	now   DateTime
	scope *scope

	patterns map[string]pattern // compiled, by flags and text
	zones    map[string]*time.Location
}

// scope is the variables of a part of an expression, and of what is around it.
type scope struct {
	get func(name string) (any, bool)
	up  *scope
}

func (r *run) spend(n int) {
	if r.left -= n; r.left < 0 {
		r.fail("more than %d steps", max(r.most, MaxSteps))
	}
}

func (r *run) fail(format string, args ...any) { scan.Fail(format, args...) }

// open adds variables until the function that it returns is called.
func (r *run) open(get func(name string) (any, bool)) func() {
	before := r.scope
	r.scope = &scope{get: get, up: before}
	return func() { r.scope = before }
}

func (r *run) lookup(name string) any {
	for s := r.scope; s != nil; s = s.up {
		if v, ok := s.get(name); ok {
			return v
		}
	}
	return nil
}

// call calls a function that is a value.
func (r *run) call(f any, args []any) any {
	fn, ok := f.(*Function)
	if !ok || len(args) != len(fn.params) {
		return nil
	}
	r.spend(1 + len(args))
	for i, t := range fn.types {
		if t != nil {
			if args[i], ok = t.coerce(r, args[i]); !ok {
				return nil
			}
		}
	}
	if r.depth++; r.depth > scan.MaxDepth {
		r.fail("functions that call each other more than %d deep", scan.MaxDepth)
	}
	before := r.scope
	r.scope = &scope{up: fn.scope, get: func(name string) (any, bool) {
		if i := slices.Index(fn.params, name); i >= 0 {
			return args[i], true
		}
		return nil, false
	}}
	out := fn.body(r)
	r.scope = before
	r.depth--
	return out
}

// str returns a text that an expression makes.
func (r *run) str(s string) any {
	if len(s) > scan.MaxText {
		r.fail("a text of %d bytes; expected at most %d", len(s), scan.MaxText)
	}
	r.spend(1 + len(s)/16)
	return s
}
