// SPDX-License-Identifier: Apache-2.0

// Package dmn compiles and evaluates decisions of DMN (1.5, chapter 8): decision tables and literal expressions in FEEL
// or UEL. It is pure.
//
//	d, err := dmn.Compile(net.Decisions, "dish")
//	r, err := d.Eval(now, variables)
//	v, err := r.Value()
//
// A required decision is evaluated first; its result is a variable under its name, and so are its outputs if one
// rule matches, as in Camunda 7. A [Result] has the rows of a table, from which engines make different values:
// [Result.Value] is that of DMN and of Camunda 8, [Result.Mapped] that of Camunda 7.
//
// Bounds: [MaxSteps] of FEEL for a decision and all that it requires, which are at most 100 deep.
package dmn
