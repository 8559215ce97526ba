// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
)

// Read may run while commits are appended. A journal that has stopped can still
// be read, up to Last.
func (f *File) Read(ctx context.Context, from uint64) iter.Seq2[Commit, error] {
	return func(yield func(Commit, error) bool) {
		segments, last, err := f.readable(from)
		if err != nil {
			yield(Commit{}, fmt.Errorf("read from commit %d: %w", from, err))
			return
		}
		r := reading{ctx: ctx, dir: f.dir, from: from, last: last, yield: yield}
		for _, s := range segments {
			if err := r.segment(s); err != nil {
				yield(Commit{}, fmt.Errorf("read from commit %d: %w", from, err))
				return
			}
			if r.over {
				return
			}
		}
	}
}

// readable returns the segments with the commits from a number on.
func (f *File) readable(from uint64) (s []segment, last uint64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		return nil, 0, ErrClosed
	case from > f.last+1:
		return nil, 0, fmt.Errorf("the last is %d: %w", f.last, ErrAhead)
	case from < f.segments[0].first:
		return nil, 0, fmt.Errorf("the first is %d: %w", f.segments[0].first, ErrCovered)
	}
	k := len(f.segments) - 1
	for f.segments[k].first > from {
		k--
	}
	return slices.Clone(f.segments[k:]), f.last, nil
}

// reading is one iteration over commits.
type reading struct {
	ctx   context.Context
	dir   directory
	from  uint64
	last  uint64
	yield func(Commit, error) bool
	over  bool // the caller has ended the iteration
}

// segment yields the commits of one segment.
func (r *reading) segment(s segment) error {
	name := segmentName(s.first)
	in, h, size, err := openFile(r.dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is gone: %w", name, ErrCovered)
	} else if err != nil {
		return err
	}
	defer in.Close()
	if size < s.size {
		return &CorruptError{File: name, Offset: size, Reason: fmt.Sprintf("the file ends; expected %d bytes", s.size)}
	}
	for records := newRecords(in, h, s.size); ; {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		at := records.at
		rec, payload, err := records.read()
		var d *damage
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &d):
			return d.corrupt(name, records.next)
		case err != nil:
			return fmt.Errorf("read %s at offset %d: %w", name, records.at, err)
		case rec.mark() || rec.sequence < r.from:
			continue
		case rec.sequence > r.last:
			return nil
		}
		if !r.yield(Commit{Sequence: rec.sequence, Payload: payload, File: name, Offset: at}, nil) {
			r.over = true
			return nil
		}
	}
}

// openFile opens a file of the journal and reads its header.
func openFile(dir directory, name string) (file, header, int64, error) {
	f, err := dir.open(name)
	if err != nil {
		return nil, header{}, 0, fmt.Errorf("open %s: %w", name, err)
	}
	h, size, err := readHeader(f, name)
	if err != nil {
		f.Close()
		return nil, header{}, 0, err
	}
	return f, h, size, nil
}

// readHeader returns the header and the size of a file.
func readHeader(f file, name string) (header, int64, error) {
	size, err := f.size()
	if err != nil {
		return header{}, 0, fmt.Errorf("size of %s: %w", name, err)
	}
	b := make([]byte, min(size, headerSize))
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, int64(len(b))), b); err != nil {
		return header{}, 0, fmt.Errorf("read %s: %w", name, err)
	}
	h, err := parseHeader(name, b)
	return h, size, err
}
