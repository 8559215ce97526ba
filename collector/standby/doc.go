// SPDX-License-Identifier: Apache-2.0

// Package standby elects, among the sidecars of one subject space, the one that sends notifications.
// The others stand by. A notification may be sent twice; none is lost.
//
// It is the shell around package roster, which is pure and has the rules. [Member] publishes
// this sidecar's [roster.Message] over NATS, receives those of the others, takes a step when
// [roster.Roster.Next] says so, and shows a [roster.State]. If two members have different
// alarms, it asks for all of them ([Page]); notes of operators are shared in the same way, by
// every member. [Member.Hold] keeps the duty while notifications are decided. A member that
// starts, or received nothing for two Intervals, fetches the snapshots of silent sources from
// each other member in parcels, before it is ready.
// The design document docs/design/pairs.md describes the protocol and its failures.
//
// # Bounds and trust
//
// [Group] names the sidecars that notify the same sinks. A sidecar without sinks takes
// no part. With [Keys] each message has a code, answers a challenge of its receiver, and
// counts once. Without them a client that may publish at the group's subject can suppress
// notifications; NATS permissions must prevent that. A message has at most MaxMessage bytes, a group
// MaxPeers other members, an exchange MaxSources bytes. A rejected message is counted by [roster.Reason].
// A message is verified when it arrives. It then waits in the queue of its sender, and
// the queues take turns, so that a flood displaces no message of another member.
package standby
