// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/file"

	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/guard/scan"
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

// errorOf returns an error of a language as an Error.
func errorOf(err error) *Error {
	e := &Error{Msg: err.Error()}
	var own *file.Error
	var in *scan.Error
	switch {
	case errors.As(err, &own):
		e = &Error{Line: own.Line, Column: own.Column + 1, Msg: own.Message}
	case errors.As(err, &in):
		e = &Error{Line: in.Line, Column: in.Column, Msg: in.Msg}
	}
	e.Msg, _, _ = strings.Cut(e.Msg, "\n")
	if len(e.Msg) > maxMessage {
		e.Msg = strings.ToValidUTF8(e.Msg[:maxMessage], "") + "…"
	}
	return e
}

// Compiler compiles the expressions of one net, equal ones once. It is for one goroutine.
type Compiler struct {
	places []string
	known  map[string]compiled
}

// compiled is an expression, or why there is none.
type compiled struct {
	expression
	err *Error
}

// NewCompiler returns a Compiler. places are the ids of the net's places by index, for
// pnagent.tokens.
func NewCompiler(places []string) *Compiler {
	return &Compiler{places, map[string]compiled{}}
}

// Guard compiles a guard (see petri.Transition.Guard for its form). The error is an
// *Error.
func (c *Compiler) Guard(text string) (coloured.Guard, error) {
	all, err := c.conditions(text)
	if err != nil {
		return nil, err
	}
	for i, part := range all.parts {
		if own, ok := part.expression.(*ownExpression); ok {
			if result := own.program.Node().Type(); result.Kind() != reflect.Bool && result.Kind() != reflect.Interface {
				return nil, &Error{Line: i + 1, Column: 1, Msg: fmt.Sprintf("a result of type %s; expected true or false", result)}
			}
		}
	}
	return all.ask, nil
}

// Value compiles one expression to a function that returns its value as JSON, at most
// MaxData bytes. The error is an *Error, and so is what the function panics with if the
// value cannot be determined.
func (c *Compiler) Value(text string) (func(tokens []coloured.Placed, now int64) []byte, error) {
	all, err := c.conditions(text)
	if err != nil {
		return nil, err
	}
	if len(all.parts) != 1 || all.parts[0].unless || all.parts[0].once {
		return nil, &Error{Line: 1, Column: 1, Msg: "a condition with unless; expected one expression"}
	}
	return all.value, nil
}

// Compile compiles a single guard: see Compiler.
func Compile(text string, places []string) (coloured.Guard, error) {
	return NewCompiler(places).Guard(text)
}

// CompileValue compiles a single expression to a value: see Compiler.
func CompileValue(text string, places []string) (func(tokens []coloured.Placed, now int64) []byte, error) {
	return NewCompiler(places).Value(text)
}

// conditions is a compiled guard: all have to hold. It is read-only, so any number of
// goroutines may use it.
type conditions struct {
	parts  []condition
	places []string
	timed  bool
}

// condition holds if its expression is true, or if it is not and unless is set.
type condition struct {
	expression
	unless bool
	once   bool // it does not hold while a variable does not exist
}

// maxConditions bounds the lines of a guard.
const maxConditions = 1000

func (c *Compiler) conditions(text string) (*conditions, error) {
	if !utf8.ValidString(text) {
		return nil, &Error{Msg: "bytes that are not UTF-8; expected an expression"}
	}
	all := &conditions{places: c.places}
	not, also := Expressions(text)
	if len(not) > maxConditions {
		return nil, &Error{Line: maxConditions + 1, Column: 1, Msg: fmt.Sprintf("more than %d conditions", maxConditions)}
	}
	for i, e := range not {
		if err := c.add(all, e, true, i); err != nil {
			return nil, err
		}
	}
	if also != "" || len(not) == 0 {
		if err := c.add(all, also, false, len(not)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// add adds an expression that begins after some lines.
func (c *Compiler) add(to *conditions, text string, unless bool, lines int) error {
	isOnce := false
	if !unless {
		text, isOnce = strings.CutPrefix(text, once)
	}
	e, ok := c.known[text]
	if !ok {
		e.expression, e.err = compileOne(text)
		c.known[text] = e
	}
	if e.err != nil {
		err := *e.err
		if err.Line > 0 {
			err.Line += lines
		}
		return &err
	}
	_, timed := e.reads()
	to.timed = to.timed || timed
	to.parts = append(to.parts, condition{e.expression, unless, isOnce})
	return nil
}

// Expressions returns the expressions of a guard that must not hold, and the one that
// must; "" if there is none.
func Expressions(text string) (not []string, also string) {
	for strings.HasPrefix(text, unless) {
		line, rest, _ := strings.Cut(text[len(unless):], "\n")
		not, text = append(not, line), rest
	}
	return not, text
}

// unless begins a line of a guard whose expression must not hold.
const unless = "unless "

// once begins an expression that does not hold while a variable does not exist.
const once = "once: "

// foreign matches the name of a language before an expression.
var foreign = regexp.MustCompile(`^([a-z][a-z0-9.-]*): `)

// expression is a compiled expression of any language.
type expression interface {
	// value returns the value. errors are those of the language.
	value(in *input) (any, error)
	// truth returns a value as true or false; null is false.
	truth(v any) (bool, error)
	// reads returns whether the expression reads data of tokens, and the time.
	reads() (fields, timed bool)
}

func compileOne(text string) (expression, *Error) {
	if len(text) > MaxText {
		return nil, &Error{Msg: fmt.Sprintf("an expression of %d bytes; expected at most %d", len(text), MaxText)}
	}
	var e expression
	var err error
	switch m := foreign.FindStringSubmatch(text); {
	case m != nil:
		return nil, &Error{Line: 1, Column: 1, Msg: fmt.Sprintf("an expression of the language %s; expected FEEL (= …), UEL (${…}) or pnagent's own", m[1])}
	case strings.HasPrefix(text, "="):
		e, err = compileFEEL(text)
	case strings.HasPrefix(text, "${") || strings.HasPrefix(text, "#{"):
		e, err = compileUEL(text)
	default:
		e, err = compileOwn(text)
	}
	if err != nil {
		return nil, errorOf(err)
	}
	return e, nil
}

// ask is a coloured.Guard. It panics with an *Error.
func (c *conditions) ask(tokens []coloured.Placed, now int64) coloured.Verdict {
	v := coloured.Verdict{OK: true, WaitsFor: noPlace}
	in := &input{tokens: tokens, now: now, places: c.places}
	for _, part := range c.parts {
		value, err := part.value(in)
		if err != nil && part.once && in.missing {
			v.OK = false
			break
		}
		if err != nil {
			panic(errorOf(err))
		}
		yes, err := part.truth(value)
		if err != nil {
			panic(errorOf(err))
		}
		if yes == part.unless {
			v.OK = false
			break
		}
	}
	if c.timed && !v.OK {
		v.Again = now + askAgain
	}
	return v
}

// value returns the value of the only expression as JSON. It panics with an *Error.
func (c *conditions) value(tokens []coloured.Placed, now int64) []byte {
	v, err := c.parts[0].value(&input{tokens: tokens, now: now, places: c.places})
	if err != nil {
		panic(errorOf(err))
	}
	out, err := appendJSON(nil, v)
	if err != nil {
		panic(errorOf(err))
	}
	return out
}
