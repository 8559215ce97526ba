// SPDX-License-Identifier: Apache-2.0

// Package simulate plays a net in simulated time, many times, and estimates what an operator
// asks before a change: throughput, how long tokens stay, how many wait, how busy people are.
//
// A [Model] is a net, how its transitions fire, its pools of people and its arrivals. A run plays
// it with the shards of packages plain and coloured: they take the time as an argument, so a run
// steps from one due time to the next and waits for nothing. [Study] makes many runs and returns
// a [Summary].
//
// A transition with a pool takes its tokens when it is enabled, waits for a free member of the
// pool, and fires when the member has worked for the delay. Members take requests by the priority
// of their instances, and first come, first served. Other delays are those of the engine: a clock
// for each transition in an instance.
//
// With arrivals, each case is an instance, which gets the initial marking when the case arrives.
// An instance whose case has ended is used for another one.
//
// What the numbers mean:
//
//   - Each run is independent of the others and gives one value of each figure. An [Estimate] is
//     the mean of these values, with an interval by Student's t distribution.
//   - A run starts empty, so the begin of each run is left out: see [Options].
//   - A stay that has not ended counts: mean times are the tokens' time divided by the tokens
//     that left, quantiles include the age so far of tokens that are still there.
//   - A place or a pool grows if it holds more in the second half of the runs than in the first
//     half. Then no mean describes it: the figures depend on how long a run is.
//
// The package is pure: no clock, no I/O, no goroutine, no random source but that of the seed.
package simulate
