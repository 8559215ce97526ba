// SPDX-License-Identifier: Apache-2.0

// Package replay follows the instances of a net from events: it receives which
// transition fired and when, and derives the marking of every instance.
//
// A [Replay] is a pure machine for one goroutine. [Replay.Fire], [Replay.Put]
// and [Replay.End] apply an event; [Replay.Look] returns the rows. An instance
// starts with its first event, at the initial marking. It ends when all of its
// tokens are in final places (see petri.Net.FinalPlaces) and no transition that
// reads them is enabled; then its state is dropped. So memory is bounded by the
// open instances. The tokens of an instance at its end count as arrivals, but
// neither as departures nor in dwell times.
//
// # Unfit events
//
// An event that the marking does not allow is unfit. It is repaired as in
// token-based replay (van der Aalst, Process Mining, 2nd edition, 8.2): the
// tokens that its transition lacks are added, and it fires. Over all instances
// p tokens are produced, initial ones included, c are consumed, m were missing,
// and r remained in instances that ended elsewhere. [Counts.Fitness] is
//
//	1/2 (1 - m/c) + 1/2 (1 - r/p)
//
// Tokens in final places at the end of an instance are its result, and count as
// consumed. If an event ends an instance without such a token, one was missing.
// A transition that fires although it is inhibited is unfit without a missing
// token.
//
// # Silent transitions
//
// A transition without events, such as a gateway, is silent. Silent transitions
// fire in two cases. If an event needs them, a breadth-first search over a
// bounded number of markings finds the fewest that enable its transition. And
// if no event can follow, they fire if they lead to the end. They fire at the
// time of the event, so a token before a gateway stays there until the next
// event.
//
// Events do not carry the data of guards, so guards are ignored. A silent
// inclusive split takes the branches that the next event needs; one with an
// event takes all.
//
// All times are microseconds since the Unix epoch.
package replay
