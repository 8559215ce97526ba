// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"

	"github.com/pnagent/pnagent/engine/coloured"
)

// The bounds of guards.
const (
	MaxText   = 4096     // bytes of an expression
	MaxData   = 64 << 10 // bytes of all the tokens' data that one call decodes
	MaxDepth  = 100      // nested objects and lists in data
	MaxRounds = 10_000   // rounds of all loops in one call
	MaxWork   = 64 << 20 // rounds, times the bytes of data that each may read
)

// askAgain is the time after which a guard that uses a time is asked again, in
// microseconds.
const askAgain = 1_000_000

// noPlace is stats.NoPlace: a guard never waits for a place.
const noPlace = -1

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

// Error is a mistake in the text of a guard, or an error of a guard about some
// tokens.
type Error struct {
	Line, Column int // in the text, from 1; 0 if the error has no position
	Msg          string
}

// maxMessage bounds an Error's text, in bytes.
const maxMessage = 300

// Error returns "column 9: unexpected token", with the line if it is not 1.
func (e *Error) Error() string {
	switch {
	case e.Line > 1:
		return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Msg)
	case e.Line == 1:
		return fmt.Sprintf("column %d: %s", e.Column, e.Msg)
	}
	return e.Msg
}

// errorOf converts an error of the expression library.
func errorOf(err error) *Error {
	e := &Error{Msg: err.Error()}
	var at *file.Error
	if errors.As(err, &at) {
		e = &Error{Line: at.Line, Column: at.Column + 1, Msg: at.Message}
	}
	e.Msg, _, _ = strings.Cut(e.Msg, "\n")
	if len(e.Msg) > maxMessage {
		e.Msg = strings.ToValidUTF8(e.Msg[:maxMessage], "") + "…"
	}
	return e
}

// Compile compiles an expression to a guard. places are the ids of the net's
// places by index, for tokens[i].place. The error is an *Error.
func Compile(text string, places []string) (coloured.Guard, error) {
	if len(text) > MaxText {
		return nil, &Error{Msg: fmt.Sprintf("an expression of %d bytes; expected at most %d", len(text), MaxText)}
	}
	if !utf8.ValidString(text) {
		return nil, &Error{Msg: "bytes that are not UTF-8; expected an expression"}
	}
	p := &patcher{}
	program, err := expr.Compile(text, options(p)...)
	switch {
	case p.fault != nil:
		return nil, errorOf(p.fault.Bind(file.NewSource(text)))
	case err != nil:
		return nil, errorOf(err)
	}
	if result := program.Node().Type(); result.Kind() != reflect.Bool && result.Kind() != reflect.Interface {
		return nil, &Error{Line: 1, Column: 1, Msg: fmt.Sprintf("a result of type %s; expected true or false", result)}
	}
	e := &expression{program: program, places: places, fields: p.fields, timed: p.timed, loops: p.loops}
	return e.ask, nil
}

func options(p *patcher) []expr.Option {
	options := []expr.Option{
		expr.Env(map[string]any{"tokens": []any{}, "now": time.Time{}, "age": 0.0, roundName: func(...any) (any, error) { return nil, nil }}),
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

// expression is a compiled guard. It is read-only, so any number of goroutines
// may use it.
type expression struct {
	program *vm.Program
	places  []string
	fields  bool // it uses data
	timed   bool // it uses an age or the time
	loops   bool
}

// ask is a coloured.Guard. It panics with an *Error.
func (e *expression) ask(tokens []coloured.Placed, now int64) coloured.Verdict {
	env, err := e.environment(tokens, now)
	if err != nil {
		panic(errorOf(err))
	}
	if e.loops {
		env[roundName] = rounds(min(MaxRounds, MaxWork/max(1, e.size(tokens))))
	}
	machine := vm.VM{MemoryBudget: maxList}
	out, err := machine.Run(e.program, env)
	if err != nil {
		panic(errorOf(err))
	}
	yes, err := truth(out)
	if err != nil {
		panic(errorOf(err))
	}
	v := coloured.Verdict{OK: yes == true, WaitsFor: noPlace}
	if e.timed && !v.OK {
		v.Again = now + askAgain
	}
	return v
}

// environment returns the variables of the expression.
func (e *expression) environment(tokens []coloured.Placed, now int64) (map[string]any, error) {
	env := map[string]any{}
	seconds := func(injected int64) float64 { return max(0, float64(now-injected)/1e6) }
	oldest := now
	for i := range tokens {
		oldest = min(oldest, tokens[i].Token.Injected)
	}
	if e.fields {
		decoded, err := decodeAll(tokens)
		if err != nil {
			return nil, err
		}
		for _, i := range byAge(tokens) {
			if object, ok := decoded[i].(map[string]any); ok {
				for k, v := range object {
					env[k] = v
				}
			}
		}
		list := make([]any, len(tokens))
		for i := range tokens {
			list[i] = map[string]any{"place": e.place(tokens[i].Place), "id": int(tokens[i].Token.ID), "age": seconds(tokens[i].Token.Injected), "data": decoded[i]}
		}
		env["tokens"], env["token"] = list, nil
		if len(decoded) > 0 {
			env["token"] = decoded[0]
		}
	}
	env["now"], env["age"] = time.UnixMicro(now).UTC(), seconds(oldest)
	return env, nil
}

// size returns how many bytes of data the expression uses.
func (e *expression) size(tokens []coloured.Placed) (n int) {
	if e.fields {
		for i := range tokens {
			n += len(tokens[i].Token.Data)
		}
	}
	return n
}

func (e *expression) place(i int32) string {
	if i >= 0 && int(i) < len(e.places) {
		return e.places[i]
	}
	return ""
}
