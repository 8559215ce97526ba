// SPDX-License-Identifier: Apache-2.0

// Package alarm compares Views with thresholds. It raises and clears alarms, and
// sends notifications of them.
//
// It has two layers. [Machine] is the pure core: a View and the time go in, changes and
// a [ActiveSet] come out; no I/O, no clock, no goroutine. The files in testdata/stories
// describe its behaviour and are its tests. [Watcher] is the shell: it receives Views,
// writes the state file, publishes the active set and feeds the sinks.
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
//	regionStopped      the owner of a region reports that it is stopped
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
// natsDisconnected only. A View that reports the same as the one before is not judged again
// until time alone changes a condition ([Machine.Due]).
//
// # Evidence
//
// An alarm ends by evidence. What left the sums without it, as a source that was forgotten or
// a column that is missing, here or at a sidecar below, is in the Remnants of its net: the
// alarm keeps the sources in Alarm.Lost, and is unknown (Alarm.Unknown) until each of them
// reports again or has said goodbye (NetView.Answers has those of sidecars below), or a person closes it ([Watcher.Close]). Alarm.Follows is the lost source without
// which there would be no alarm; its raise is held back as by a silence.
//
// # Restarts
//
// The Watcher writes alarms and the largest index to a file before it publishes a new
// index. The next process starts with those alarms: it raises none of them again, and
// clears those that are known to be over after Rules.Settle. A damaged file is renamed and logged. One
// wrong bit is mended; after more damage indices continue beyond all that the file, the notes
// and [FirstIndex] have. A disk that fails, or hangs for two seconds,
// delays no alarm after that: it is logged and counted, and the next View writes again.
//
// # Notifications
//
// A token bucket of 50, refilled with 10 a second, limits notifications but not alarms. It
// suppresses raises, and makes clears wait: a raise that was sent gets its clear. One
// notification reports how many were suppressed. Each sink has a queue, in which notifications
// wait for [KeepUnsent] while it is away, in order. What does not fit or fails is counted by
// reason.
//
// # Notes
//
// An operator acknowledges alarms and silences them ([Watcher.Acknowledge],
// [Watcher.Silence]). These notes, and the alarms that were cleared last, are kept in a file
// of their own. A silence holds back raises: at its end those of active alarms are sent. A
// clear is sent if its raise was.
//
// # Pairs
//
// Of the processes of a pair one leads: it gives the indices, sends the notifications
// and shares both (Config.Share, [Watcher.Fold]). A follower shows the shared alarms.
// The phase of an alarm only grows, and of a note the later version counts, so processes
// may merge pages in any order:
// docs/design/pairs.md has the protocol.
package alarm
