// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pnagent/pnagent/engine/guard/feel"
	"github.com/pnagent/pnagent/engine/guard/scan"
	"github.com/pnagent/pnagent/engine/guard/uel"
)

// access is what an expression reads.
type access struct{ fields, timed bool }

// accessOf returns what paths read. A path is the name of a variable, with a field of it
// if that is known.
func accessOf(paths []string) (a access, err error) {
	for _, p := range paths {
		name, field, _ := strings.Cut(p, ".")
		switch {
		case name == "now()" || p == own+".now" || p == own+".age":
			a.timed = true
		case p == own+".tokens":
			a.fields, a.timed = true, true // they have ages
		case name != own || field == "token":
			a.fields = true
		default:
			return a, &Error{Line: 1, Column: 1, Msg: fmt.Sprintf("%q; expected %s.age, now, token or tokens", p, own)}
		}
	}
	return a, nil
}

func (a access) reads() (fields, timed bool) { return a.fields, a.timed }

// variable returns what a language calls a variable: a field of the tokens, or what
// pnagent offers.
func (in *input) variable(name string, fields bool) (any, bool, error) {
	if name == own {
		offers, err := in.offers(fields)
		return offers, true, err
	}
	if !fields {
		return nil, false, nil
	}
	data, err := in.decoded()
	if err != nil {
		return nil, false, err
	}
	return data.value(name)
}

type feelExpression struct {
	access
	program *feel.Program
}

func compileFEEL(text string) (expression, error) {
	p, err := feel.Compile(" " + text[1:]) // so that columns count from the sign
	if err != nil {
		return nil, err
	}
	a, err := accessOf(p.Paths())
	return &feelExpression{a, p}, err
}

func (e *feelExpression) value(in *input) (any, error) {
	known := map[string]any{}
	return e.program.Eval(in.time(), func(name string) (any, bool) {
		if v, ok := known[name]; ok {
			return v, true
		}
		v, ok, err := in.variable(name, e.fields)
		if err != nil {
			scan.Fail("%v", err)
		}
		if ok {
			v = feel.Import(v)
			known[name] = v
		}
		return v, ok
	})
}

// errNull is the error of a condition in FEEL or UEL without a value.
var errNull = errors.New("found null; expected true or false")

// truth returns a value as FEEL's conditions read it.
func (e *feelExpression) truth(v any) (bool, error) {
	yes, ok := v.(bool)
	if v == nil {
		return false, errNull
	}
	if !ok {
		return false, fmt.Errorf("found %s; expected true or false", feel.KindOf(v))
	}
	return yes, nil
}

type uelExpression struct {
	access
	program *uel.Program
	coerced bool // see Compiler
}

func compileUEL(text string) (expression, error) {
	p, err := uel.Compile(text)
	if err != nil {
		return nil, err
	}
	a, err := accessOf(p.Paths())
	return &uelExpression{access: a, program: p}, err
}

func (e *uelExpression) value(in *input) (any, error) {
	return e.program.Eval(in.time(), func(name string) (any, bool) {
		v, ok, err := in.variable(name, e.fields)
		if offers, is := v.(map[string]any); is && name == own {
			offers["now"] = in.time().Format(time.RFC3339)
		}
		if err != nil {
			scan.Fail("%v", err)
		}
		in.missing = in.missing || !ok
		return uel.Import(v), ok
	})
}

// truth returns a value as the engines that use UEL read it: JSR-341 has null as false, and a text as its value.
func (e *uelExpression) truth(v any) (bool, error) {
	if v == nil {
		return false, errNull
	}
	if _, text := v.(string); text && !e.coerced {
		return false, errors.New("found a text; expected true or false")
	}
	return uel.Truth(v)
}
