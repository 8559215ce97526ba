// SPDX-License-Identifier: Apache-2.0

// Package counts keeps the counters of a collector in a directory, so that they continue
// after a restart: rate() sees the work of engines since then, and not their whole past again.
//
// [Open] reads the directory. [Dir.Collector] makes a collector that continues from it and
// keeps its counters there, in two files. counters.state has everything that the next
// process needs: the sums, and the last snapshot of each source. If that is large it is
// written every few seconds, and in between counters.shown has only the counters shown.
// While nothing is received and no source falls silent, only the state is written, once a
// minute.
// The files are written before a View is shown. The invariant: while the disk works, no
// View shows more than the directory has, so no counter is less after a restart, however
// the process ended.
//
// A disk that hangs delays Views once, by two seconds; until it answers, Views may show more
// than the directory has. If a write fails the files are truncated, which marks them as
// unusable: the next process must not begin below the counters shown.
//
// # Without a state
//
// Without a usable state counters begin at 0. Engines that run already count from their
// first message, because another process may have shown what they did before;
// [Config].FromZero states that none did. The state is unusable if there is none, if it is
// damaged, or if it is of another subject space or another name at a collector above. A
// damaged state is renamed to counters.state.damaged.
//
// The state of another share keeps the sources that are in both shares. Sources that left
// the share keep their counters here; new ones count from their first message.
//
// Only one process at a time holds the directory.
package counts
