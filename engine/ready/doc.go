// SPDX-License-Identifier: Apache-2.0

// Package ready decides which ready instance is played next, and how much of
// its work.
//
// A [Queue] holds ready instances, each a number, in eight lists, one for each
// [Priority]. Its [Discipline] chooses the next list: [FIFO] ignores
// priorities, [Strict] serves the highest list that is not empty, and [Quoted]
// serves at most a quote of each list in turn, from p7 to p0.
//
// A [Pool] also counts the work of the instances. [Pool.Deliver] adds a piece
// of work, which makes an instance ready that had none, [Pool.Start] takes the
// next ready instance and some of its work, and [Pool.End] puts it back if more
// work waits. So an instance is never played twice at once.
//
// A [Turn] applies a discipline across several queues or pools of one owner.
//
// All are pure machines of one owner: no clock, no lock, no goroutine, and no
// allocation once they have grown to the size that they need. Times are
// microseconds since the Unix epoch and are passed in.
//
// They always count what happens: see [Stats].
package ready
