// SPDX-License-Identifier: Apache-2.0

// Package scan is what the languages of expressions have in common: a reader of an
// expression's text, the names that it reads, and errors.
//
// A reader or an evaluation stops at an error by a panic with an *[Error], which
// [Caught] returns to the caller of the language's package.
package scan

import (
	"encoding/json"
	"fmt"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxDepth bounds how deep an expression nests.
const MaxDepth = 100

// MaxText bounds a text that an expression makes, in bytes.
const MaxText = 64 << 10

// maxQuoted bounds what an error quotes of the text, in bytes.
const maxQuoted = 40

// Error is a mistake in the text of an expression, or a reason for which an
// evaluation has no result.
type Error struct {
	Line, Column int // in the text, from 1; 0 if the error has no position
	Msg          string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Msg
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Msg)
}

// Fail stops an evaluation.
func Fail(format string, args ...any) { panic(&Error{Msg: fmt.Sprintf(format, args...)}) }

// Caught returns the *Error of a recovered panic, or err if there was none. It panics
// with anything else.
func Caught(recovered any, err error) error {
	switch r := recovered.(type) {
	case nil:
		return err
	case *Error:
		return r
	default:
		panic(r)
	}
}

// Deep reports whether JSON nests deeper than MaxDepth.
func Deep(data []byte) bool {
	depth, text := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '{' || c == '[':
			if depth++; depth > MaxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// Numbers returns decoded JSON with its numbers as another type.
func Numbers(v any, number func(json.Number) any) any {
	switch v := v.(type) {
	case json.Number:
		return number(v)
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = Numbers(e, number)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = Numbers(e, number)
		}
		return out
	}
	return v
}

// Quote quotes a part of the text for an error, shortened.
func Quote(s string) string {
	if len(s) > maxQuoted {
		s = strings.ToValidUTF8(s[:maxQuoted], "") + "…"
	}
	return strconv.Quote(s)
}

// Holds reports whether a comparison with the sign <, <=, > or >= is true, where c is
// negative if the left value is the lesser one, and 0 if both are equal.
func Holds(sign string, c int) bool {
	switch sign {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

// PatternSize returns how many instructions a valid pattern of Go has, with which its work grows.
func PatternSize(text string) int {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return 0
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return 0
	}
	return len(program.Inst)
}

// Reader is the text of an expression and how far it was read.
type Reader struct {
	Text string
	Pos  int

	Skip func()        // skips white space and comments
	Word func() string // returns the word that follows, or ""

	paths []string
	depth int
}

// Reads notes the name of a variable that the expression reads.
func (t *Reader) Reads(path string) { t.paths = append(t.paths, path) }

// Paths returns the names that were noted, sorted.
func (t *Reader) Paths() []string {
	slices.Sort(t.paths)
	return slices.Compact(t.paths)
}

// Fail stops at a position of the text.
func (t *Reader) Fail(at int, format string, args ...any) {
	line := 1 + strings.Count(t.Text[:at], "\n")
	column := 1 + utf8.RuneCountInString(t.Text[1+strings.LastIndexByte(t.Text[:at], '\n'):at])
	panic(&Error{Line: line, Column: column, Msg: fmt.Sprintf(format, args...)})
}

// Found returns what follows, for messages.
func (t *Reader) Found() string {
	t.Skip()
	if t.Pos == len(t.Text) {
		return "the end"
	}
	w := t.Word()
	if w == "" {
		r, _ := utf8.DecodeRuneInString(t.Text[t.Pos:])
		w = string(r)
	}
	return Quote(w)
}

// Unexpected stops at what follows.
func (t *Reader) Unexpected(expected string) {
	found := t.Found()
	t.Fail(t.Pos, "found %s; expected %s", found, expected)
}

// Is reports whether a sign follows.
func (t *Reader) Is(sign string) bool {
	t.Skip()
	return strings.HasPrefix(t.Text[t.Pos:], sign)
}

// Sign takes a sign, if it follows.
func (t *Reader) Sign(sign string) bool {
	if t.Is(sign) {
		t.Pos += len(sign)
		return true
	}
	return false
}

// Expect takes a sign that must follow.
func (t *Reader) Expect(sign string) {
	if !t.Sign(sign) {
		t.Unexpected(strconv.Quote(sign))
	}
}

// Enter goes one level deeper, until the function that it returns is called.
func (t *Reader) Enter() func() {
	if t.depth++; t.depth > MaxDepth {
		t.Fail(t.Pos, "an expression nested more than %d deep", MaxDepth)
	}
	return func() { t.depth-- }
}
