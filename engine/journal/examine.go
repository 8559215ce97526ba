// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// ErrReadOnly is returned by the methods that would change a journal opened by
// Examine.
var ErrReadOnly = errors.New("the journal is only read")

// Findings describes the files of a journal in a directory.
type Findings struct {
	Segments  []FoundFile `json:"segments"`
	Snapshots []FoundFile `json:"snapshots"`
	First     uint64      `json:"first"`    // the first commit that can be read
	Last      uint64      `json:"last"`     // the last one; all up to it are sound
	Snapshot  uint64      `json:"snapshot"` // the last commit in the newest sound snapshot; 0 if there is none
	Warnings  []Warning   `json:"-"`
	Fault     error       `json:"-"` // why what follows Last is not sound, a *CorruptError; nil if nothing does
}

// FoundFile is a file of a journal.
type FoundFile struct {
	Name  string `json:"name"`
	From  uint64 `json:"from,omitempty"` // the first commit that a segment holds
	UpTo  uint64 `json:"up_to"`          // the last one, 0 if it is not known; of a snapshot, that it stands for
	Bytes int64  `json:"bytes"`
}

// Examine reads and checks the journal in a directory and changes nothing. It
// takes no lock, so an engine may be writing. The returned File can be read;
// its other methods return ErrReadOnly, and it need not be closed.
//
// An error means that there is no readable journal. If there is damage, but
// commits before it can be read, the error is nil and Findings.Fault is the
// damage.
func Examine(dir string) (*File, *Findings, error) {
	const tries = 5 // a running engine may remove files between listing and reading them
	for try := 1; ; try++ {
		f, found, err := examine(dir, ^uint64(0))
		switch {
		case err == nil:
			return f, found, nil
		case try < tries && errors.Is(err, fs.ErrNotExist) && isDir(dir):
			continue
		}
		return nil, nil, fmt.Errorf("examine journal %s: %w", dir, err)
	}
}

func isDir(path string) bool {
	s, err := os.Stat(path)
	return err == nil && s.IsDir()
}

// examine is Examine for the commits up to upTo. It ignores snapshots of later
// commits.
func examine(path string, upTo uint64) (*File, *Findings, error) {
	d := &disk{path: path}
	f := &File{dir: d, stopped: ErrReadOnly}
	r := recovery{dir: d, f: f}
	if err := r.list(); err != nil {
		return nil, nil, err
	}
	if len(f.segments) == 0 {
		return nil, nil, fmt.Errorf("no segment of a journal: %w", fs.ErrNotExist)
	}
	found := &Findings{}
	if err := r.sizes(found); err != nil {
		return nil, nil, err
	}
	f.snapshots = slices.DeleteFunc(f.snapshots, func(n uint64) bool { return n > upTo })
	f.segments = slices.DeleteFunc(f.segments, func(s segment) bool { return s.first-1 > upTo })
	if len(f.segments) == 0 {
		return nil, nil, fmt.Errorf("the first is %d: %w", found.Segments[0].From, ErrCovered)
	}
	err := r.chooseSnapshot()
	if err == nil {
		err = r.checkSegments()
	}
	corrupt := (*CorruptError)(nil)
	switch {
	case err != nil && !errors.As(err, &corrupt):
		return nil, nil, err
	case err != nil && !r.readableBefore():
		return nil, nil, err
	case err != nil:
		found.Fault = corrupt
	}
	found.Warnings, found.Snapshot = r.warnings, f.newest
	found.First, found.Last = f.segments[0].first, f.last
	if last := &found.Segments[len(found.Segments)-1]; found.Fault == nil && last.From <= f.last {
		last.UpTo = f.last
	}
	return f, found, nil
}

// sizes records which files there are, and which commits they hold. A segment
// ends before the first commit of the next one; the end of the last segment is
// not known yet.
func (r *recovery) sizes(found *Findings) error {
	size := func(name string) (int64, error) {
		in, err := r.dir.open(name)
		if err != nil {
			return 0, err
		}
		defer in.Close()
		return in.size()
	}
	for i, s := range r.f.segments {
		file := FoundFile{Name: segmentName(s.first), From: s.first}
		if i+1 < len(r.f.segments) {
			file.UpTo = r.f.segments[i+1].first - 1
		}
		var err error
		if file.Bytes, err = size(file.Name); err != nil {
			return err
		}
		found.Segments = append(found.Segments, file)
	}
	for _, upTo := range r.f.snapshots {
		file := FoundFile{Name: snapshotName(upTo), UpTo: upTo}
		var err error
		if file.Bytes, err = size(file.Name); err != nil {
			return err
		}
		found.Snapshots = append(found.Snapshots, file)
	}
	return nil
}

// readableBefore makes the journal end before the damage that checkSegments has
// found. It reports whether any commits remain that can be read: from commit 1,
// or from the one after a snapshot.
func (r *recovery) readableBefore() bool {
	f := r.f
	if r.next <= 1 || r.next <= f.newest || f.newest == 0 && f.segments[0].first != 1 {
		return false
	}
	f.last = r.next - 1
	f.segments = slices.DeleteFunc(f.segments, func(s segment) bool { return s.first > f.last })
	return len(f.segments) > 0
}
