// SPDX-License-Identifier: Apache-2.0

// Package standby lets the sidecars of one subject space agree on who sends
// notifications, so that each is sent once and none is lost: a duplicate beats
// silence.
//
// It has two layers. [Roster] is the pure core: messages and the time go in, who
// is on duty comes out; no I/O, no goroutine. [Member] is the shell: it tells the
// others over NATS that this sidecar lives, hears them, and shows a [State].
//
// # Who is on duty
//
// Every sidecar tells each [Interval], and at once when something changes, who
// it is ([Message]): id, name, priority, whether its faces are up, whether it is
// ready, whether it is on duty. On duty is, of those that live, the one that comes
// first by
//
//	up before not; ready before not;
//	of those that are ready the lower priority; the lower id
//
// So there is always one: whose faces are down is better than nobody. Ready is who
// started [Settle] ago or earlier while another one was on duty, or was on duty
// itself for want of another. So a
// primary that returns has raised what it finds before it takes the duty back, and
// tells none of it again. An id begins with the time of the start. So of those that
// are not ready it is the one that is there for longest, which has seen most of
// what nobody has told, and of equals the newcomer waits.
//
// # The duty is handed over
//
// A member that is to be on duty waits until the one on duty has said that it lets
// go, or is silent. A member also waits, before it is ready, until it knows the
// alarms of the one on duty: each message has a digest of them, and where two differ
// the other one is asked for all ([Page]). A [Member.Hold] keeps the duty while
// notifications are being decided on.
//
// # When the others are silent
//
// A message of one's own comes back over NATS like any other, and that is the
// clock by which the others are judged: one is gone when for [Silent] nothing was
// heard of it up to the last message of one's own. So a NATS that is down, or a
// host that is cut off, kills nobody: who was on duty remains so, and for
// [Isolated] nobody else takes over. After that a sidecar that hears nothing, not
// even itself, goes on duty, for it cannot know better; then both may notify.
// One that was on duty remains so when it hears again, until it hears another one
// that is on duty. After a start, and after the process was stopped and goes on, it
// first listens for Silent.
//
// Only receipt times by the sidecar's own clock count; clocks may differ.
//
// # What is told at a take-over
//
// [State].From is the time from which changes may not have been told: [Margin]
// before the last word of anybody who was on duty with its faces up. Package alarm keeps what
// changes while this sidecar is not on duty, and tells what came since then.
// That counts where the other one does not share its alarms. A sidecar that ends
// says so, and the next one goes on duty at once.
//
// # Silent sources
//
// A sidecar that starts, or did not hear the others for two Intervals, cannot hear
// a source that is silent by then. It asks each of the others for what that one has
// of such sources, in [Parcel] messages: when it first hears that one, and once more
// after Silent, for what ended in the meantime. It is not ready before the one on duty
// has answered, or before Patience is over.
//
// # Who stands by for whom
//
// Sidecars that notify the same: [Group]. One that notifies nobody takes no part,
// so that it cannot keep silent for another. Whoever may publish in the subject
// space can keep all sidecars silent; permissions of NATS are to prevent that.
//
// # Bounds
//
// MaxMessage bytes a message, MaxPeers sidecars, one request for all alarms each
// AskEvery; MaxSources bytes of silent sources, sent to one sidecar at a time. Each
// sidecar is forgotten a day after it was last heard. What is not taken is counted by
// its [Reason].
package standby
