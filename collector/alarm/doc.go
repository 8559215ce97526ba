// SPDX-License-Identifier: Apache-2.0

// Package alarm compares Views with thresholds. It raises and clears alarms, and decides which
// notifications are sent of them.
//
// The package is pure: Views, pages of other processes, orders of operators and the time go in;
// changes, notifications, pages and an [ActiveSet] come out. [Machine] judges Views.
// [Coordinator] adds notes, silences, limits and the duty of a pair. The files in
// testdata/stories describe the behaviour and are its tests. Package watch is the shell around
// it: it receives Views, writes files and feeds sinks.
//
// # Alarms
//
//	tokenStuck         the oldest token of a place is older than after
//	transitionStarved  enabled, and has not fired or become enabled for after
//	sourceLost         the collector reports a source as stale
//	netDeadlocked      more than above instances are deadlocked
//	failureRatio       of at least runs in window, more than above failed
//	transitionLoop     more than above firings a second over window
//	natsDisconnected   this process has no connection to NATS
//	agentxDisconnected a sidecar has no session with its AgentX master
//	regionStopped      the owner of a region reports that it is stopped
//	firingMissed       a transition was due, by a rule or by its engine, and has not fired
//
// Rules are per kind, with overrides by patterns over nets, places, transitions and
// sources: see [ReadRules] and [DefaultRules]. A rule also has the [Severity] of its
// alarms, which is not stored. A final place has no stuck tokens, and a transition without
// inputs is never starved. A column that no source reports raises nothing.
//
// An alarm is raised once its condition has held for Rule.For, and cleared once the
// condition has not held for Rule.ClearAfter without a break. Between the two a View
// changes nothing, so a condition that flutters is one alarm. A windowed condition lags by
// up to a tenth of the window. A View with Interrupted set raises and clears
// natsDisconnected and agentxDisconnected only. A View that reports the same as the one before is not judged again
// until time alone changes a condition ([Machine.Due]).
//
// # Evidence
//
// An alarm ends by evidence. What left the sums without it, as a source that was forgotten or
// a column that is missing, here or at a sidecar below, is in the Remnants of its net: the
// alarm keeps the sources in Alarm.Lost, and is unknown (Alarm.Unknown) until each of them
// reports again or has said goodbye (NetView.Answers has those of sidecars below), or a person closes it ([Coordinator.Close]). Alarm.Follows is the lost source without
// which there would be no alarm; its raise is held back as by a silence.
//
// # Restarts
//
// [Saved] is what outlives the process: the alarms and the largest index. The next process
// starts with those alarms: it raises none of them again, and clears those that are known to be
// over after Rules.Settle. After a loss of that, indices continue beyond all that a damaged file
// ([LastIn]), the notes and [FirstIndex] have.
//
// # Notifications
//
// A token bucket of 50, refilled with 10 a second, limits notifications but not alarms. It
// suppresses raises, and makes clears wait: a raise that was sent gets its clear. One
// notification reports how many were suppressed.
//
// # Notes
//
// An operator acknowledges alarms and silences them ([Coordinator.Acknowledge],
// [Coordinator.Silence]). These notes, and the alarms that were cleared last, are [Noted], for a
// file of their own. A silence holds back raises: at its end those of active alarms are sent. A
// clear is sent if its raise was.
//
// # Pairs
//
// Of the processes of a pair one leads: it gives the indices, sends the notifications
// and shares both ([Coordinator.News], [Coordinator.Fold]). A follower shows the shared alarms.
// The phase of an alarm only grows, and of a note the later version counts, so processes
// may merge pages in any order:
// docs/design/pairs.md has the protocol.
package alarm
