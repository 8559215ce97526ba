// SPDX-License-Identifier: Apache-2.0

package uel

import (
	"time"

	"github.com/pnagent/pnagent/engine/guard/scan"
)

// Program is a compiled expression. It is read-only, so any number of goroutines may
// use it.
type Program struct {
	root  node
	paths []string
}

// Compile compiles a text with expressions in ${…} or #{…}. If it is one expression
// and nothing else, its value is that of the expression, otherwise a text. The error
// is an *scan.Error.
func Compile(text string) (p *Program, err error) {
	defer func() { err = scan.Caught(recover(), err) }()
	in := newParser(text)
	root := in.template()
	return &Program{root: root, paths: in.Paths()}, nil
}

// Paths returns the names of variables that the expression reads, sorted. A name has
// the property that is read of it, if that is known: "order.total". "now()" stands for a function of the
// time.
func (p *Program) Paths() []string { return p.paths }

// Eval returns the value of the expression, as Import returns it; a time is a text. now is the time that
// the expression sees, in UTC. variable returns the value of a variable, as
// Import returns it, and whether there is one. The error is an *scan.Error.
func (p *Program) Eval(now time.Time, variable func(name string) (any, bool)) (v any, err error) {
	defer func() { err = scan.Caught(recover(), err) }()
	v = p.root(&run{variable: variable, now: now.UTC(), left: maxSteps})
	if t, ok := v.(moment); ok {
		v = t.String()
	}
	return v, nil
}

// Truth returns a value as a boolean: null and "" are false, "true" is true. The error
// is an *scan.Error.
func Truth(v any) (yes bool, err error) {
	defer func() { err = scan.Caught(recover(), err) }()
	return toBool(v), nil
}
