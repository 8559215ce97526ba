// SPDX-License-Identifier: Apache-2.0

// Package query reads the properties of the Model Checking Contest's XML format
// (https://mcc.lip6.fr) and answers them by a visit of the markings. [Read] returns the
// properties of a file for one net. [Answer] visits the markings until all properties
// are decided.
//
// The properties are reachability, <exists-path><finally> and <all-paths><globally>,
// and upper bounds, <place-bound>. A formula combines comparisons (integer-le and so on)
// of tokens-count, integer-constant, integer-sum and integer-difference, is-fireable,
// deadlock, true and false with negation, conjunction, disjunction, implication,
// equivalence and exclusive-disjunction. Read refuses every other element, at its
// position, among them those of CTL and LTL.
//
// Places and transitions are named by their ids. Guards, times and all
// priorities except petri.Urgent do not count, as in package explore: <is-fireable> is false
// while an urgent transition must fire first.
package query
