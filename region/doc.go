// SPDX-License-Identifier: Apache-2.0

// Package region makes a process a member of a net that several processes play
// together. The net is cut into parts: regions, which are some of its
// transitions with their places, or partitions, which are some of its
// instances. Each part has one log, at each time one owner, who plays it and
// appends to the log, and stand-bys, who read the log and are as far as it is.
//
// A [Member] follows the parts that it may have to play, and leads those that it
// should. What one process is to the others:
//
//   - Safety is the log's. Who takes a part over appends an epoch to its log, on
//     condition that it has read all of it. From then on the log refuses what the
//     owner before appends, however long that one was paused. No clock and no
//     lease is in this.
//   - Liveness is a beat. Every member says every 50 ms over NATS what it owns
//     and follows, and how far it is ([Beat]). An owner of which a stand-by hears
//     nothing for 200 ms, neither a beat nor a commit, is replaced. Where beats
//     come late, because machines or the network have too much to do, it is four
//     times as long as the longest gap that was heard lately. A wrong suspicion
//     costs a take-over and nothing else.
//   - An owner that goes, or that gives a part to somebody with less to do,
//     appends a release. Its heir takes over when it reads that.
//   - After any error of the log the owner stops, forgets what it played since
//     the last commit that was taken, and begins anew as a stand-by. It tries
//     nothing twice.
//
// Tokens cross from region to region by the log: the owner of the one reads the
// log of the other and puts what has come for it into its places in the commit
// that also says how far it has read. So they arrive exactly once, whoever owns
// the two. What actions do outside is done at least once. One that is idempotent
// keeps its key when the next owner performs it again: see engine.ReadBindings.
//
// Partitions move: each has the member to which [assign] gives it, which is the
// same for all who see the same members. Regions stay where they are until
// their owner goes.
package region
