// SPDX-License-Identifier: Apache-2.0

// Package plain plays the token game for many instances of one net at once and
// records it.
//
// A [Shard] is a pure machine, owned by one goroutine. [Shard.Inject] adds
// tokens, [Shard.Fire] fires a transition from outside, and [Shard.Step] fires
// what is due and enabled at a time, up to a budget. [Shard.NextDue] returns
// the next time at which there is something to do, and [Shard.Look] reads the
// rows. The same net, seed and calls give the same run, however instances are
// spread over shards: all randomness of an instance is drawn from the seed and
// its own number.
//
// An instance is a cell of 64 bytes, one cache line: up to six tokens, each
// with its place and the time of its injection. Enabled transitions are found
// from the places that hold tokens. An instance with more tokens moves to a
// wide form, a [petri.State] with a queue of injection times for each place,
// and back when it has fewer.
//
// In a place the oldest token leaves first. This only decides which ages are
// reported, because tokens of a place/transition net are alike.
//
// A transition fires by its [Mode]: at once when it is enabled, after it was
// enabled for a delay without interruption, at a rate, or only from outside. A
// delayed transition has one clock per instance. It starts when the transition
// becomes enabled, stops when it no longer is, and starts again when it has
// fired and is still enabled. Immediate transitions fire before delayed ones
// that are due at the same time.
//
// Ready instances are played in turn, or by priority if [Config] has a
// discipline of package ready. A discipline changes when an instance is played;
// the state in which it comes to rest is the same.
//
// What a shard did can be recorded ([Ready].Log) and replayed by another
// one ([Shard.Replay]), from the beginning or from a saved state
// ([Shard.AppendState], [Shard.LoadState]), counters included. Clocks run in a
// replay, so that after [Shard.Resume] a delay ends when it would have ended; a
// random one starts at the same time and is drawn again. A log does not record
// which of several rivals was chosen last.
//
// A shard may play one region of a net ([Config].Part), as package split
// divides it. The tokens that firings put into other regions are in
// [Ready].Crossings.
//
// All times are microseconds since the Unix epoch and are passed in.
package plain
