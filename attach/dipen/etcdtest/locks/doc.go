// SPDX-License-Identifier: Apache-2.0

// Package locks plays nets over etcd as DiPeN does, so that regions over
// JetStream have a base that runs on the same machine:
//
//	go test -run '^$' -bench . -benchtime 3s ./locks
//
// There is nothing here but tests and benchmarks. The protocol is that of DiPeN
// 0.1.2 as its source has it (src/etcd/etcd_gate.rs, place_locks.rs,
// transition_gate.rs, src/runner/transition_runner.rs). A firing is:
//
//  1. wait until the marking, kept by a watch of pl/, has a token to take;
//  2. lock the place that is taken from: nothing to do if the node has the lock
//     from before, else a call of etcd's lock service with the node's lease; wait
//     until the watch has come to the revision at which the lock was had; look again;
//  3. a transaction, on condition that the lock is this lease's, that marks the
//     token as taken;
//  4. the action, which here does nothing;
//  5. lock the place that is put to, as in 2;
//  6. a transaction, on the same condition, that deletes the token where it was
//     and puts it where it goes;
//  7. wait until the watch has come to that revision.
//
// A lock stays with its node until the watch shows that another one asks for it.
// A region has one leader, who won etcd's election of it; each of its transitions
// fires one time after the other. A planned hand-over is the end of the leader's
// lease, the other node's election, its reading of all tokens, its putting back
// of what was taken and not finished, and its first firing.
//
// What favours this base over DiPeN itself: nodes are goroutines of the process
// in which etcd is embedded (each with a connection and a lease of its own), so
// no process has to be woken; there is one etcd and no cluster, so no message
// goes to a follower; the action needs no time; tokens carry no data. What is
// left out because it costs nothing in these nets: guards, condition arcs, tokens
// that are created or destroyed. A token that goes is deleted by its two keys;
// DiPeN deletes by prefix, with which token 1 would take tokens 10 to 19 of its
// place along. The figures that DiPeN has published are from
// another machine, and are shown as such.
package locks
