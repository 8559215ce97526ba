// SPDX-License-Identifier: Apache-2.0

// Package standby elects, among the sidecars of one subject space, the one that sends notifications.
// The others stand by. A notification may be sent twice; none is lost.
//
// It has two layers. [Roster] is the pure core: messages and the time go in, the
// member on duty comes out; no I/O, no goroutine. [Member] is the shell: it publishes
// this sidecar's [Message] over NATS, receives those of the others, and shows a [GroupState].
// The design document docs/design/pairs.md describes the protocol and its failures.
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
// digests differ, the member asks for all alarms ([Page]). Notes of operators are shared in
// the same way, by every member. [Member.Hold] keeps the duty
// while notifications are decided.
//
// # Members that are gone
//
// A member receives its own messages over NATS, and judges the others by them: another
// member is gone if none of its messages came in the [Silent] before the last own
// message. So a NATS server that is down changes nothing: the current member stays on
// duty, and no other member takes over for [Isolated]. Only receipt times count, by the
// member's own clock. [GroupState].From is the start of the period in which changes may
// not have been notified.
//
// A member that starts, or received nothing for two Intervals, fetches the snapshots of
// silent sources from each other member in [Parcel]s, before it is ready.
//
// # Bounds and trust
//
// [Group] names the sidecars that notify the same sinks. A sidecar without sinks takes
// no part. With [Keys] each message has a code, answers a challenge of its receiver, and
// counts once. Without them a client that may publish at the group's subject can suppress
// notifications; NATS permissions must prevent that. A message has at most MaxMessage bytes, a group
// MaxPeers other members, an exchange MaxSources bytes. A rejected message is counted by [Reason].
// A message is verified when it arrives. It then waits in the queue of its sender, and
// the queues take turns, so that a flood displaces no message of another member.
package standby
