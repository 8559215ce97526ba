// SPDX-License-Identifier: Apache-2.0

// Package game plays the token game for many instances of one net at once and
// records it.
//
// A [Shard] is owned by one goroutine. It is a pure machine: tokens enter by
// [Shard.Inject], transitions that do not fire by themselves by [Shard.Fire],
// time by the now of [Shard.Step], which fires what is due and what is
// enabled, up to a budget; [Shard.NextDue] says when there is something to do
// again, and [Shard.Look] reads the rows off. Same net, same seed, same calls:
// same run. How instances are spread over shards changes nothing, because
// everything that is random about an instance is drawn from the seed and the
// instance's own number.
//
// An instance is a cell of 64 bytes, one cache line: up to six tokens, each
// with its place and the time when it was injected. Which transition is
// enabled is found from the places that hold tokens. An instance that needs
// more tokens moves to a wide form, which is a [petri.State] and a queue of
// injection times for each place, and comes back when it needs fewer.
//
// In a place the oldest token leaves first. Tokens of a place/transition net
// are alike, so that is a convention: it decides which ages are reported.
//
// How a transition fires is its [Mode]: at once when it is enabled; after it
// was enabled for a delay without interruption; at a rate; or only from
// outside. A delayed transition has one clock an instance, which starts when
// it becomes enabled, stops when it no longer is, and starts anew when it has
// fired and is still enabled. Immediate transitions go before timed ones that
// are due at the same time.
//
// Which ready instance is played next is a matter of turn, or of priorities if
// [Config] asks for a discipline of package pool. That changes when an instance
// is played, not what comes of it: at rest there is no difference.
//
// What a shard did can be written down ([Shard.TakeLog]) and done again by
// another one ([Shard.Replay]), from the beginning or from a state that was
// saved ([Shard.AppendState], [Shard.LoadState]). Clocks run along in a replay,
// so that after [Shard.Resume] a delay is over when it would have been over; one
// that is random lasts from the same moment and is drawn again. What is counted
// is in the log too: after [Shard.Resume] a shard counts on where the one that
// wrote the log was. What a log does not hold is which of rivals was chosen last.
//
// A shard may play one region of a net ([Config].Part), as package split cuts
// it. What its firings put into other regions leaves it: [Shard.TakeCrossings].
//
// All times are microseconds since the Unix epoch and are passed in.
package game
