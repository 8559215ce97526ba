// SPDX-License-Identifier: Apache-2.0

// Package colour plays nets whose tokens carry data and have an identity, whose
// transitions may have guards and actions that take time, with inclusive joins
// and splits. It is what package game is for plain nets, on which it does the
// same, firing by firing.
//
// A [Shard] is a pure machine with one owner: no clock, no goroutine, no I/O.
// What comes from outside is a call ([Shard.Inject], [Shard.Fire], [Shard.Done],
// [Shard.Cancel]), time is the now of [Shard.Step], and what is to be done
// outside is handed out as values: [Shard.Starts] are actions to perform,
// [Shard.Stops] those to break off. Same net, seed and calls: same run, over any
// number of shards, because all chance is drawn from the seed, the instance's
// number and how far it is.
//
// # Work
//
// A call takes effect at once and answers exactly: what it puts is seen, ages
// and is in the log when it returns, and a firing that cannot be is refused with
// its reason. It leaves a piece of work in the instance, which is a channel of a
// [pool.Pool]; Step takes the instances in the order of the discipline, and
// plays each until nothing immediate is enabled or its quota is used up.
//
// # Firing
//
// A transition takes the oldest tokens. If it has a guard, that is asked about
// combinations of tokens, oldest first: those of the last place change first,
// and inside a place in lexicographic order of age. At most [MaxCombinations]
// are tried; then the answer is no until something changes. A guard sees what
// normal, read and join arcs take or test. A "no" is remembered until a place of
// the transition, or the place that the guard waits for, changes, or its time
// has come. New tokens have a new identity and carry on the data of what was
// taken; of a token that goes back to its own place identity and data stay. In a
// place tokens stand in the order of injection, then identity.
//
// An instance keeps only the places that hold tokens. To choose what goes first
// costs in proportion to them and to the transitions that need them.
//
// # Actions
//
// A transition with an action takes its tokens when it starts. Until its run
// ends they are in flight: at their place of origin they count for inhibitors,
// joins, markings and rows, but no normal or read arc can use them, save that a
// transition which preempts takes them and so cancels the run (only runs of
// transitions that do not preempt themselves). A join waits for a place of its
// own that holds only tokens in flight. A run that does not fire puts its tokens
// back as old as they were. Reset arcs empty their place when the transition has
// fired, not when it starts; that cancels the runs that hold tokens of the place.
//
// A transition that failed waits, alone, and is tried again; failures are
// counted for the tokens that it took, and forgotten when it fires or they are
// gone. After its last attempt, if no branch of a split can be taken, or if a
// place overflows, it is an incident: it waits until [Shard.Fire] names it or
// what it failed with is gone. So is the no of a guard that waits for nothing, if
// its net says that some alternative is meant to take the token; it is asked
// again when a place of its transition changes. An instance that comes to rest with an incident
// has failed, and not deadlocked; it counts as failed once each time. After a
// restart nothing is remembered of failures, nor what waits for an event: all is
// tried anew.
//
// # Time
//
// A delayed transition has a clock an instance. It starts when the last token
// that it needs was injected, as far as tokens tell (an inhibitor or a join
// makes that now), and anew when it fires. Delays are drawn from the seed, the
// instance, the transition and the start of the clock, so they are the same
// after a restart. A state keeps the starts of clocks; after a log the tokens
// have to tell.
//
// # Logs and parts
//
// What a shard did can be written down and done again, as in package game. What
// is counted is in the log too, failures and runs included: after
// [Shard.Resume] a stand-by that followed it goes on counting where the owner
// was. If [Config].Runs is set, so are runs that start and are over: who goes on
// is handed those again whose action is idempotent, under the same name, and the
// others are put back and count as cancelled. A shard may play one region of a net ([Config].Part), as package split
// cuts it; what its firings put into other regions leaves it with its data:
// [Shard.TakeCrossings].
//
// All times are microseconds since the Unix epoch and are passed in; they must
// not go back.
package colour
