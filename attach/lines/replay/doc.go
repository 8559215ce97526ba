// SPDX-License-Identifier: Apache-2.0

// Package replay follows the instances of a net from outside: it is told which
// transition fired when, and knows from that what every instance holds.
//
// A [Replay] is a pure machine for one goroutine. [Replay.Fire],
// [Replay.Put] and [Replay.End] tell it what happened; [Replay.Look] reads the
// rows off. An instance begins with the first event that names it, at the
// initial marking, and is forgotten at its end: when all of its tokens are in final
// places (see petri.Net.FinalPlaces) and no transition that reads them is enabled.
// So memory is bounded by the instances that are open. What it held at its end has
// arrived, and neither departs nor dwells.
//
// # What does not fit
//
// An event that the marking does not allow is unfit and is repaired as
// token-based replay does (van der Aalst, Process Mining, 2nd edition, 8.2): the
// tokens that its transition lacks are added, and it fires. Over all instances p
// tokens are produced, initial ones included, c are consumed, m were missing and
// r remained in instances that ended without getting to their end. [Counts.Fitness] is
//
//	1/2 (1 - m/c) + 1/2 (1 - r/p)
//
// What an instance holds at its end in final places is its result, and counts as
// consumed; if it is told to be over and holds no such token, one was missing. A transition that fires although it is inhibited is
// unfit, and no token is missing.
//
// # Silent transitions
//
// A transition that no event tells of, such as a gateway, is silent. Silent
// transitions fire when an event needs them: the fewest that enable its
// transition, found by a breadth-first search that looks at a bounded number of
// markings; and when they alone can still fire and lead to the end. They fire at
// the time of the event. A token before a gateway therefore stands there till
// the event behind it, which is all that can be known.
//
// The data that guards look at is not in the events: guards are not asked. Of an
// inclusive split that is silent, the branches are chosen that the next event needs;
// of one that an event names, all are taken.
//
// All times are microseconds since the Unix epoch.
package replay
