// SPDX-License-Identifier: Apache-2.0

// Package scrape makes a telemetry source of any process that has a Prometheus
// endpoint. A [Mapping] file maps metrics to columns of places and transitions;
// docs/attach/scrape.md explains how to write one.
//
//	target ──► fetch ──► parse ──► families ──► state ──► rows ──► telemetry.Publisher
//	                                  by the Mapping, pure
//
// [Run] scrapes each [Target] every interval. Each target is its own source, so
// an unreachable target becomes stale and delays no other.
//
// # Columns
//
// A column of a net is published if every row has it. A column without series
// is absent, never zero, unless the mapping says that no series means zero.
// Places, transitions and nets may be made from label values. They are only
// added, up to [MaxNets] and [MaxRows]: the definition grows in the same epoch.
// A row whose series is gone has no tokens while other rows of its mapping have
// series.
//
// Counters start at the first scrape, because an earlier adapter may have
// published what the target counted before. From then on each adds the rise of
// its series. A series was reset if it falls, or has a later created timestamp,
// or its process has a later start time; it then counts from zero. A series
// that vanishes leaves the counter unchanged.
//
// Ages are as of the moment when the answer began. If only counts are known, an
// age can be observed, which gives a lower bound: see observer. If a series
// gives a number without a time, the time is that of the last scrape.
//
// Only native histograms are read: their buckets are those of stats. Classic
// histograms have other bounds, so their durations could only be guessed.
//
// # Failures
//
// A scrape is used as a whole or not at all. One that is malformed, cut off,
// too large, late or rejected changes only a counter. After two intervals
// without a scrape the source stops publishing, so the collector reports it as
// stale; when the target is back, counters continue. Unusable series are
// counted by reason.
package scrape
