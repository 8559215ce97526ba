// SPDX-License-Identifier: Apache-2.0

// Package journal is a log of commits that survives its process.
//
// A commit is bytes with a sequence number: 1, 2, 3 and so on, without gaps.
// The caller defines what the bytes mean. The state is the fold of the commits,
// and a snapshot replaces the fold of all commits up to a number, so that they
// can be removed. [Log] is the interface, small enough for a file and for a
// stream of a server; [File] is the implementation in files, package stream the
// other one, and package journaltest tests both.
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
// Commits stay in order without gaps, so a crash always leaves a prefix of what
// was appended, at least up to [File.Durable]. The [SyncMode] decides when that
// advances. The death of the process alone loses nothing that Append accepted,
// in any mode.
//
// After an error of the disk the journal stops, because the content of the disk
// is unknown: a failed fsync drops the pages that it could not write, and the
// next one succeeds. It retries nothing, acknowledges nothing more and returns
// [ErrStopped] with the cause. Opening it again reads what is there.
//
// # What opening does
//
// [Open] checks everything that will be read. Torn records at the end are what
// a crash leaves: they are cut, and a [Warning] reports what was lost. Damage
// anywhere else is a [CorruptError] with file and offset, and nothing on the
// disk is changed. Every record holds how far the journal was durable when it
// was written; damage before that point cannot come from a crash.
//
// README.md has the format. The package has no goroutine and no clock: time is
// the now of [File.Sync].
package journal
