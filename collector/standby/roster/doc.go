// SPDX-License-Identifier: Apache-2.0

// Package roster decides which sidecar of a group sends notifications, as one member sees it.
//
// A [Roster] is pure: what a member receives goes in ([Roster.Receive]) with the time, and
// each [Roster.Step] returns the [Message] to publish. [Roster.Next] says when the next step
// is due. [Roster.State] is what follows for this member: whether it is on duty, and from
// when on changes may not have been notified.
//
// docs/design/pairs.md has the protocol, and package standby the shell.
//
// # The duty
//
// Every member publishes its Message each [Interval], and at once when a field changes.
// Of the live members the first by this order is on duty:
//
//	able to notify before not; ready before not;
//	of those that are ready the lower priority; the lower id
//
// So one member is always on duty, even if none is able to notify. A member is ready
// once it has run for [Settle] while another member was on duty, or if it was on duty
// because no other member was available. A primary that restarts has therefore raised
// the alarms it finds before it takes the duty back, and sends none of them again. An
// id begins with the time of the start, so of members that are not ready the oldest is on duty.
//
// A member takes the duty once the member on duty has released it or is gone, and once
// it has the alarms of that member. Each message has a digest of the alarms; if two
// digests differ, the member asks for all alarms.
//
// # Members that are gone
//
// A member receives its own messages over NATS, and judges the others by them: another
// member is gone if none of its messages came in the [Silent] before the last own
// message. So a NATS server that is down changes nothing: the current member stays on
// duty, and no other member takes over for [Isolated]. Only receipt times count, by the
// member's own clock. [State].From is the start of the period in which changes may
// not have been notified.
package roster
