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
	"github.com/pnagent/pnagent/petri"
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
	// Coerced makes conditions of UEL take texts as JSR-341 does: "true" is true, and another text false.
	// Otherwise a text is an error, as in Camunda 7 and Flowable. It is set before the first expression.
	Coerced bool

	// Decisions are those whose results expressions can be: dmn: value "id". They are set before the first expression.
	Decisions []*petri.Decision

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
	return &Compiler{places: places, known: map[string]compiled{}}
}

// Guard compiles a guard (see petri.Transition.Guard for its form). The error is an
// *Error.
func (c *Compiler) Guard(text string) (coloured.Guard, error) {
	all, err := c.conditions(text)
	if err != nil {
		return nil, err
	}
	for i, part := range all.parts {
		if own, ok := part.expression.(*ownExpression); ok && part.among == nil && part.name == "" {
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
	for i, part := range all.parts {
		if part.unless || part.once || part.among != nil {
			return nil, &Error{Line: i + 1, Column: 1, Msg: "a condition; expected one expression"}
		}
	}
	return all.value, nil
}

// Text is Value for a text that can have expressions of UEL in it, as in order-${id}.
func (c *Compiler) Text(text string) (func(tokens []coloured.Placed, now int64) []byte, error) {
	if strings.HasPrefix(text, "=") || !strings.Contains(text, "${") && !strings.Contains(text, "#{") {
		return c.Value(text)
	}
	if len(text) > MaxText || !utf8.ValidString(text) {
		return nil, &Error{Msg: fmt.Sprintf("a text of %d bytes; expected at most %d of UTF-8", len(text), MaxText)}
	}
	e, err := compileUEL(text)
	if err != nil {
		return nil, errorOf(err)
	}
	return (&conditions{places: c.places, parts: []condition{{expression: e}}}).value, nil
}

// conditions is a compiled guard: all have to hold. It is read-only, so any number of
// goroutines may use it.
type conditions struct {
	parts  []condition
	places []string
	timed  bool
}

// condition holds if its expression is true, or if it is not and unless is set. If name is
// set, its value is a variable of that name for those after it.
type condition struct {
	expression
	unless bool
	once   bool   // it does not hold while a variable does not exist, see notYet
	among  *among // of the value; nil if that is true or false
	name   string
}

// maxConditions bounds the lines of a guard.
const maxConditions = 1000

func (c *Compiler) conditions(text string) (*conditions, error) {
	if !utf8.ValidString(text) {
		return nil, &Error{Msg: "bytes that are not UTF-8; expected an expression"}
	}
	all := &conditions{places: c.places}
	before, also := Expressions(text)
	if len(before) > maxConditions {
		return nil, &Error{Line: maxConditions + 1, Column: 1, Msg: fmt.Sprintf("more than %d conditions", maxConditions)}
	}
	for i, l := range before {
		if err := c.add(all, l.Text, condition{unless: l.Name == "", name: l.Name}, i); err != nil {
			return nil, err
		}
	}
	if also != "" || len(before) == 0 || before[len(before)-1].Name != "" {
		if err := c.add(all, also, condition{}, len(before)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// add adds an expression that begins after some lines.
func (c *Compiler) add(to *conditions, text string, as condition, lines int) error {
	if as == (condition{}) {
		text, as.once = strings.CutPrefix(text, once)
	}
	if as.name == "" {
		as.among, text = amongOf(text)
	}
	e, ok := c.known[text]
	if !ok {
		e.expression, e.err = c.compileOne(text)
		if in, is := e.expression.(*uelExpression); is {
			in.coerced = c.Coerced
		}
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
	as.expression = e.expression
	to.parts = append(to.parts, as)
	return nil
}

// Line is a line of a guard before its expression: "with NAME = TEXT", or "unless TEXT".
type Line struct {
	Name string // the variable that the line defines; "" if its expression must not hold
	Text string
}

// Expressions returns the lines of a guard before its expression, and the expression, which
// must hold; "" if there is none.
func Expressions(text string) (before []Line, also string) {
	for {
		line, rest, _ := strings.Cut(text, "\n")
		if e, is := strings.CutPrefix(line, "unless "); is {
			before, text = append(before, Line{Text: e}), rest
		} else if m := with.FindStringSubmatch(line); m != nil {
			before, text = append(before, Line{m[1], m[2]}), rest
		} else {
			return before, text
		}
	}
}

// with matches a line that defines a variable.
var with = regexp.MustCompile(`^with (.+?) = (.*)$`)

// once begins an expression that does not hold while a variable does not exist.
const once = "once: "

// foreign matches the name of a language before an expression.
var foreign = regexp.MustCompile(`^([a-z][a-z0-9.-]*): `)

// expression is a compiled expression of any language.
type expression interface {
	// value returns the value. errors are those of the language.
	value(in *input) (any, error)
	// truth returns a value as true or false; null is neither, but false in pnagent's own language.
	truth(v any) (bool, error)
	// reads returns whether the expression reads data of tokens, and the time.
	reads() (fields, timed bool)
}

func (c *Compiler) compileOne(text string) (expression, *Error) {
	if len(text) > MaxText {
		return nil, &Error{Msg: fmt.Sprintf("an expression of %d bytes; expected at most %d", len(text), MaxText)}
	}
	var e expression
	var err error
	switch m := foreign.FindStringSubmatch(text); {
	case strings.HasPrefix(text, decisionPrefix):
		e, err = c.compileDecision(text)
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

// notYet reports whether a condition that may hold later has no value: a variable does not exist,
// which is an error in UEL and null in the other languages.
func (c *condition) notYet(value any, err error, in *input) bool {
	_, inUEL := c.expression.(*uelExpression)
	return err != nil && in.missing || err == nil && value == nil && !inUEL
}

// ask is a coloured.Guard. It panics with an *Error.
func (c *conditions) ask(tokens []coloured.Placed, now int64) coloured.Verdict {
	v := coloured.Verdict{OK: true}
	in := &input{tokens: tokens, now: now, places: c.places}
	for _, part := range c.parts {
		value, err := part.value(in)
		if part.once && part.notYet(value, err, in) {
			v.OK = false
			break
		}
		if part.name != "" && err == nil {
			err = in.define(part.name, value)
		}
		if err != nil {
			panic(errorOf(err))
		}
		if part.name != "" {
			continue
		}
		yes, err := part.holds(value)
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

// value returns the value of the last expression as JSON. It panics with an *Error.
func (c *conditions) value(tokens []coloured.Placed, now int64) []byte {
	in := &input{tokens: tokens, now: now, places: c.places}
	var out []byte
	for _, part := range c.parts {
		v, err := part.value(in)
		switch {
		case err != nil:
		case part.name != "":
			err = in.define(part.name, v)
		default:
			out, err = appendJSON(nil, v)
		}
		if err != nil {
			panic(errorOf(err))
		}
	}
	return out
}
