// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
)

// SaveSnapshot may run while commits are appended and read. It saves one
// snapshot at a time; write must not call it. If the snapshot cannot be
// written, synced or renamed, the journal continues as before, with all its
// commits. The journal stops only if the commits cannot be made durable,
// because a snapshot must not be ahead of them.
func (f *File) SaveSnapshot(ctx context.Context, upTo uint64, write func(io.Writer) error) error {
	f.saving.Lock()
	defer f.saving.Unlock()
	if err := f.beginSnapshot(upTo); err != nil {
		return fmt.Errorf("save snapshot up to commit %d: %w", upTo, err)
	}
	if err := f.storeSnapshot(ctx, upTo, write); err != nil {
		return fmt.Errorf("save snapshot up to commit %d: %w", upTo, err)
	}
	if err := f.dropCovered(upTo); err != nil {
		return fmt.Errorf("snapshot up to commit %d is saved; remove what it covers: %w", upTo, err)
	}
	return nil
}

// beginSnapshot checks upTo and makes the commits up to it durable, so that the
// snapshot is never ahead of the log.
func (f *File) beginSnapshot(upTo uint64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settle()
	switch err := f.usable(); {
	case err != nil:
		return err
	case upTo == 0 || upTo > f.last:
		return fmt.Errorf("expected 1 to %d: %w", f.last, ErrAhead)
	case upTo < f.newest:
		return fmt.Errorf("a snapshot up to commit %d exists: %w", f.newest, ErrCovered)
	case upTo <= f.durable:
		return nil
	}
	return f.flushAside()
}

// storeSnapshot writes the file and makes it the newest snapshot.
func (f *File) storeSnapshot(ctx context.Context, upTo uint64, write func(io.Writer) error) error {
	name := snapshotName(upTo)
	out, err := createFile(f.dir, name, func(out file) error {
		w := &snapshotWriter{ctx: ctx, out: io.NewOffsetWriter(out, 0), seed: f.seed}
		if err := w.put(header{magic: snapshotMagic, id: f.id, sequence: upTo}.append(nil)); err != nil {
			return err
		}
		if err := write(w); err != nil {
			return err
		}
		return w.end()
	})
	if err != nil {
		// Removing the file frees the space on a full disk. If that fails too,
		// Open removes it. A file that already has its final name is whole and
		// does no harm.
		return errors.Join(err, ignoreGone(f.dir.remove(name+newSuffix)))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.newest = upTo
	if !slices.Contains(f.snapshots, upTo) {
		f.snapshots = append(f.snapshots, upTo)
		slices.Sort(f.snapshots)
	}
	return out.Close()
}

// ignoreGone returns nil if err reports that a file does not exist.
func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// dropCovered removes the segments with only commits up to upTo, and the older
// snapshots, oldest first. If a removal fails, the next snapshot and Open try
// again.
func (f *File) dropCovered(upTo uint64) error {
	for {
		f.mu.Lock()
		name := ""
		switch {
		case len(f.segments) > 1 && f.segments[1].first <= upTo+1:
			name = segmentName(f.segments[0].first)
		case len(f.snapshots) > 1 && f.snapshots[0] < upTo:
			name = snapshotName(f.snapshots[0])
		}
		f.mu.Unlock()
		if name == "" {
			return nil
		}
		if err := f.dir.remove(name); err != nil {
			return err
		}
		f.mu.Lock()
		if h, _ := parseName(name); h.magic == segmentMagic {
			f.segments = f.segments[1:]
		} else {
			f.snapshots = f.snapshots[1:]
		}
		f.mu.Unlock()
	}
}

// snapshotWriter writes bytes as records of chunkSize.
type snapshotWriter struct {
	ctx    context.Context
	out    io.Writer
	seed   uint32
	chunk  []byte
	record []byte
	number uint64 // of the last record written
}

func (w *snapshotWriter) put(b []byte) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	_, err := w.out.Write(b)
	return err
}

// Write writes bytes of the state.
func (w *snapshotWriter) Write(b []byte) (int, error) {
	taken := 0
	for len(b) > 0 {
		n := min(len(b), chunkSize-len(w.chunk))
		w.chunk = append(w.chunk, b[:n]...)
		b, taken = b[n:], taken+n
		if len(w.chunk) == chunkSize {
			if err := w.flush(); err != nil {
				return taken, err
			}
		}
	}
	return taken, nil
}

// flush writes the collected bytes as a record, which may be empty.
func (w *snapshotWriter) flush() error {
	w.number++
	w.record = appendRecord(w.record[:0], w.seed, w.number, 0, w.chunk)
	w.chunk = w.chunk[:0]
	return w.put(w.record)
}

// end writes the remaining bytes, and the empty record that marks the end.
func (w *snapshotWriter) end() error {
	if len(w.chunk) > 0 {
		if err := w.flush(); err != nil {
			return err
		}
	}
	return w.flush()
}

// LoadSnapshot reads the newest snapshot. It also works on a journal that has
// stopped. If the snapshot was damaged after Open, the reader that read gets
// returns a CorruptError.
func (f *File) LoadSnapshot(ctx context.Context, read func(io.Reader) error) (upTo uint64, err error) {
	f.saving.Lock()
	defer f.saving.Unlock()
	f.mu.Lock()
	upTo, closed := f.newest, f.closed
	f.mu.Unlock()
	if closed {
		return 0, fmt.Errorf("load snapshot: %w", ErrClosed)
	}
	if upTo == 0 {
		return 0, nil
	}
	r, err := openSnapshot(ctx, f.dir, upTo)
	if err == nil {
		defer r.file.Close()
		err = read(r)
	}
	if err != nil {
		return 0, fmt.Errorf("load snapshot up to commit %d: %w", upTo, err)
	}
	return upTo, nil
}

// snapshotReader reads the state from a snapshot.
type snapshotReader struct {
	ctx     context.Context
	file    file
	name    string
	id      uint64
	records *records
	left    []byte // unread bytes of the last record
	err     error  // returned when left is empty
}

func openSnapshot(ctx context.Context, dir directory, upTo uint64) (*snapshotReader, error) {
	name := snapshotName(upTo)
	in, h, size, err := openFile(dir, name)
	if err != nil {
		return nil, err
	}
	return &snapshotReader{ctx: ctx, file: in, name: name, id: h.id, records: newRecords(in, h, size)}, nil
}

// Read returns bytes of the state. It returns io.EOF only if the snapshot was
// whole.
func (r *snapshotReader) Read(b []byte) (int, error) {
	for len(r.left) == 0 && r.err == nil {
		r.fill()
	}
	if len(r.left) == 0 {
		return 0, r.err
	}
	n := copy(b, r.left)
	r.left = r.left[n:]
	return n, nil
}

// fill reads the next record.
func (r *snapshotReader) fill() {
	if r.err = r.ctx.Err(); r.err != nil {
		return
	}
	_, r.left, r.err = r.records.read()
	var d *damage
	switch {
	case errors.As(r.err, &d):
		r.err = d.corrupt(r.name, 0)
	case errors.Is(r.err, io.EOF):
		r.err = &CorruptError{File: r.name, Offset: r.records.at, Reason: "the snapshot's last record is missing"}
	case r.err == nil && len(r.left) == 0 && r.records.at != r.records.end:
		r.err = &CorruptError{File: r.name, Offset: r.records.at, Reason: "bytes after the snapshot's last record"}
	case r.err == nil && len(r.left) == 0:
		r.err = io.EOF
	}
}
