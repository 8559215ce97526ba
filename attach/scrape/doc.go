// SPDX-License-Identifier: Apache-2.0

// Package scrape makes a telemetry source of anything that has a Prometheus
// endpoint. A mapping file names the metrics that tell what of places and
// transitions; docs/attach/scrape.md is written for who writes one.
//
//	target ──► fetch ──► parse ──► families ──► state ──► rows ──► telemetry.Publisher
//	                                  by the Mapping, pure
//
// [Run] scrapes each [Target] every interval. Each is a source of its own, so
// that one which is away shows as such and its rows do not hold up the others'.
//
// # What is known
//
// A column of a net is known if every row has it; what has no series is absent
// in all faces, never zero, unless the mapping says that no series means none.
// Places, transitions and nets may be made from the values of labels. They are
// only ever added, up to [MaxNets] and [MaxRows]: the net's definition grows,
// in the same epoch, by telemetry's Redefine. A thing that is gone has no tokens
// while others of its kind are there.
//
// Counters count from the first scrape on: what a target counted before may have
// been counted by an adapter that ran before. From then on each series counts
// what it rises by. A series that falls, that has a later created timestamp, or
// whose process has a later start time, began anew and counts from zero. One that
// vanishes takes nothing along.
//
// Ages are as of the moment when the answer began. Where only counts are known,
// an age can be observed: it is a lower bound, see observer. Where a source says
// how many and not since when, it is since the last scrape, at least.
//
// Only native histograms are read: their buckets are ours. Classic ones have
// bounds of their own, so durations would be made up.
//
// # What a target may do
//
// A scrape is used as a whole or not at all. One that is garbage, cut off, too
// large, late or refused changes nothing but a counter. After two intervals
// without one that can be read the source says nothing, so that it grows stale in
// the collector, and its tokens older; when the target is back, counters go on
// where they were. Single series that cannot be used are counted by reason.
package scrape
