// SPDX-License-Identifier: Apache-2.0

// Package coloured plays nets whose tokens carry data and have an identity, and
// whose transitions may have guards, actions that take time, inclusive joins
// and splits. On plain nets it fires the same transitions as package plain, in
// the same order.
//
// A [Shard] is a pure machine with one owner: no clock, no goroutine, no I/O.
// Events are calls ([Shard.Inject], [Shard.Fire], [Shard.Done],
// [Shard.Cancel]), and time is the now of [Shard.Step]. [Shard.Ready] returns
// what its owner has to bring about: actions to perform and to cancel, events,
// and what to record. The same net, seed and calls give the same run over any
// number of shards.
//
// A call takes effect at once: when it returns, its tokens age and are in the
// log, and if the firing was not possible, the call has returned the reason. A
// call also leaves a piece of work in the instance, which is a channel of a
// [ready.Pool]. Step takes the instances in the order of the discipline. It
// plays each until no immediate transition is enabled or its quota is used up.
//
// A transition takes the oldest tokens. A guard is asked about combinations of
// tokens, oldest first, at most [MaxCombinations]. New tokens have a new identity
// and the data of the tokens that were taken. A transition with an action takes
// its tokens when it starts; until its run ends they are in flight.
//
// A transition that failed is tried again. After its last attempt, or if an
// expression of it cannot be evaluated, it is an incident: it waits until
// [Shard.Fire] names it, or what it depends on changes.
//
// In a net with scopes, each run of a scope has its own tokens and variables: see
// [petri.Scope]. A scope may have a loop ([petri.Loop]): its runs are opened and
// ended by two transitions, and the shard keeps the list, the counter and the
// results. Expressions ([Value]) say what a run gets and gives.
//
// What a shard did can be recorded and replayed, as in package plain, counters
// included, and the starts and ends of runs: the next owner gets those runs
// again whose action is idempotent, under the same names. A shard may play one
// region of a net ([Config].Part); tokens that leave it are in [Ready].Crossings.
//
// The shard conducts. A change (choose.go, fire.go) is what happens in one
// instance at one time: what is chosen, taken and put. The scopes (frame.go,
// variables.go) hold tokens and variables, the notes what an instance remembers
// of its transitions and what is due, the runs (run.go) the actions. A log
// (log.go) and a state (state.go) are operations (op.go), which a codec writes
// and reads without a shard, and a reader (replay.go) applies.
//
// docs/design/coloured.md has the rules for guards, runs, scopes, incidents and
// clocks.
// All times are microseconds since the Unix epoch and are passed in; they must
// not go back.
package coloured
