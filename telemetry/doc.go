// SPDX-License-Identifier: Apache-2.0

// Package telemetry is what an engine says about its nets, and how: the wire
// form of a snapshot, the subject names, and the publisher that any engine can
// embed. README.md beside this file is the specification of the wire, for
// engines in other languages.
//
// # Snapshots
//
// A [Snapshot] holds the [stats.Rows] of one net at one source: every row, or
// only those that changed. [Encoder] and [Decoder] turn it into bytes and back,
// as columnar protobuf or as JSON with the same fields. A Decoder reads what
// anybody may have sent: it bounds and checks everything, and each of its
// errors has a [Reason].
//
// Rows have no names: they are in the order of the net's definition (PNML),
// which is known by its [Digest] and had with [RequestDefinition].
//
// [Subjects] names the NATS subjects. Names of nets and sources may hold any
// character; [Escape] makes one subject token of each.
//
// # For an engine
//
// [Attach] starts a [Source] of one net, and each goroutine that fires tells its
// [Recorder] what it does: Take and Inject of the tokens, then Fire. A call costs
// less than ten nanoseconds and never waits. The Source adds up what all
// Recorders counted, keeps how many tokens are present since when, and publishes
// that with the Publisher below. It has no goroutine of its own, and keeps no
// queue: only buckets of an eighth of a second in which present tokens came, so
// the oldest of a place is exact where it is alone in its bucket or came with
// the others, else the mean of the bucket.
//
// # Publishing
//
// An engine that looks at its tokens itself gives [Start] its nets and a function that fills in rows:
//
//	p, err := telemetry.Start(telemetry.Config{
//		Conn: nc, Source: "host-1", Log: log,
//		Nets: []telemetry.Net{{ID: "orders", PNML: pnml, Places: 12, Transitions: 9}},
//		Rows: func(net int, now int64, into *stats.Rows) error { … },
//	})
//	…
//	err = p.Close(ctx)
//
// Once a second the [Publisher] asks for the rows, finds those that changed,
// and publishes them; every tenth time, after a failure or a reconnect, and
// when a collector asks, it publishes all of them. It has one goroutine of its
// own and no queue: what was not sent is in the next full snapshot, because
// everything in it is cumulative or about now. A net whose places are found out
// while it runs is given its larger definition with [Publisher.Redefine].
//
// Inside, a feed decides what to say, knowing neither clock nor connection; the
// Publisher around it has both.
package telemetry
