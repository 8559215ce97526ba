// SPDX-License-Identifier: Apache-2.0

// Package stats defines the numbers that every part of pnagent exchanges: the
// rows of a net's places and transitions, and how two sets of rows add up.
//
// An engine records rows, the wire carries them, the collector adds those of
// all sources, and every face reads the sum. [Rows.Merge] is a commutative
// monoid with the zero [Rows] of the same size as its identity: any order and
// any grouping of the same rows gives the same result, so collectors can form a
// tree.
//
// Rows hold cumulative counters and injection times, never rates and ages. A
// reader computes those, so a token grows older between two snapshots and while
// its engine is silent.
//
//   - [Histogram] counts durations in base-2 exponential buckets, the buckets
//     of Prometheus' native histograms.
//   - [Slowest] names the instance that took longest, as an example for a histogram.
//   - [Ladder] counts the present tokens by injection time, finer for young ones and
//     coarser for old ones.
//   - [Queue] describes the instances that wait at one priority of a dispatcher.
//   - [Table] declares the numbers of one kind of row, each of them once. What shows
//     or keeps some of them names them as [Table.Named] does.
//   - [Sums] follows the changes of many rows that are added up.
//   - [Recorder] is the plain-array form that an engine's shard writes on its
//     hot path.
//
// All times are microseconds since the Unix epoch, all durations are
// microseconds; 0 as a time means "none". The package is pure: no clock, no
// I/O, no goroutine.
package stats
