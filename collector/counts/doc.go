// SPDX-License-Identifier: Apache-2.0

// Package counts keeps what a collector counted in a directory, so that counters
// go on over restarts: rate() sees what engines did, and not their whole past
// once more.
//
// [Open] reads the directory, before there is a collector; [Dir.Collector] makes
// the collector that goes on from it, and has it keep its counts there. There are
// two files. counters.state has all that a next process needs: the sums, and of
// each source all that it said last. Where that is large it is written every some
// seconds only, and in between counters.shown has the counters alone that were
// shown. Both are written before a View is shown, so no counter is less after a
// restart than it was before, however the process ended. The invariant: what was
// shown is never more than what the directory knows, while the disk works.
//
// A disk that hangs holds Views up for two seconds, once; what is shown then may
// be more than what the directory knows until the disk answers. Where a write
// fails the files are made empty, which says that they are not to be used: the
// next process must not begin below what was shown.
//
// # Without a state
//
// Counters begin at 0, as of now: engines that run already count from where they
// are first heard, because what they did before may have been shown by another
// process. [Config].FromZero says that there was none. So it is where the
// directory is empty, or its state is damaged, or of another subject space or
// another name to a collector above. A damaged state is kept aside as
// counters.state.damaged.
//
// A state of another share keeps the sources that are in both. Those that left
// the share keep their counters here; those that came count from where they are
// first heard.
//
// One process at a time holds the directory.
package counts
