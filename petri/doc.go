// SPDX-License-Identifier: Apache-2.0

// Package petri holds a net and plays its token game.
//
// A [Net] is what a file says: places, transitions and arcs with their ids,
// names and positions. [Net.Validate] checks it and [Compile] turns it into
// [Tables]: flat arrays in which a place and a transition are small integers,
// their indices in the net. Everything else in the package works on Tables.
//
// A [State] is one instance: a count for each place, a countdown for each
// transition (how many of its input conditions do not hold), and the set of
// enabled transitions. A firing costs what its neighbourhood costs, whatever
// the size of the net. Package game plays many instances at once on the same
// tables, in a smaller form; package petritest has a deliberately simple third
// form, which is the reference for both.
//
// An inclusive join is enabled by a rule about the whole marking (see
// [JoinTest]), which counts as one more condition. Which branches an inclusive
// split takes and whether a guard holds is decided by data that a State does not
// have: it knows no guards, and is told the branches.
//
// Which of several enabled transitions fires is defined without regard to the
// form: the highest priority; among those, the first at or after the
// instance's turn, counted round, where the turn is one past the transition
// that fired last; and of rivals, which can disable each other, the one that
// was not chosen for longest (see [Order]). So no enabled transition waits for
// ever behind another of its priority. With a seed, each enabled transition of
// the highest priority is as likely as another.
//
// The package is pure: it reads no clock, no file and no random source.
package petri
