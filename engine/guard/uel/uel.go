// SPDX-License-Identifier: Apache-2.0

package uel

import (
	"fmt"
	"slices"
)

// maxText bounds a text that an expression makes, in bytes.
const maxText = 64 << 10

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

func fail(format string, args ...any) { panic(&Error{Msg: fmt.Sprintf(format, args...)}) }

// Program is a compiled expression. It is read-only, so any number of goroutines may
// use it.
type Program struct {
	root  node
	paths []string
}

// Compile compiles a text with expressions in ${…} or #{…}. If it is one expression
// and nothing else, its value is that of the expression, otherwise a text. The error
// is an *Error.
func Compile(text string) (p *Program, err error) {
	defer func() { err = caught(recover(), err) }()
	in := &parser{text: text}
	root := in.template()
	slices.Sort(in.paths)
	return &Program{root: root, paths: slices.Compact(in.paths)}, nil
}

func caught(r any, err error) error {
	switch r := r.(type) {
	case nil:
		return err
	case *Error:
		return r
	default:
		panic(r)
	}
}

// Paths returns the names of variables that the expression reads, sorted. A name has
// the property that is read of it, if that is known: "order.total".
func (p *Program) Paths() []string { return p.paths }

// Eval returns the value of the expression. variable returns the value of a variable, as
// Import returns it, and whether there is one. The error is an *Error.
func (p *Program) Eval(variable func(name string) (any, bool)) (v any, err error) {
	defer func() { err = caught(recover(), err) }()
	return p.root(&run{variable: variable}), nil
}

// Truth returns a value as a boolean: null and "" are false, "true" is true. The error
// is an *Error.
func Truth(v any) (yes bool, err error) {
	defer func() { err = caught(recover(), err) }()
	return toBool(v), nil
}
