// SPDX-License-Identifier: Apache-2.0

// Package coloured plays nets whose tokens carry data and have an identity, and
// whose transitions may have guards, actions that take time, inclusive joins
// and splits. On plain nets it fires the same transitions as package plain, in
// the same order.
//
// A [Shard] is a pure machine with one owner: no clock, no goroutine, no I/O.
// Events are calls ([Shard.Inject], [Shard.Fire], [Shard.Done],
// [Shard.Cancel]), and time is the now of [Shard.Step]: microseconds since the
// Unix epoch, which must not go back. [Shard.Ready] returns what its owner has
// to bring about. The same net, seed and calls give the same run over any
// number of shards.
//
// A call takes effect at once, or has returned the reason why it cannot. It
// leaves a piece of work in the instance, which is a channel of a [ready.Pool].
// Step takes the instances in the order of the discipline, and plays each until
// no immediate transition is enabled or its quota is used up.
//
// A change (choose.go, change.go, fire.go) is what happens in one instance at
// one time: what is chosen, planned, taken and put. Frames (frame.go,
// variables.go) are the instance and the runs of its scopes; they hold tokens
// and variables. Notes are what an instance remembers of its transitions and
// what is due, the runs (run.go) its actions. What a shard did can be recorded
// and replayed, as in package plain: a log (log.go) and a state (state.go) are
// operations, which a codec writes and reads without a shard, and a reader
// (replay.go) applies.
//
// docs/design/coloured.md has the rules for guards, runs, scopes, loops,
// incidents and clocks.
package coloured
