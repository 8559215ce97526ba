// SPDX-License-Identifier: Apache-2.0

// Package locks plays nets over etcd as DiPeN does. It is the base, on the same
// machine, for measurements of regions over JetStream:
//
//	go test -run '^$' -bench . -benchtime 3s ./locks
//
// It contains only tests and benchmarks. The protocol is that of DiPeN 0.1.2
// according to its source (src/etcd/etcd_gate.rs, place_locks.rs,
// transition_gate.rs, src/runner/transition_runner.rs). A firing is:
//
//  1. wait until the marking, which a watch of pl/ updates, has a token to
//     take;
//  2. lock the input place: nothing to do if the node still has the lock, else
//     a call of etcd's lock service with the node's lease; wait until the watch
//     has reached the revision of the lock; check the marking again;
//  3. a transaction, on condition that the lock is this lease's, that marks the
//     token as taken;
//  4. the action, which does nothing here;
//  5. lock the output place, as in 2;
//  6. a transaction, on the same condition, that deletes the token in the input
//     place and puts it into the output place;
//  7. wait until the watch has reached that revision.
//
// A node keeps a lock until the watch shows that another node requests it. A
// region has one leader, which has won etcd's election for it; each of its
// transitions fires one time after the other. A planned hand-over consists of
// the end of the leader's lease, the election of the other node, its reading of
// all tokens, its putting back of tokens that were taken and not finished, and
// its first firing.
//
// This base is faster than DiPeN itself for these reasons. Nodes are goroutines
// of the process in which etcd is embedded, each with its own connection and
// lease, so no process has to be woken. There is one etcd and no cluster, so no
// message goes to a follower. The action takes no time, and tokens carry no
// data. Left out, because they cost nothing in these nets: guards, condition
// arcs, tokens that are created or destroyed. A token is deleted by its two
// keys; DiPeN deletes by prefix, with which token 1 would delete tokens 10 to
// 19 of its place, too. The figures that DiPeN has published are from another
// machine, and are marked as such.
package locks
