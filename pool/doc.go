// SPDX-License-Identifier: Apache-2.0

// Package pool decides what is played next: which of the ready instances, and
// which of their work.
//
// A [Queue] holds ready instances, each a number, in eight lists, one for each
// [Priority]. Its [Discipline] says which list is next: [FIFO] knows no
// priorities, [Strict] serves the highest list that is not empty, and [Quoted]
// goes round from p7 to p0 and serves at most a quote of each.
//
// A [Pool] also holds the work of the instances, which it calls channels. A
// channel is dormant (it has no work), ready (it has work and waits for its
// turn) or in progress (somebody plays its work). [Pool.Deliver] adds work,
// [Pool.Start] takes the next ready channel and the oldest of its work,
// [Pool.End] gives the channel back. So the work of a channel is played in
// order and never by two at once, however many channels and players there are.
// The ready channels wait by the same disciplines as in a Queue.
//
// Both are pure machines of one owner: no clock, no lock, no goroutine, and no
// allocation once they have grown to the size that they need. Times are
// microseconds since the Unix epoch and are passed in. Package
// [github.com/pnagent/pnagent/pool/workers] puts goroutines around them.
//
// What happens is counted along, always: see [Stats].
package pool
