// SPDX-License-Identifier: Apache-2.0

// Package feel evaluates FEEL, the expression language of DMN 1.5 (chapter 10), as BPMN
// files use it. It is pure.
//
//	p, err := feel.Compile(`if order total > 100 then "big" else "small"`)
//	v, err := p.Eval(now, variables)
//
// Mistakes in the text are errors of [Compile], with line and column: a function that
// FEEL does not have, or one with a wrong number of arguments. During an evaluation a
// mistake makes the value null, as DMN says: a comparison of a number and a text, for
// example. [Program.Eval] returns an error only for a bound, for assert, and for patterns that
// only XPath has. Camunda's own functions are there, other than those whose values differ each time.
//
// A name is the words up to the next sign or keyword, so it may have spaces. A name with other
// signs is known if the expression itself defines it, or is written in backquotes. A
// function is one only before a parenthesis, so a variable may have the name of any
// function.
//
// Numbers are decimals of 34 digits. Times have an offset, a zone by name, or none; now() and today() are
// those of the time that Eval is given, in UTC. [MaxSteps] bounds the work of an
// evaluation and what it allocates; texts are at most 64 KiB, expressions and calls
// nest at most 100 deep.
//
// What the DMN Technology Compatibility Kit says of this package is in
// docs/design/expressions.md; set PNAGENT_DMN_TCK to its directory TestCases to run it.
package feel
