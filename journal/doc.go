// SPDX-License-Identifier: Apache-2.0

// Package journal is a log of commits that survives its process.
//
// A commit is bytes with a sequence number: 1, 2, 3 and so on, without gaps.
// What the bytes mean is the user's business; the state is the fold of the
// commits, and a snapshot stands for the fold of all commits up to a number,
// so that they can go. [Log] is what a user sees, small enough for a file and
// for a stream of a server; [File] is the file form, package stream the other,
// and package journaltest has the laws that both keep.
//
//	f, warnings, err := journal.Open(dir, journal.Options{})
//	upTo, err := f.LoadSnapshot(ctx, state.restore)  // the newest, if any
//	for c, err := range f.Read(ctx, upTo+1) { ... }  // and what came after
//
//	last, err = f.Append(ctx, last, a, b, c)         // one write
//	err = f.Sync(ctx, now)                           // when a tick is over
//	sure := f.Durable()                              // what a power loss leaves
//	err = f.SaveSnapshot(ctx, last, state.save)      // earlier commits go
//	err = f.Close()
//
// # What is promised
//
// One commit is whole or absent, whatever happens. The commits of one Append
// are written together but not as one: a crash may keep the first few of them.
// Commits stay in order and none is left out, so what a crash leaves is always
// a beginning of what was appended, at least up to [File.Durable]. When that
// moves on is the [SyncMode]. The death of the process alone loses nothing that
// Append accepted, in any mode.
//
// After an error of the disk the journal stops: it can not know any more what
// is on the disk (a failed fsync drops the pages that it could not write, and
// the next one succeeds), so it tries nothing again, acknowledges nothing more
// and answers [ErrStopped] with the cause. Opening it again finds out.
//
// # What opening does
//
// [Open] checks everything that will be read. Records at the end that are torn
// are what a crash leaves; they are cut, and a [Warning] says what was lost.
// Damage anywhere else is refused with a [CorruptError] that names file and
// offset, and nothing on the disk is changed. What tells the two apart is in
// every record: how far the journal was durable when the record was written.
// Damage that a later record says was durable can not come from a crash.
//
// The format is in README.md. There is no goroutine and no clock in here: time
// is the now of [File.Sync].
package journal
