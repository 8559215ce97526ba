// SPDX-License-Identifier: Apache-2.0

// Package ready decides what is played next: which of the ready instances, and
// how much of their work.
//
// A [Queue] holds ready instances, each a number, in eight lists, one for each
// [Priority]. Its [Discipline] chooses the next list: [FIFO] ignores priorities,
// [Strict] serves the highest list that is not empty, and [Quoted] goes round
// from p7 to p0 and serves at most a quote of each.
//
// A [Pool] also counts the work of the instances. [Pool.Deliver] adds a piece of
// work, which makes an instance ready that had none, [Pool.Start] takes the next
// ready instance and some of its work, and [Pool.End] puts it back if more work
// waits. So an instance is never played twice at once.
//
// A [Turn] applies a discipline across several queues or pools of one owner.
//
// All are pure machines of one owner: no clock, no lock, no goroutine, and no
// allocation once they have grown to the size that they need. Times are
// microseconds since the Unix epoch and are passed in.
//
// What happens is always counted: see [Stats].
package ready
