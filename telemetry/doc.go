// SPDX-License-Identifier: Apache-2.0

// Package telemetry is the SDK for engines: the wire form of a snapshot, the
// subject names, and a publisher that any engine can embed. README.md beside
// this file specifies the wire for engines in other languages.
//
// # Snapshots
//
// A [Snapshot] holds the [stats.Rows] of one net at one source: every row, or
// only those that changed. [Encoder] and [Decoder] convert it to and from
// columnar protobuf, or JSON with the same fields. A Decoder does not trust its
// input: it bounds and checks everything, and each of its errors has a [Reason].
//
// Rows have no names: they are in the order of the net's definition (PNML),
// which is identified by its [Digest] and returned by [RequestDefinition].
//
// [Subjects] names the NATS subjects. Names of nets and sources may hold any
// character; [Escape] turns each into one subject token.
//
// # For an engine
//
// [Attach] starts a [Source] of one net. Each goroutine that fires transitions
// calls its [Recorder]: Take and Inject for the tokens, then Fire. A call takes
// less than ten nanoseconds and never waits. The Source adds up the counts of
// all Recorders, tracks the present tokens and their ages, and publishes both.
// It starts no goroutine besides the Publisher's and keeps no queue. It keeps
// present tokens in buckets of an eighth of a second by injection time. So the
// age of the oldest token of a place is exact if its bucket holds no token of
// another time, and otherwise the mean of the bucket.
//
// # Publishing
//
// An engine that counts its tokens itself calls [Start] with its nets and a
// function that fills in rows:
//
//	p, err := telemetry.Start(telemetry.Config{
//		Conn: nc, Source: "host-1", Log: log,
//		Nets: []telemetry.SourceNet{{ID: "orders", PNML: pnml, Places: 12, Transitions: 9}},
//		Rows: func(net int, now int64, into *stats.Rows) error { … },
//	})
//	…
//	err = p.Close(ctx)
//
// Once a second the [Publisher] calls Rows, finds the rows that changed, and
// publishes them. Every tenth time, after a failure or a reconnect, and when a
// collector asks, it publishes all rows. It has one goroutine and no queue:
// everything in a snapshot is cumulative or describes the present, so the next
// full snapshot replaces all that were not sent. [Publisher.Redefine] replaces
// the definition of a net whose places are discovered while it runs.
//
// Inside, a feed decides what to send and is pure; the Publisher around it has
// the clock and the connection.
package telemetry
