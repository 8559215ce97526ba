// SPDX-License-Identifier: Apache-2.0

// Package telemetry is what an engine says about its nets, and how: the wire
// form of a snapshot, the subject names, and the publisher that any engine can
// embed. README.md beside this file is the specification of the wire, for
// engines in other languages.
//
// A [Snapshot] holds the [stats.Rows] of one net at one source: every row, or
// only those that changed. [Encoder] and [Decoder] turn it into bytes and back,
// as columnar protobuf or as JSON with the same fields. A Decoder reads what
// anybody may have sent: it bounds and checks everything, and each of its
// errors has a [Reason].
//
// [Subjects] names the NATS subjects. Names of nets and sources may hold any
// character; [Escape] makes one subject token of each.
//
// Rows have no names: they are in the order of the net's definition (PNML),
// which is known by its [Digest].
package telemetry
