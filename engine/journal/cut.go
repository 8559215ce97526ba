// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"errors"
	"fmt"
	"io"
)

// Cut copies the journal in dir into the directory copyTo, which must not
// exist. The copy ends with commit upTo. The journal is not changed, and an
// engine may be using it. The error is ErrAhead or ErrCovered if commit upTo
// cannot be read.
func Cut(dir, copyTo string, upTo uint64) error {
	if err := cut(dir, copyTo, upTo); err != nil {
		return fmt.Errorf("cut journal %s at commit %d: %w", dir, upTo, err)
	}
	return nil
}

func cut(dir, copyTo string, upTo uint64) error {
	_, all, err := examine(dir, ^uint64(0))
	switch {
	case err != nil:
		return err
	case upTo == 0:
		return fmt.Errorf("the first is %d: %w", all.First, ErrCovered)
	case upTo > all.Last && all.Fault != nil:
		return fmt.Errorf("it is sound up to commit %d: %w: %w", all.Last, ErrAhead, all.Fault)
	case upTo > all.Last:
		return fmt.Errorf("the last is %d: %w", all.Last, ErrAhead)
	}
	f, _, err := examine(dir, upTo) // examine an older snapshot, which may cover upTo
	switch corrupt := (*CorruptError)(nil); {
	case errors.As(err, &corrupt) && upTo < all.First:
		return fmt.Errorf("the first is %d: %w: %w", all.First, ErrCovered, err)
	case err != nil:
		return err
	}
	end, err := f.endOf(upTo)
	if err != nil {
		return err
	}
	return makeDir(copyTo, func(to *disk) error {
		if f.newest > 0 {
			if err := copyFile(f.dir, to, snapshotName(f.newest), -1); err != nil {
				return err
			}
		}
		for i, s := range f.segments {
			size := s.size
			if i == len(f.segments)-1 {
				size = end
			}
			if err := copyFile(f.dir, to, segmentName(s.first), size); err != nil {
				return err
			}
		}
		return nil
	})
}

// endOf returns the offset after commit upTo in the last segment.
func (f *File) endOf(upTo uint64) (int64, error) {
	s := f.segments[len(f.segments)-1]
	name := segmentName(s.first)
	in, h, _, err := openFile(f.dir, name)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	records := newRecords(in, h, s.size)
	for records.next <= upTo {
		if _, _, err := records.read(); err != nil {
			return 0, fmt.Errorf("read %s at offset %d: %w", name, records.at, err)
		}
	}
	return records.at, nil
}

// copyFile copies the first size bytes of a file, or all of it if size is
// negative, and syncs the copy.
func copyFile(from, to directory, name string, size int64) error {
	in, err := from.open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	if size < 0 {
		if size, err = in.size(); err != nil {
			return err
		}
	}
	out, err := to.create(name)
	if err != nil {
		return err
	}
	n, err := io.Copy(io.NewOffsetWriter(out, 0), io.NewSectionReader(in, 0, size))
	if err == nil && n < size {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		err = out.Sync()
	}
	if err := errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("copy %s: %w", name, err)
	}
	return nil
}
