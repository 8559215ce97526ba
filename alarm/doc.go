// SPDX-License-Identifier: Apache-2.0

// Package alarm says what is wrong: it holds Views against thresholds, raises
// alarms, clears them, and tells whoever is to be told.
//
// It has two layers. [Machine] is the pure core: a View and the time go in,
// changes and a [State] come out; no I/O, no clock, no goroutine. The files in
// testdata/stories tell what it does and are its tests. [Watcher] is the shell:
// it looks for Views, keeps the state file, publishes the State through an
// atomic pointer, and feeds the sinks.
//
// # What is an alarm
//
//	tokenStuck         the oldest token of a place is older than after
//	transitionStarved  enabled, and neither became so nor fired for after
//	sourceLost         a source is stale, as the collector sees it
//	netDeadlocked      more than above instances are deadlocked
//	failureRatio       of at least runs in window, more than above failed
//	transitionLoop     more than above firings a second over window
//	natsDisconnected   this process has no connection to NATS
//	regionStopped      a region does not play on, as its owner says
//
// Rules are per kind, with overrides by patterns over nets, places, transitions
// and sources: see [ReadRules] and [DefaultRules]. An end place, from which
// nothing takes tokens, has none that are stuck. A transition without inputs is
// always enabled and never starved. A column that no source tells raises
// nothing.
//
// An alarm is raised when it has been so for Rule.For, and cleared when it has
// not been so for Rule.ClearAfter without a break; a view between these changes
// nothing, so what flutters makes one alarm. What is gone from the View, or that
// no source tells of any more, is not so any more either, and the text of the
// clearing says which it was. What is windowed lags by up to a tenth of the
// window.
//
// A View that is deaf (see collector.View) raises and clears natsDisconnected only:
// ages that grow and counters that stand still are no news of an engine.
//
// # Restarts
//
// Alarms and the largest index are in a file that is replaced as a whole, before
// anybody sees a new index. The next process starts with those alarms: none is
// raised anew, and those that are over are cleared, but not before Rules.Settle,
// for sources are heard one after the other. A lost source of which nothing is
// heard stays lost until the collector would have forgotten it. A damaged file
// is logged and counts for nothing; indices then go on from [FirstIndex]. Each
// process needs a file of its own. A disk that fails, or that does not answer
// within two seconds, stops no alarm: that is logged and counted, and the state
// is written again with the next View.
//
// # Storms
//
// Alarms are never held back, notifications are: a bucket of 50, filled with 10
// a second. What finds it empty is counted, and told by one Notification with
// that count when it is over or has lasted ten seconds. Each sink has a queue
// and a time-out of its own; what does not fit or fails is counted for it.
// Notifications are hints, and State is the truth.
//
// # Pairs
//
// Of the processes of a pair one leads: it gives the indices, sends the
// notifications and shares what it does (Config.Share, [Watcher.Fold]). The others
// follow: they show the alarms that the leader shares. An alarm that a follower
// raises has no index, and is not shown, until the leader gives one.
//
// An alarm goes through four phases: raising, raised, clearing, cleared. The leader
// shares raising and clearing before it sends the notification, and raised and
// cleared when the sinks have it. So each process can merge what it is sent in any
// order, and one that takes over sends what another one had begun and not confirmed,
// under the same index. Processes that did not hear each other may give two indices
// to one alarm; then the larger one is cleared.
//
// Beside a leader of an earlier version, which shares nothing, a process raises
// alarms under its own indices, keeps what changes for 30 s, and sends, when it goes
// on duty, what came since the time from which the other one may have sent nothing.
// What a follower does not send is counted in Skipped.
//
// # Bounds
//
// MaxActive alarms, 1,000 overrides, MaxStateSize bytes of state. What is over a
// bound is refused with its place in the file, or counted.
package alarm
