// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/types"
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

// Compile compiles a guard (see petri.Transition.Guard for its form). places are the
// ids of the net's places by index, for pnagent.tokens. The error is an *Error.
func Compile(text string, places []string) (coloured.Guard, error) {
	c, err := compile(text, places)
	if err != nil {
		return nil, err
	}
	for i, part := range c.parts {
		if result := part.program.Node().Type(); result.Kind() != reflect.Bool && result.Kind() != reflect.Interface {
			return nil, &Error{Line: i + 1, Column: 1, Msg: fmt.Sprintf("a result of type %s; expected true or false", result)}
		}
	}
	return c.ask, nil
}

// CompileValue compiles one expression to a function that returns its value as JSON,
// at most MaxData bytes. places are as for Compile. The error is an *Error, and so is
// what the function panics with if the value cannot be determined.
func CompileValue(text string, places []string) (func(tokens []coloured.Placed, now int64) []byte, error) {
	c, err := compile(text, places)
	if err != nil {
		return nil, err
	}
	if len(c.parts) != 1 || c.parts[0].unless {
		return nil, &Error{Line: 1, Column: 1, Msg: "a condition with unless; expected one expression"}
	}
	return c.value, nil
}

// conditions is a compiled guard: all have to hold. It is read-only, so any number of
// goroutines may use it.
type conditions struct {
	parts  []condition
	places []string
}

// condition holds if its expression is true, or if it is not and unless is set.
type condition struct {
	*expression
	unless bool
}

// maxConditions bounds the lines of a guard.
const maxConditions = 1000

func compile(text string, places []string) (*conditions, error) {
	if !utf8.ValidString(text) {
		return nil, &Error{Msg: "bytes that are not UTF-8; expected an expression"}
	}
	c := &conditions{places: places}
	for line := 1; text != "" || line == 1; line++ {
		var part condition
		part.unless = strings.HasPrefix(text, unless)
		expression, rest := text, ""
		if part.unless {
			expression, rest, _ = strings.Cut(text[len(unless):], "\n")
		}
		if line > maxConditions {
			return nil, &Error{Line: line, Column: 1, Msg: fmt.Sprintf("more than %d conditions", maxConditions)}
		}
		var err *Error
		if part.expression, err = compileOne(expression); err != nil {
			if err.Line > 0 {
				err.Line += line - 1
			}
			return nil, err
		}
		c.parts = append(c.parts, part)
		text = rest
	}
	return c, nil
}

// unless begins a line of a guard whose expression must not hold.
const unless = "unless "

// foreign matches the name of a language before an expression.
var foreign = regexp.MustCompile(`^([a-z][a-z0-9]*):(?:[^:]|$)`)

func compileOne(text string) (*expression, *Error) {
	if len(text) > MaxText {
		return nil, &Error{Msg: fmt.Sprintf("an expression of %d bytes; expected at most %d", len(text), MaxText)}
	}
	if m := foreign.FindStringSubmatch(text); m != nil {
		return nil, &Error{Line: 1, Column: 1, Msg: fmt.Sprintf("an expression of the language %s; expected FEEL (= …), UEL (${…}) or pnagent's own", m[1])}
	}
	text = translate(text)
	p := &patcher{}
	program, err := expr.Compile(text, options(p)...)
	switch {
	case p.fault != nil:
		return nil, errorOf(p.fault.Bind(file.NewSource(text)))
	case err != nil:
		return nil, errorOf(err)
	}
	return &expression{program: program, fields: p.fields, timed: p.timed || p.ages && p.tokens, loops: p.loops}, nil
}

func options(p *patcher) []expr.Option {
	options := []expr.Option{
		expr.Env(types.Map{
			own:       types.Map{"age": types.Float64, "now": types.TypeOf(time.Time{}), "token": types.Any, "tokens": types.Array(types.Any)},
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

// expression is a compiled expression.
type expression struct {
	program *vm.Program
	fields  bool // it uses data
	timed   bool // it uses an age or the time
	loops   bool
}

// ask is a coloured.Guard. It panics with an *Error.
func (c *conditions) ask(tokens []coloured.Placed, now int64) coloured.Verdict {
	v := coloured.Verdict{OK: true, WaitsFor: noPlace}
	env := c.environment(tokens, now)
	for i := range c.parts {
		yes, err := truth(c.parts[i].run(env, c.size(tokens)))
		if err != nil {
			panic(errorOf(err))
		}
		if yes == c.parts[i].unless {
			v.OK = false
			break
		}
	}
	if c.timed() && !v.OK {
		v.Again = now + askAgain
	}
	return v
}

// value returns the value of the only expression as JSON. It panics with an *Error.
func (c *conditions) value(tokens []coloured.Placed, now int64) []byte {
	out, err := appendJSON(nil, c.parts[0].run(c.environment(tokens, now), c.size(tokens)))
	if err != nil {
		panic(errorOf(err))
	}
	return out
}

// run returns the value of an expression. It panics with an *Error. size is that of
// the data in bytes.
func (e *expression) run(env map[string]any, size int) any {
	if e.loops {
		env[roundName] = rounds(min(MaxRounds, MaxWork/max(1, size)))
	}
	machine := vm.VM{MemoryBudget: maxList}
	out, err := machine.Run(e.program, env)
	if err != nil {
		panic(errorOf(err))
	}
	return out
}

func (c *conditions) fields() bool {
	return slices.ContainsFunc(c.parts, func(p condition) bool { return p.fields })
}

func (c *conditions) timed() bool {
	return slices.ContainsFunc(c.parts, func(p condition) bool { return p.timed })
}

// own is the name under which expressions find what is not data of tokens.
const own = "pnagent"

// environment returns the variables of the expressions. It panics with an *Error.
func (c *conditions) environment(tokens []coloured.Placed, now int64) map[string]any {
	env, offers := map[string]any{}, map[string]any{}
	seconds := func(injected int64) float64 { return max(0, float64(now-injected)/1e6) }
	oldest := now
	for i := range tokens {
		oldest = min(oldest, tokens[i].Token.Injected)
	}
	if c.fields() {
		decoded, err := decodeAll(tokens)
		if err != nil {
			panic(errorOf(err))
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
			list[i] = map[string]any{"place": c.place(tokens[i].Place), "id": int(tokens[i].Token.ID), "age": seconds(tokens[i].Token.Injected), "data": decoded[i]}
		}
		offers["tokens"], offers["token"] = list, nil
		if len(decoded) > 0 {
			offers["token"] = decoded[0]
		}
	}
	offers["now"], offers["age"] = time.UnixMicro(now).UTC(), seconds(oldest)
	env[own] = offers
	return env
}

// size returns how many bytes of data the expressions use.
func (c *conditions) size(tokens []coloured.Placed) (n int) {
	if c.fields() {
		for i := range tokens {
			n += len(tokens[i].Token.Data)
		}
	}
	return n
}

func (c *conditions) place(i int32) string {
	if i >= 0 && int(i) < len(c.places) {
		return c.places[i]
	}
	return ""
}
