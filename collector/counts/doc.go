// SPDX-License-Identifier: Apache-2.0

// Package counts keeps the counters of a collector in a directory, so that they continue
// after a restart: rate() sees the work of engines since then, and not their whole past again.
//
// [Open] reads the directory. [Dir.Collector] makes a collector that continues from it and
// keeps its counters there, in a log: counters.state. The first frame of a log has everything that
// the next process needs; the others have what changed, see [merge.Saver]. Frames are packed by
// flate, and checked by package framed. The first frame of a log replaces the file atomically; the
// others are appended. Each is synced before a View is shown. The invariant: while the disk works,
// no View shows more than the directory has, so no counter is less after a restart, however the
// process ended. While nothing changes, nothing is written.
//
// A crash can tear the last frame, which was not shown then. Each process begins a log, and so does
// one whose log has become several times as large as its first frame.
//
// A disk that hangs delays Views once, by two seconds; until it answers, Views may show more
// than the directory has. If a write fails the file is truncated, which marks it as
// unusable: the next process must not begin below the counters shown.
//
// # Without a state
//
// Without a usable state counters begin at 0. Engines that run already count from their
// first message, because another process may have shown what they did before;
// [Config].FromZero states that none did. The state is unusable if there is none, if it is
// damaged, or if it is of another subject space or another name at a collector above. A
// damaged state is renamed to counters.state.damaged; the log names the byte. A file of a later
// release is an error of [Open], and stays as it is. The files of earlier releases are read.
//
// The state of another share keeps the sources that are in both shares. Sources that left
// the share keep their counters here; new ones count from their first message.
//
// Only one process at a time holds the directory.
package counts
