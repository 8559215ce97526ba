// SPDX-License-Identifier: Apache-2.0

// Package replica is the pure core of the DiPeN source: its input is keys of
// etcd and their changes, its output the rows of a net. It has no connection
// and no clock.
//
// [ParseKey] parses a key. A [Replica] is loaded with all keys at one revision
// ([Replica.Begin], [Replica.Add], [Replica.Commit]). Then [Replica.Apply]
// applies every later transaction, one revision at a time. The Replica tracks
// which tokens are present, which are taken and by which transition, and
// counts:
//
//   - a transaction that puts a taken key starts a run of its transition,
//   - one that deletes it ends the run: a firing, or a cancel if nothing
//     changed and a new leader of the region cleaned up after the old one.
//
// # Times
//
// A revision has no time. [Times] holds marks: which revision was the newest at
// which moment, from requests once a second and from changes as they arrive.
// The time of a revision is that of the first mark that reaches it, which is
// its latest possible time. So an age is a lower bound. It may be far too low
// if the last request before the mark was longer than [Loose] ago, as at the
// start of the source. The token is then named "17 (or older)", and its dwell
// time is in no histogram.
//
// Tokens are named by their DiPeN ids.
package replica
