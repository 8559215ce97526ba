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
// token-based replay (Rozinat and van der Aalst, Conformance checking of processes
// based on monitoring real behavior, Information Systems 33, 2008): the tokens that
// its transition lacks are missing, and it fires. A missing token that the firing
// takes was in no place, so that it neither arrives nor leaves; one that it only
// reads is in its place from then on. A transition that fires although it is
// inhibited is unfit without a missing token.
//
// Over all instances p tokens are produced, initial ones included, c are consumed, m
// are missing, and r remain. [Counts.Fitness] is
//
//	1/2 (1 - m/c) + 1/2 (1 - r/p)
//
// The end of an instance consumes the final marking: what that lacks is missing, and
// what is left remains. The final marking is the one that the net's file declares,
// of several the one that differs least. Without it, it is one token in the final
// place of a net with one initial token and one final place. In other nets, and with
// [Config.AnyEnd], all tokens in final places are consumed, and one is missing if
// there is none.
//
// # Silent transitions
//
// A transition without events, such as a gateway, is silent. Silent transitions
// fire in two cases: if an event needs them, the fewest that enable its transition,
// and if no event can follow, those that lead to the end. They fire at the time of
// the event, so a token before a gateway stays there until the next event. Events do
// not carry the data of guards, so guards are ignored.
//
// # Several explanations
//
// An event may be one of several transitions (a label), and several ways of silent
// transitions may enable it. If the following events are known, the cheapest
// explanation of the event and of at most [Ahead] following ones counts: first by
// missing and remaining tokens, then by silent firings, then by the order of the
// net. The search is bounded; beyond the bound the event is explained by the first
// transition that is enabled after the fewest silent firings.
//
// All times are microseconds since the Unix epoch.
package replay
