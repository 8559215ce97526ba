// SPDX-License-Identifier: Apache-2.0

// Package archive answers what a sidecar showed at a moment that it no longer keeps, from
// the Prometheus that scrapes it.
//
// An [Archive] finds the newest sample at or before a time, and asks for the sidecar's own
// metrics as of that sample: a [Archive.Frame] of one net, an [Archive.Overview] of all, or a
// series of the hour before. Rows are those whose labels are the ids of the definition; a
// value without a sample is absent, and never 0. Of several sidecars that show the same, as
// those of a pair, the largest number counts, as in the dashboards.
//
// Prometheus is another program, and its answers may be anything. An answer is bounded in
// bytes and in the number of its objects before it is decoded. A number that cannot be is
// absent. A document has ten seconds. Few are made at once, and others wait; equal
// requests share one, and what was made is kept for a minute. Errors are for people and do
// not hold the address, which may have a password in it.
//
// [Archive.Run] looks once in a while for the oldest sample and the time between two.
package archive
