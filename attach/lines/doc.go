// SPDX-License-Identifier: Apache-2.0

// Package lines makes a telemetry source of an engine that only writes down
// what it does: one event a line, somewhere.
//
//	inputs            formats            window        replay          telemetry
//	stdin, files,     JSON lines,        in the order  one Replay      rows, oldest,
//	a pipe, UDP, ──►  a pattern,    ──►  of time   ──► a net      ──►  instances
//	HTTP, NATS        XES                (optional)
//
// An [Attachment] has the nets and knows what is said of them; it is safe for
// concurrent use. Inputs hand it whole lines ([Attachment.Take]) or whole logs
// ([Attachment.TakeXES]): [Stream] reads a pipe, [Tail] follows files that rotate,
// [Datagrams] and [Handler] listen. Whatever is
// not counted as an event is counted by the reason why not, see [Reason].
//
// # Restarts
//
// With a state file ([Attachment.Save]) the open instances and the positions in followed files
// are kept together, so they always belong together: after a restart nothing of a file is
// lost or taken twice, even if the process was killed. Package replay has the
// game; this package has the clock and the doors.
package lines
