// SPDX-License-Identifier: Apache-2.0

// Package stream keeps a journal.Log in a stream of NATS JetStream, where
// others can follow it as it grows and take over from its writer.
//
//	l, err := stream.Open(ctx, stream.Config{Conn: nc, Name: "orders/2", Replicas: 3})
//	err = l.Follow(ctx, upTo+1, state.apply)   // a stand-by: until ctx ends
//
//	last, err = l.Append(ctx, last, commit)    // the writer: on its way
//	err = l.Confirm(ctx, last)                 // the server has it
//	if errors.Is(err, journal.ErrStopped) {    // it has not, or nobody knows
//		err = l.Refresh(ctx)               // how far does the stream go?
//	}
//
// One message is one commit, and the number of a commit is the sequence of its
// message. [NameOf] says how the stream is called. Its snapshots are objects in
// a bucket of the same name. Both are made by the first who opens the log.
// A server of version 2.14 or later takes many commits on their way at once; on
// an older one, or in a stream that was made there, each waits for the answer to
// the one before, which is slower and as safe.
//
// # One writer
//
// Every message says behind which commit it belongs, and the server stores it
// there or not at all. So whoever appends behind the last commit is the writer,
// and from then on nothing of the earlier writer is stored, however long it was
// paused and whatever it has on its way: see batch.go for why a pipeline needs
// more than the expected sequence. There is no lock, no lease and no clock.
//
// A commit is sent once. When the log does not know what became of one, because
// it was refused, its answer is missing for [Config.AckWait], or the connection
// was lost, the log stops: every call answers [journal.ErrStopped] with the
// cause. If that is [journal.ErrNotLast], there is another writer. Otherwise the
// commit may be in the stream. [Log.Refresh] reads how far the stream goes; the
// writer then reads the commits that it has no confirmation of and finds its
// own among them or not. It must not send them again without having read.
//
// The server answers to each commit while somebody waits for answers, and to every
// sixteenth else: to wake up for one costs a writer about as much as a commit.
// Append does not wait for the answer. At most a [Window] of commits is on its
// way; their writer's death loses them from the end backwards. What others must
// not hear of before it is safe waits for Confirm. A commit that Follow or Read
// returns is confirmed, whoever wrote it.
//
// # What is promised
//
// That the server has answered means, with the server's settings:
//
//	replicas, sync_interval      survives
//	1, 2m (the default)          the death of the server's process; not a power
//	                             loss, which costs up to the last 2 minutes
//	1, always                    also a power loss, if the disk stays
//	3, 2m                        also the loss of one server with its disk, or
//	                             its power; not all of them losing power at once
//	3, always                    also all of them losing power at once
//
// After a power loss that costs answered commits the stream is shorter, and the
// numbers are given out again. A follower that had read further hears
// [journal.ErrAhead], unless the stream has grown past it by then. What a commit
// holds has to say behind which other one it belongs; see engine.Linked.
//
// A stream whose settings could lose, repeat or renumber commits is refused by
// Open ([ErrSettings]). A stream with a limit of bytes refuses commits when it
// is full; a snapshot makes room.
//
// # Replicas
//
// A consumer reads one replica, which the servers choose at random. A reader that
// finds commits which cannot be says so by [Log.Doubt]; from then on consumers that
// are made at that server are given up for others, until all servers with a replica
// are in doubt. A server before 2.14 that turns out to keep one of several replicas
// is [ErrSettings], for the reader and for every later Open with the same [Servers].
//
// # Snapshots
//
// A snapshot counts when its object has its name, which holds the number of the
// last commit in it; the highest number counts. Then older objects and the
// commits up to it are removed, but of the commits none that [Config.Keep] still
// needs. A writer that was overtaken while it saved does no harm: its object has
// a lower number, and it removes only what is older than that.
//
// # What it does not do
//
// nats.go v1.55.0 can leave a goroutine behind when a snapshot is saved, if that
// takes less time than the goroutine to begin; it holds some 10 kB.
//
// It does not elect a writer, heal a stream, merge commits into messages, or
// close the connection. It has one goroutine, which watches for answers that do
// not come; the other work is done in the callers' and the connection's.
package stream
