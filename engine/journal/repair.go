// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
)

// repair makes the last segment ready for writing: it cuts a damaged end and
// makes the rest durable.
func (r *recovery) repair() error {
	f := r.f
	if len(f.segments) == 0 {
		var id [8]byte
		rand.Read(id[:]) // does not fail
		f.id = binary.LittleEndian.Uint64(id[:])
		f.seed = seed(f.id)
		return f.begin()
	}
	name := segmentName(f.segments[len(f.segments)-1].first)
	var err error
	if f.active, err = r.dir.edit(name); err != nil {
		return fmt.Errorf("open %s: %w", name, err)
	}
	if r.tail.damage != nil {
		if err := f.active.Truncate(r.tail.end); err != nil {
			return fmt.Errorf("cut %s at offset %d: %w", name, r.tail.end, err)
		}
	}
	if err := rewrite(f.active, r.tail.proven, r.tail.end); err != nil {
		return fmt.Errorf("write %s again from offset %d: %w", name, r.tail.proven, err)
	}
	if err := f.active.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", name, err)
	}
	f.durable = f.last
	return nil
}

// rewrite writes a part of a file again with the same content. After a failed
// sync, the system can hold pages in memory that it considers written although
// the disk does not have them. Open has read those pages from memory, and the
// next sync skips them unless they are written again.
func rewrite(out file, from, end int64) error {
	b := make([]byte, min(end-from, readBuffer))
	for from < end {
		part := b[:min(int64(len(b)), end-from)]
		if _, err := io.ReadFull(io.NewSectionReader(out, from, int64(len(part))), part); err != nil {
			return err
		}
		if _, err := out.WriteAt(part, from); err != nil {
			return err
		}
		from += int64(len(part))
	}
	return nil
}

// tidy syncs the directory, so that the names that Open has read are durable.
// It removes files that a crash left unfinished or did not get to remove.
func (r *recovery) tidy() error {
	f := r.f
	if err := r.dir.sync(); err != nil {
		return fmt.Errorf("sync the directory: %w", err)
	}
	for len(f.snapshots) > 1 && f.snapshots[0] < f.newest {
		r.remove = append(r.remove, snapshotName(f.snapshots[0]))
		f.snapshots = f.snapshots[1:]
	}
	for _, name := range r.remove {
		if err := ignoreGone(r.dir.remove(name)); err != nil {
			return fmt.Errorf("remove %s: %w", name, err)
		}
	}
	return nil
}
