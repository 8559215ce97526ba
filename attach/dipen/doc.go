// SPDX-License-Identifier: Apache-2.0

// Package dipen is a telemetry source for nets that DiPeN runs. DiPeN keeps its
// state in etcd; this package reads it through etcd's JSON gateway and never
// writes, so DiPeN needs no change.
//
// [Run] reads and publishes until its context ends. The parts are:
//
//   - gateway.go and answer.go are the client of etcd: ranges and watches over
//     net/http, several endpoints, TLS, user and password; all answers are
//     bounded.
//   - session.go is one connection. It requests the newest revision and reads
//     all keys at that revision in pages. Then it watches changes from the next
//     revision on, and requests the newest revision once a second. It ends at
//     the first error; the next session continues at that revision, at the next
//     endpoint.
//   - package replica is the pure core, which applies the changes.
//   - journal.go stores the times of revisions and the revision of the
//     published counts. So a restart changes no age, and neither loses nor
//     repeats a firing.
//   - source.go publishes the replica's rows.
//
// # Compaction
//
// If etcd compacts changes before they were read, the session reads the keys at
// the oldest remaining revision and counts from there. [Status] reports since
// when counts are complete and how many revisions are missing. Ages stay right:
// they come from the keys.
package dipen
