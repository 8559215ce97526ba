// SPDX-License-Identifier: Apache-2.0

// Package merge adds up the snapshots of every source of a subject space. [Merger] is a pure
// core: snapshots, definitions and the time go in, Views and requests ([Ask]) come out; it has
// no I/O, no clock and no goroutine. Package collector is the shell around it. The files in
// testdata/stories show its behaviour step by step, and are its tests.
//
// The invariant: no counter of a View ever falls, and nothing counts twice.
// Counters are cumulative since a source's epoch. When a source restarts, the
// last totals of its old epoch are added to the net's base. Tokens and all other
// present state are those of the last snapshot of each source. A message is
// taken as a whole or rejected as a whole, for one of [Reasons]; a rejected
// message leaves nothing but its count.
//
// Each source is in one [SourceState]: [Up], [Stale], [Gone], [Undefined] or
// [Refused]. Silence counts only while the collector can receive, see
// [Merger.ReceivedUntil]; [View].Interrupted reports that it cannot. [Rules] holds the times,
// [Limits] the bounds on memory. A View holds only times of the collector's
// clock.
//
// Sums follow the changes of rows, see [stats.Sums]; a sample is compared with what the sources add
// up to once a minute, and [View].SumDifferences counts what differs.
//
// A net's definition in a View, [NetView].Def, is the union of its sources'
// definitions, in which no row ever moves: a reader may keep what it derives
// from it.
//
// A Merger continues from the log of another process, whose frames a [Saver] makes:
// [Merger.Restore]. [Merger.Silent] and [Merger.TakeSilent] hand silent sources to
// a collector that starts. [NetView.Published], [View.FillRows] and [View.Remnants] publish a View
// as one source of another subject space.
//
// The rules for restarts, regions, clocks, silence and state are in
// docs/design/merging.md.
package merge
