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
// concurrent use. Each input is a method that takes what comes until a context ends:
// [Attachment.Stream] reads to an end, [Attachment.Follow] a file that grows and rotates,
// [Attachment.Datagrams], [Attachment.Handler] and [Attachment.Subject] listen, and
// [Attachment.TakeXES] reads an event log. All but the last hand whole lines to a [Feed], which finds out
// what each says. What is not an event is counted by the reason why not, see [Reason].
//
// [Attachment.Publish] makes it a source, and [Attachment.Run] lets its clock run.
//
// # Restarts
//
// With a state file ([Attachment.Save]) the open instances and the positions in followed files
// are kept together, so they always belong together: after a restart nothing of a file is
// lost or taken twice, even if the process was killed. Package replay has the
// game; this package has the clock and the doors.
package lines
