// SPDX-License-Identifier: Apache-2.0

// Package notify sends notifications of alarms to webhooks, by mail and to syslog servers.
//
//	Coordinator ──► Notification ──► Event ──► queue on disk ──► webhook, mail, syslog
//
// [Read] makes [Settings] of the sinks of a file of rules; package alarm decides which sink gets what
// ([alarm.Recipient]). An [Event] is a notification as all sinks have it. [Sender] has the events of one
// sink: it writes them to a file, and sends them one after the other, so a receiver gets the
// clear of an alarm after its raise.
//
// # Once, if possible
//
// An event has an id that is the same at each attempt, after a restart, and at the other
// sidecar of a pair. A Sender does not take an id again that waits or was sent. A receiver may get
// an event twice if the process ends between the sending and the note about it, or if another
// sidecar takes over: it knows the event by its id.
//
// An event is confirmed once the receiver took it, or it was given up. So a sidecar that takes over
// sends what its peer did not. A Sender whose process is not on duty sends nothing, and drops its
// events if another process has the duty.
//
// # Attempts
//
// An attempt that may succeed later is repeated after 1 s, then after twice as long up to 5 minutes, each
// time less a random part of up to a half. What a receiver refuses permanently is given up at once. An
// event that waits for longer than Settings.Keep is given up, and so is one that has no room in
// the queue: see [outbox] for which.
package notify
