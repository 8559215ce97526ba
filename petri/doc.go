// SPDX-License-Identifier: Apache-2.0

// Package petri holds a net and plays its token game.
//
// A [Net] is what a file says: places, transitions and arcs with their ids,
// names and positions. [Net.Validate] checks it and [Compile] turns it into
// [Tables]: flat arrays in which a place and a transition are small integers,
// their indices in the net. Everything else in the package works on Tables.
//
// Two forms of one instance of a net play the same game on the same tables:
//
//   - [State] is the full form: a count for each place, a countdown for each
//     transition (how many of its input conditions do not hold), and the set
//     of enabled transitions. Its cost a firing depends on the arcs of the
//     neighbourhood, not on the size of the net.
//   - [Game] plays many instances at once. An instance is a [Cell] of 64
//     bytes, one cache line, that lists up to six tokens with the time when
//     each was injected; an instance that needs more moves to a wide form by
//     itself. Each firing is recorded in a [Recorder].
//
// A deliberately simple third form lives in the tests and is the reference
// for both.
//
// Which of several enabled transitions fires is defined without regard to the
// form: the highest priority; among those, the first at or after the
// instance's turn, counted round. After a firing the turn is one past the
// transition that fired, so that no enabled transition waits for ever behind
// another of its priority; with a seed, the turn is drawn at random.
//
// The package is pure: it reads no clock, no file and no random source of its
// own. Times are nanoseconds since the Unix epoch and are passed in.
package petri
