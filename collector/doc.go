// SPDX-License-Identifier: Apache-2.0

// Package collector receives the snapshots of every source of a subject space
// and adds them up: one immutable [View] a second, which all faces read. While nothing
// is received and nothing changes there is one in four seconds.
//
// It has two layers. [Merger] is the pure core: snapshots, definitions and the
// time go in, Views and requests ([Ask]) come out; no I/O, no clock, no
// goroutine. The files in testdata/stories show its behaviour step by step, and
// are its tests. [Collector] is the shell: it subscribes, decodes, sends
// requests, and swaps the View through an atomic pointer.
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
// up to once a minute, and [View].SumDifferences counts what differs. A collector with too much
// work asks sources for rarer messages: [View].Pace, [telemetry.Pace].
//
// A net's definition in a View, [NetView].Def, is the union of its sources'
// definitions, in which no row ever moves: a reader may keep what it derives
// from it.
//
// A collector can take a [Share] of the sources, and can publish its View as one
// source of another subject space: [NetView.Published], [View.FillRows],
// [View.Remnants], [Collector.Oldest] and [Collector.Instance] serve package uplink.
//
// Config.Keep receives, before each View is shown, what the next process needs
// to continue (Config.State and Config.Shown). Package collector/counts keeps
// both in files. [Merger.Silent] and [Merger.TakeSilent] hand silent sources to
// a collector that starts.
//
// The rules for restarts, regions, clocks, silence and state are in
// docs/design/merging.md; how two sidecars agree on which one sends
// notifications is in docs/design/pairs.md.
package collector
