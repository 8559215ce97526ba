// SPDX-License-Identifier: Apache-2.0

// Package lines publishes telemetry for an engine that only writes events, one
// a line, to any input.
//
//	inputs            formats            window        replay          telemetry
//	stdin, files,     JSON lines,        in the order  one Replay      rows, oldest,
//	a pipe, UDP, ──►  a pattern,    ──►  of time   ──► a net      ──►  instances
//	HTTP, NATS        XES, OCEL          (optional)
//
// An [Attachment] has the nets and their replays; it is safe for concurrent
// use. Each input is a method that reads until a context ends:
// [Attachment.Stream] reads a reader, [Attachment.Follow] a file that grows and
// rotates, [Attachment.Datagrams], [Attachment.Handler] and
// [Attachment.Subject] listen, and [Attachment.TakeXES] and
// [Attachment.TakeOCEL] read an event log. All but the last two pass whole
// lines to a [Feed], which parses them. A line that is not an event is counted
// by its [Reason].
//
// [Attachment.Publish] publishes the nets as a source, and [Attachment.Run]
// drives the window and the state file.
//
// # Restarts
//
// A state file ([Attachment.Save]) holds the open instances together with the
// positions in followed files, as of one moment. So a restart neither loses nor
// repeats a line of a file, even after a crash. Package replay contains the
// replay; this package has the clock and the inputs.
package lines
