// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"maps"
	"slices"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"
)

// maxList bounds lists that ranges such as 1..n make.
const maxList = 10_000

// Functions returns the names of the functions that expressions may use.
func Functions() []string {
	return []string{
		"all", "any", "none", "one", "filter", "find", "findIndex", "findLast", "findLastIndex", "count", "sum",
		"len", "first", "last", "get", "max", "min", "mean", "median", "abs", "ceil", "floor", "round",
		"int", "float", "string", "type", "trim", "trimPrefix", "trimSuffix", "upper", "lower", "split",
		"indexOf", "lastIndexOf", "hasPrefix", "hasSuffix", "date", "duration",
	}
}

// ownExpression is a compiled expression of pnagent's own language. It is read-only, so any
// number of goroutines may use it.
type ownExpression struct {
	program *vm.Program
	fields  bool     // it uses data
	names   []string // of the variables that it uses
	all     bool     // it uses all variables
	offers  bool     // it uses what is under pnagent, but not only age and now
	age     bool     // it uses pnagent.age
	now     bool     // it uses pnagent.now
	timed   bool     // it uses an age or the time
	loops   bool
}

func compileOwn(text string) (expression, error) {
	p := &patcher{}
	program, err := expr.Compile(text, options(p)...)
	switch {
	case p.fault != nil:
		return nil, p.fault.Bind(file.NewSource(text))
	case err != nil:
		return nil, err
	}
	all := p.all > 0
	return &ownExpression{program: program, fields: p.fields || all, names: p.names, all: all, offers: p.offers > 0 || all, age: p.age, now: p.now,
		timed: p.timed || all || p.ages && p.tokens, loops: p.loops}, nil
}

func options(p *patcher) []expr.Option {
	options := []expr.Option{
		expr.Env(types.Map{
			own:       types.Map{"age": types.Float64, "now": types.TypeOf(time.Time{}), "token": types.Any, "tokens": types.Array(types.Any)},
			ageName:   types.Float64,
			nowName:   types.TypeOf(time.Time{}),
			roundName: types.TypeOf(func(...any) (any, error) { return nil, nil }),
		}),
		expr.AllowUndefinedVariables(),
		expr.AsAny(),
		expr.Optimize(false),
		expr.DisableAllBuiltins(),
		expr.Function(truthName, truth),
		expr.Function(shortName, short),
		expr.Patch(p),
	}
	for _, name := range Functions() {
		options = append(options, expr.EnableBuiltin(name))
	}
	return options
}

func (e *ownExpression) reads() (fields, timed bool) { return e.fields, e.timed }

func (e *ownExpression) truth(v any) (bool, error) {
	yes, err := truth(v)
	return yes == true, err
}

func (e *ownExpression) value(in *input) (any, error) {
	env := map[string]any{}
	size := 0
	if e.fields {
		data, err := in.decoded()
		if err != nil {
			return nil, err
		}
		names := e.names
		if e.all {
			names = slices.Collect(maps.Keys(data.fields))
		}
		for _, name := range names {
			v, ok, err := data.value(name)
			if err != nil {
				return nil, err
			}
			if ok {
				env[name] = numbers(v)
			}
		}
		size = data.size
	}
	if e.offers {
		offers, err := in.offers(e.fields)
		if err != nil {
			return nil, err
		}
		env[own] = numbers(offers)
	}
	if e.age {
		env[ageName] = in.age()
	}
	if e.now {
		env[nowName] = in.time()
	}
	if e.loops {
		env[roundName] = rounds(min(MaxRounds, MaxWork/max(1, size)))
	}
	machine := vm.VM{MemoryBudget: maxList}
	return machine.Run(e.program, env)
}
