// SPDX-License-Identifier: Apache-2.0

// Package dipen is a telemetry source for nets that DiPeN runs. DiPeN keeps its
// state in etcd; this package reads it there, through etcd's JSON gateway, and
// never writes: DiPeN need not know.
//
// [Run] reads and publishes until its context ends. Inside:
//
//   - gateway.go and answer.go speak to etcd: ranges and watches over net/http,
//     several endpoints, TLS, user and password; everything that comes is bounded.
//   - session.go is one connection: a look at the newest revision, all keys at one
//     revision in pages, then changes from the next revision on, with a look once
//     a second. It ends with the first error, and the next one goes on at the
//     revision where it stopped, at the next endpoint.
//   - package replica is the pure core, told by the session what changed.
//   - journal.go keeps on disk when revisions were made and up to which one the
//     counts were published, so that a restart makes no token young and neither
//     loses nor repeats a firing.
//   - source.go publishes the replica's rows.
//
// # What is lost when history is
//
// etcd compacts. If that takes changes that were not read yet, the keys are read
// as of the oldest revision that is left and counting goes on from there; [Status]
// says since when counts hold and how many revisions are missing. Ages are not
// touched: they come from the keys.
package dipen
