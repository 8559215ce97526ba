// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// File is a Log in a directory of files. Open makes it.
type File struct {
	dir     directory
	options Options
	id      uint64
	seed    uint32

	saving sync.Mutex // held while a snapshot is saved or loaded; before mu
	mu     sync.Mutex // guards what follows

	stopped   error     // the first error of the disk; nothing is written after it
	closed    bool      //
	segments  []segment // in order; the last one is written to
	active    file      // the last segment
	last      uint64
	durable   uint64
	marked    bool     // the last record is a mark, or there is none
	syncedAt  int64    // now of the last Sync that synced, µs
	snapshots []uint64 // in order; none after newest
	newest    uint64   // the snapshot that counts; 0 for none
	group     []byte   // of the last Append, to be used again
}

// segment is a file of commits.
type segment struct {
	first uint64 // commit
	size  int64  // bytes, the header included
}

var _ Log = (*File)(nil)

// keptGroup is how large a buffer is kept from one Append to the next.
const keptGroup = 4 << 20

// Append writes the commits with one write. In the mode SyncAlways they are
// durable when it returns. After an error other than ErrNotLast, ErrTooLarge
// or the context's, whether the commits are in the journal is known only when
// it is opened again.
func (f *File) Append(ctx context.Context, last uint64, commits ...[]byte) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return f.Last(), err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.usable(); err != nil {
		return f.last, fmt.Errorf("append: %w", err)
	}
	if last != f.last {
		return f.last, fmt.Errorf("append behind commit %d, the last is %d: %w", last, f.last, ErrNotLast)
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

// Confirm does not wait: what Append has accepted is the system's, and stays
// when the process dies. After an error of the disk it is ErrStopped for every
// number that is not durable.
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

// CommitLimit is MaxCommit.
func (f *File) CommitLimit() int { return MaxCommit }

// checkGroup holds a group to the bounds.
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

// write puts the commits into the last segment, or a new one.
func (f *File) write(commits [][]byte) error {
	if s := f.segments[len(f.segments)-1]; s.size >= f.options.SegmentBytes && s.first <= f.last {
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

// roll ends the last segment and begins the next. The old one is durable
// before the new one has a name: so a crash leaves torn records only in the
// last segment.
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

// begin makes an empty segment behind the last commit the one to write to.
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

// flush makes everything durable that was appended.
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

// Sync syncs in the mode SyncInterval, when the interval since the last sync is
// over or the clock was set back. In the other modes it only reports whether
// the journal has stopped.
func (f *File) Sync(ctx context.Context, now int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.usable(); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	since := time.Duration(now-f.syncedAt) * time.Microsecond
	if f.options.Mode != SyncInterval || since >= 0 && since < f.options.Interval {
		return nil
	}
	if err := f.flush(); err != nil {
		return f.stop("sync", err)
	}
	f.syncedAt = now
	return nil
}

// Last is the number of the last commit that Append has accepted.
func (f *File) Last() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// Durable is the number of the last commit that was synced.
func (f *File) Durable() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.durable
}

// usable returns the reason why the journal cannot be used any more.
func (f *File) usable() error {
	if f.stopped != nil {
		return f.stopped
	}
	if f.closed {
		return ErrClosed
	}
	return nil
}

// stop makes the journal return an error of the disk from now on.
func (f *File) stop(doing string, err error) error {
	f.stopped = fmt.Errorf("%w: %s: %w", ErrStopped, doing, err)
	return f.stopped
}

// Close syncs in every mode, marks the end as durable and lets other processes
// open the journal. For a journal that has stopped it returns the reason. A
// second Close does nothing.
func (f *File) Close() error {
	f.saving.Lock()
	defer f.saving.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
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

// mark records, behind all commits, that they are durable. Without it, damage
// near the end could not be distinguished from what a crash leaves.
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

// createFile makes a file that has its name only when its content is durable:
// it is written under another name, synced and renamed, and the directory is
// synced. It is open when it is returned. After an error a file may be left
// under the other name; Open removes it.
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

// finishFile fills a file and gives it its name.
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
