// SPDX-License-Identifier: Apache-2.0

// Package wirecheck listens to what engines say and tells their authors in plain
// words what is wrong with it, and what is not told.
//
// It is stricter than a collector, which makes the best of what it hears: it
// remembers each source's last rows, compares, and looks at whether the numbers
// of one row agree. [Checker] is pure: messages, definitions and the time go in,
// a [Report] comes out. The command "pnagent wire check" is around it.
//
// What it keeps is bounded by [MaxSources] sources, [MaxKinds] kinds of findings
// of each, and the bounds of the wire.
package wirecheck
