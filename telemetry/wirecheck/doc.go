// SPDX-License-Identifier: Apache-2.0

// Package wirecheck checks the messages of engines and reports to their authors
// what is wrong with them and which columns are missing.
//
// It is stricter than a collector, which accepts what it can use: it compares
// the rows of a source with its last ones, and the numbers of one row with each
// other. [Checker] is pure: messages, definitions and the time go in, a
// [Report] comes out. The command "pnagent wire check" is the shell around it.
//
// Its memory is bounded by [MaxSources] sources, [MaxKinds] kinds of findings
// of each, and the bounds of the wire.
package wirecheck
