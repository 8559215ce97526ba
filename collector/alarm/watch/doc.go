// SPDX-License-Identifier: Apache-2.0

// Package watch runs the rules of package alarm in a process: [Watcher] receives Views, pages of
// the other processes of a pair and orders of operators, and gives each of them to an
// alarm.Coordinator. It publishes the active set, writes the files and feeds the sinks. One
// goroutine runs the Coordinator, and each sink has one of its own. Without a View, a message or
// something that is due nothing wakes.
//
// # Files
//
// The Watcher writes alarms and the largest index to a file before it publishes a new index.
// Notes of operators are in a second file. Both are of package framed. One wrong bit is mended; a
// file with more damage is not used. Either is renamed and logged. A disk that
// fails, or hangs for two seconds, delays no alarm after that: it is logged and counted, and the
// next View writes again.
//
// # Sinks
//
// Each [Sink] has a queue, in which notifications wait for [KeepUnsent] while it is away, in
// order. What does not fit or fails is counted by reason, see alarm.Failure.
package watch
