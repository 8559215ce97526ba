// SPDX-License-Identifier: Apache-2.0

// Package region makes a process a member of a net that several processes play
// together. The net is cut into parts: regions, which are some of its
// transitions with their places, or partitions, which are some of its
// instances. Each part has one log and, at any time, one owner, which plays the
// part and appends to the log. Standbys read the log and follow the owner's
// state.
//
// A [Member] follows the parts that it may have to play and leads those that it
// owns:
//
//   - The log makes this safe. To take a part over, a member appends an epoch
//     on condition that it has read the whole log. From then on the log rejects
//     appends of the previous owner. This uses no clock and no lease.
//   - Beats keep it live. Every member publishes a [Beat] over NATS every 50
//     ms. A standby replaces an owner that is silent for 200 ms, or for four
//     times the longest recent gap between beats if that is longer. A wrong
//     suspicion costs only a take-over.
//   - An owner that ends, or that hands a part to a member with less load,
//     appends a release. Its heir takes over when it reads the release.
//   - After any error of the log the owner discards what it played since the
//     last accepted commit and starts over as a standby. It never repeats an
//     append.
//
// An owner reads the logs of upstream regions. It puts the tokens that have
// arrived into its places in the same commit that records how far it has read,
// so each token arrives exactly once. Actions take effect at least once; an
// idempotent action keeps its key when the next owner repeats it: see
// engine.ReadBindings.
//
// Each partition moves to the member that [assign] gives it. Regions stay where
// they are until their owner ends. docs/design/regions.md describes the
// protocol and its guarantees.
package region
