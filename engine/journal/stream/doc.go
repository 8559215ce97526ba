// SPDX-License-Identifier: Apache-2.0

// Package stream keeps a journal.Log in a stream of NATS JetStream, where other
// processes can follow it as it grows and take over from its writer.
//
//	l, err := stream.Open(ctx, stream.Config{Conn: nc, Name: "orders/2", Replicas: 3})
//	err = l.Follow(ctx, upTo+1, state.apply)   // a standby: until ctx ends
//
//	last, err = l.Append(ctx, last, commit)    // the writer: on its way
//	err = l.Confirm(ctx, last)                 // the server has it
//	if errors.Is(err, journal.ErrStopped) {    // it may or may not have it
//		err = l.Refresh(ctx)               // reads the end of the stream
//	}
//
// One message is one commit, and the number of a commit is the sequence of its
// message. [NameOf] returns the name of the stream. Its snapshots are objects
// in a bucket of the same name. Open creates both, and rejects a stream whose
// settings could lose, repeat or renumber commits ([ErrSettings]).
//
// Every message names the commit that it follows, and the server stores it
// there or not at all. So a process that appends after the last commit becomes
// the writer, and from then on nothing of the previous writer is stored
// (batch.go describes how). There is no lock, lease or clock.
//
// A commit is sent once. If its fate is unknown, the log stops: every call
// returns [journal.ErrStopped] with the cause, [journal.ErrNotLast] if there is
// another writer. [Log.Refresh] then reads the end of the stream. The writer
// must read the commits without a confirmation before it sends any of them
// again.
//
// Append does not wait for the answer. At most a [Window] of commits is on its
// way; the death of the writer loses them from the end backwards. Results that
// must not be visible before they are safe wait for Confirm. Commits that
// Follow or Read return are confirmed.
//
// docs/design/regions.md describes which failures confirmed commits survive,
// and how replicas and snapshots are read. The log has one goroutine, which
// watches for missing answers. nats.go v1.55.0 can leak a goroutine of some 10
// kB when a snapshot is saved.
package stream
