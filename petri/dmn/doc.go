// SPDX-License-Identifier: Apache-2.0

// Package dmn reads the decisions of DMN files, of the versions 1.1 to 1.5: decision tables and literal expressions,
// with the decisions that they require.
//
//	decisions, err := dmn.Read(r, "dish.dmn", dmn.DefaultLimits())
//
// [Read] checks the structure of the file and keeps each expression as a text with its position. The package
// engine/guard/dmn compiles and evaluates them. A decision with another content, such as an invocation, is kept
// with the reason why it cannot be evaluated: it is an error only where it is used.
//
// Invariant: a table that is kept has a hit policy of DMN, and each of its rules has one test for each input and
// one value for each output.
package dmn
