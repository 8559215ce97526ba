// SPDX-License-Identifier: Apache-2.0

// Package petri holds a net and plays its token game.
//
// A [Net] is the content of a file: places, transitions and arcs with their ids,
// names and positions. [Net.Validate] checks it and [Compile] makes [Tables]: flat
// arrays in which a place and a transition are integers, their indices in the net.
// All other functions use Tables.
//
// A [State] is one instance: a count for each place, a countdown for each transition
// (the number of its input conditions that do not hold), and the set of enabled
// transitions. The cost of a firing depends on its neighbourhood, not on the size of
// the net. Package plain plays many instances on the same tables in a smaller form.
// Package petritest has a simple third form, which is the reference for both.
//
// A rule about the whole marking (see [JoinTest]) enables an inclusive join; it
// counts as one more condition. Data decide which branches an inclusive split takes
// and whether a guard holds. A State has no data: it ignores guards, and its caller
// chooses branches.
//
// The choice among enabled transitions is the same in every form. The highest
// priority fires first; among those, the first at or after the instance's turn,
// cyclically, where the turn is one past the transition that fired last; and among
// rivals, which can disable each other, the one that was not chosen for longest (see
// [Order]). So no enabled transition waits forever for others of its priority. With a
// seed, each enabled transition of the highest priority is equally likely.
//
// Invariant: the package is pure. It reads no clock, no file and no random source.
package petri
