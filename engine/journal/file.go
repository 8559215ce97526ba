// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// File is a Log in a directory of files. Open returns it.
type File struct {
	dir     directory
	options Options
	id      uint64
	seed    uint32

	saving sync.Mutex // held while a snapshot is saved or loaded; locked before mu
	mu     sync.Mutex // guards the fields below

	stopped   error     // the first error of the disk; nothing is written after it
	closed    bool      //
	segments  []segment // in order; the last one is written to
	active    file      // the last segment
	last      uint64
	durable   uint64
	marked    bool     // the last record is a mark, or there is none
	syncedAt  int64    // the now of the last Sync that synced, µs
	snapshots []uint64 // ascending; none is after newest
	newest    uint64   // the last commit of the newest snapshot; 0 if there is none
	group     []byte   // records of the last Append; the buffer is reused

	syncing bool       // active is synced without mu, and must stay the last segment
	synced  *sync.Cond // of mu: syncing has ended
}

// segment is a file of commits.
type segment struct {
	first uint64 // commit
	size  int64  // bytes, the header included
}

var _ Log = (*File)(nil)

// keptGroup is the size of the largest buffer that is kept for the next Append,
// in bytes.
const keptGroup = 4 << 20

// Append writes the commits with one write. In the mode SyncAlways they are
// durable when it returns. An error other than ErrNotLast, ErrTooLarge or the
// context's leaves open whether the commits are in the journal: open it again
// to see.
func (f *File) Append(ctx context.Context, last uint64, commits ...[]byte) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return f.Last(), err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.full() {
		f.settle()
	}
	if err := f.usable(); err != nil {
		return f.last, fmt.Errorf("append: %w", err)
	}
	if last != f.last {
		return f.last, fmt.Errorf("append after commit %d, the last is %d: %w", last, f.last, ErrNotLast)
	}
	if err := checkGroup(commits); err != nil {
		return f.last, fmt.Errorf("append: %w", err)
	}
	if len(commits) == 0 {
		return f.last, nil
	}
	if err := f.write(commits); err != nil {
		return f.last, f.stop("append", err)
	}
	return f.last, nil
}

// Confirm does not wait: the operating system has what Append has accepted, so
// the death of the process does not lose it. After an error of the disk Confirm
// returns ErrStopped for every number that is not durable.
func (f *File) Confirm(ctx context.Context, upTo uint64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch err := f.usable(); {
	case upTo > f.last:
		return fmt.Errorf("confirm up to commit %d, the last is %d: %w", upTo, f.last, ErrAhead)
	case err != nil && upTo > f.durable:
		return fmt.Errorf("confirm up to commit %d: %w", upTo, err)
	}
	return nil
}

// CommitLimit returns MaxCommit.
func (f *File) CommitLimit() int { return MaxCommit }

// checkGroup checks the bounds of a group.
func checkGroup(commits [][]byte) error {
	total := 0
	for i, c := range commits {
		if len(c) > MaxCommit {
			return fmt.Errorf("commit %d of the group has %d bytes, expected at most %d: %w", i, len(c), MaxCommit, ErrTooLarge)
		}
		if total += len(c); total > MaxGroup {
			return fmt.Errorf("group of more than %d bytes: %w", MaxGroup, ErrTooLarge)
		}
	}
	return nil
}

// write appends the commits to the last segment, or to a new one if that is
// full.
func (f *File) write(commits [][]byte) error {
	if f.full() {
		if err := f.roll(); err != nil {
			return err
		}
	}
	group := f.group[:0]
	end := f.last
	for _, c := range commits {
		end++
		group = appendRecord(group, f.seed, end, f.durable, c)
	}
	if cap(group) <= keptGroup {
		f.group = group
	}
	s := &f.segments[len(f.segments)-1]
	if _, err := f.active.WriteAt(group, s.size); err != nil {
		return fmt.Errorf("write %s at offset %d: %w", segmentName(s.first), s.size, err)
	}
	if f.options.Mode == SyncAlways {
		if err := f.active.Sync(); err != nil {
			return fmt.Errorf("sync %s: %w", segmentName(s.first), err)
		}
		f.durable = end
	}
	s.size += int64(len(group))
	f.last = end
	f.marked = false
	return nil
}

// full reports whether the next commit begins a segment.
func (f *File) full() bool {
	s := &f.segments[len(f.segments)-1]
	return s.size >= f.options.SegmentBytes && s.first <= f.last
}

// roll ends the last segment and begins the next one. The old segment is
// durable before the new one has a name, so a crash leaves torn records only in
// the last segment.
func (f *File) roll() error {
	if err := f.flush(); err != nil {
		return err
	}
	old := f.active
	if err := f.begin(); err != nil {
		return err
	}
	return old.Close()
}

// begin creates an empty segment after the last commit and makes it the active
// one.
func (f *File) begin() error {
	h := header{magic: segmentMagic, id: f.id, sequence: f.last + 1}
	next, err := createFile(f.dir, segmentName(h.sequence), func(out file) error {
		_, err := out.WriteAt(h.append(nil), 0)
		return err
	})
	if err != nil {
		return err
	}
	f.active = next
	f.segments = append(f.segments, segment{first: h.sequence, size: headerSize})
	f.marked = true
	return nil
}

// settle waits until the last segment is not being synced. It may release mu meanwhile, so call
// it before anything is decided.
func (f *File) settle() {
	for f.syncing {
		f.synced.Wait()
	}
}

// flushAside makes everything durable that was appended before the call. It releases mu
// meanwhile, so that commits are appended while the disk works. Call settle first.
func (f *File) flushAside() error {
	end, s := f.last, &f.segments[len(f.segments)-1]
	if f.durable == end {
		return nil
	}
	active, name := f.active, segmentName(s.first)
	f.syncing = true
	f.mu.Unlock()
	err := active.Sync()
	f.mu.Lock()
	f.syncing = false
	f.synced.Broadcast()
	if err != nil {
		return f.stop("sync", fmt.Errorf("sync %s: %w", name, err))
	}
	f.durable = max(f.durable, end)
	return nil
}

// flush makes everything durable that was appended. Call settle first.
func (f *File) flush() error {
	if f.durable == f.last {
		return nil
	}
	if err := f.active.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", segmentName(f.segments[len(f.segments)-1].first), err)
	}
	f.durable = f.last
	return nil
}

// Sync syncs in the mode SyncInterval, if the interval since the last sync has
// passed or the clock was set back. In the other modes it only reports whether
// the journal has stopped. Append does not wait for it, unless it begins a
// segment.
func (f *File) Sync(ctx context.Context, now int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settle()
	if err := f.usable(); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	since := time.Duration(now-f.syncedAt) * time.Microsecond
	if f.options.Mode != SyncInterval || since >= 0 && since < f.options.Interval {
		return nil
	}
	if err := f.flushAside(); err != nil {
		return err
	}
	f.syncedAt = now
	return nil
}

// Idle reports whether Sync has nothing to do before the next Append.
func (f *File) Idle() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.options.Mode != SyncInterval || f.durable == f.last
}

// Last returns the number of the last commit that Append has accepted.
func (f *File) Last() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// Durable returns the number of the last commit that was synced.
func (f *File) Durable() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.durable
}

// usable returns the reason why the journal can no longer be used, or nil.
func (f *File) usable() error {
	if f.stopped != nil {
		return f.stopped
	}
	if f.closed {
		return ErrClosed
	}
	return nil
}

// stop records an error of the disk. From now on the journal returns the first one.
func (f *File) stop(doing string, err error) error {
	if f.stopped == nil {
		f.stopped = fmt.Errorf("%w: %s: %w", ErrStopped, doing, err)
	}
	return f.stopped
}

// Close syncs in every mode, marks the end as durable and releases the lock.
// For a journal that has stopped it returns the reason. A second Close does
// nothing.
func (f *File) Close() error {
	f.saving.Lock()
	defer f.saving.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settle()
	if f.closed {
		return nil
	}
	f.closed = true
	err := f.stopped
	if err == nil {
		if e := f.mark(); e != nil {
			err = f.stop("close", e)
		}
	}
	return errors.Join(err, f.active.Close(), f.dir.Close())
}

// mark writes a record after all commits which says that they are durable.
// Without it, damage near the end could not be distinguished from what a crash
// leaves.
func (f *File) mark() error {
	if err := f.flush(); err != nil || f.marked {
		return err
	}
	s := &f.segments[len(f.segments)-1]
	b := appendRecord(nil, f.seed, f.last, f.last, nil)
	if _, err := f.active.WriteAt(b, s.size); err != nil {
		return fmt.Errorf("write %s at offset %d: %w", segmentName(s.first), s.size, err)
	}
	s.size += int64(len(b))
	f.marked = true
	return f.active.Sync()
}

// createFile creates a file whose name appears only when its content is
// durable: it writes the file under a temporary name, syncs it, renames it and
// syncs the directory. The returned file is open. After an error a file may be
// left under the temporary name; Open removes it.
func createFile(dir directory, name string, write func(file) error) (file, error) {
	out, err := dir.create(name + newSuffix)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", name+newSuffix, err)
	}
	if err := finishFile(dir, out, name, write); err != nil {
		out.Close()
		return nil, err
	}
	return out, nil
}

// finishFile writes a file's content and renames it.
func finishFile(dir directory, out file, name string, write func(file) error) error {
	if err := write(out); err != nil {
		return fmt.Errorf("write %s: %w", name+newSuffix, err)
	}
	if err := out.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", name+newSuffix, err)
	}
	if err := dir.rename(name+newSuffix, name); err != nil {
		return fmt.Errorf("rename %s: %w", name+newSuffix, err)
	}
	if err := dir.sync(); err != nil {
		return fmt.Errorf("sync the directory of %s: %w", name, err)
	}
	return nil
}
