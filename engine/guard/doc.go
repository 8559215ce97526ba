// SPDX-License-Identifier: Apache-2.0

// Package guard compiles expressions to guards and to values, for people who write nets
// and not Go. It is pure.
//
//	g, err := guard.NewCompiler(places).Guard(`amount < 100 && !(express)`)
//
// The beginning of a text says its language: "=" FEEL (package feel), "${" or "#{" UEL
// (package uel), otherwise that of github.com/expr-lang/expr: comparisons, arithmetic,
// and or not (also && || !), x ? y : z, in, contains, startsWith, matches,
// .field, [index], ?., ??, and the functions that [Functions] lists. An expression may have lines
// "with NAME = EXPRESSION" before it, which define variables for the lines after them, and a
// guard also "unless EXPRESSION", which must not be true. Each line has its own language. After
// is ["a", "b"]: the value must be one of the texts, or a list of some, and after has ["a"]: a list with one.
// "once: " before an expression makes it false, not an error, while one of its variables does
// not exist. A condition of FEEL or UEL that is null, or neither true nor false, is an error otherwise.
//
// An expression reads the tokens that the transition takes or tests, whose data is
// JSON. In each language:
//
//   - every field of the tokens' JSON objects is a variable. If several tokens
//     have it, the value of the youngest one counts.
//   - pnagent.token is the data of the first token; pnagent.tokens is a list of
//     all, each with place, id, age and data, in the order of the places in the
//     net, the oldest first.
//   - pnagent.age is the age of the oldest token in seconds, pnagent.now the time
//     in UTC. pnagent hides a field of that name; no other name is hidden.
//
// In pnagent's own language a field whose name is not an identifier is $env["the name"]; a
// variable or field that no token has is nil, and nil counts as false where true or
// false is expected. pnagent.now has methods such as Hour(), and goes with date("2026-01-31")
// and duration("90m").
//
// Every mistake is an [Error]. A [Compiler] returns mistakes in the text, with the
// column. Mistakes in tokens, such as data that is not JSON or a text where a
// number is expected, are a panic of the guard: the machine counts that as a
// failure of the transition, which is an incident, and reports why.
//
// A guard that rejects and uses an age or the time is asked again after a
// second; others only when a place has changed.
//
// Bounds: text [MaxText], data [MaxData] and [MaxDepth] deep, [MaxRounds] of
// all loops (all, any, filter, …) together, fewer with much data ([MaxWork]:
// 1024 with 64 KiB), texts that an expression makes and values [MaxData]. The language
// omits everything that can differ between two evaluations (the clock, the time
// zone of the machine, the order of keys), and everything that makes lists
// longer than its arguments. The bounds of the other languages are in their packages.
package guard
