// SPDX-License-Identifier: Apache-2.0

// Package replica is the pure core of attaching to DiPeN: keys and changes of
// keys go in, as etcd tells them, rows of a net come out. It knows no
// connection and reads no clock.
//
// [ParseKey] reads a key. A [Replica] is loaded with all keys as they were at
// one revision ([Replica.Begin], [Replica.Add], [Replica.Commit]) and then told
// every transaction after it, one revision at a time ([Replica.Apply]). It
// follows which tokens are there, which are taken and by which transition, and
// counts what happened:
//
//   - a transaction that puts a taken key starts a run of its transition,
//   - one that deletes it ends the run: a firing, or a cancel where nothing
//     changed and a new leader of the region cleaned up after the old one.
//
// # Times
//
// A revision carries no time. [Times] holds marks: which revision was the newest
// at which moment, from looking at etcd once a second and from changes as they
// arrive. A revision was made no later than the first mark that reaches it, and
// that is the time that is shown for it. So an age is never more than the
// truth. Where nobody looked for longer than [Loose] before the mark, as before
// the attachment, it may be less, and the token is named "17 (or older)"; how
// long it stayed is then in no histogram.
//
// Tokens are named by their DiPeN ids.
package replica
