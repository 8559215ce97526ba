// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/pnagent/pnagent/internal/ordered"
)

// Open opens the journal in a directory, or creates one if the directory is
// empty or missing. It checks everything that will be read. The warnings report
// what was lost or skipped; show them to the operator.
//
// The error is ErrLocked if another File uses the directory. It is a
// *CorruptError or ErrVersion if a crash cannot have left the files like this;
// then nothing was changed. Any other error is the disk's.
func Open(dir string, options Options) (*File, []Warning, error) {
	options, err := options.checked()
	if err != nil {
		return nil, nil, err
	}
	d, err := openDisk(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("open journal %s: %w", dir, err)
	}
	f, warnings, err := openIn(d, options)
	if err != nil {
		return nil, nil, fmt.Errorf("open journal %s: %w", dir, err)
	}
	return f, warnings, nil
}

// openIn is Open on any implementation of directory. It closes the directory if
// it fails.
func openIn(dir directory, options Options) (f *File, warnings []Warning, err error) {
	r := recovery{dir: dir, f: &File{dir: dir, options: options, marked: true}}
	r.f.synced = sync.NewCond(&r.f.mu)
	defer func() {
		if err != nil {
			if r.f.active != nil {
				r.f.active.Close()
			}
			dir.Close()
		}
	}()
	if err := dir.lock(); err != nil {
		return nil, nil, err
	}
	if err := r.list(); err != nil {
		return nil, nil, err
	}
	for _, step := range []func() error{r.chooseSnapshot, r.checkSegments, r.repair, r.tidy} {
		if err := step(); err != nil {
			return nil, nil, err
		}
	}
	return r.f, r.warnings, nil
}

// recovery is the state of one Open. It only reads until repair is called.
type recovery struct {
	dir      directory
	f        *File
	warnings []Warning
	remove   []string // files that are no longer needed

	known   bool          // whether the journal's id has been read
	passed  *CorruptError // the damage of the newest damaged snapshot
	reaches uint64        // the last commit of the newest damaged snapshot
	tail    tail
	next    uint64 // the commit after the last one that checkSegments has found sound
}

// tail describes the end of the last segment.
type tail struct {
	end    int64 // the offset after the last whole record
	proven int64 // a record after this offset says that all before it is durable
	size   int64 // of the file
	damage *damage
}

// list sorts the names in the directory by kind, and ignores files that are not
// of the journal.
func (r *recovery) list() error {
	names, err := r.dir.names()
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	for _, name := range names {
		h, ok := parseName(name)
		switch {
		case isUnfinished(name):
			r.remove = append(r.remove, name)
		case ok && h.magic == segmentMagic:
			r.f.segments = append(r.f.segments, segment{first: h.sequence})
		case ok:
			r.f.snapshots = append(r.f.snapshots, h.sequence)
		}
	}
	slices.Sort(r.f.snapshots)
	ordered.By(r.f.segments, func(a, b *segment) int { return cmp.Compare(a.first, b.first) })
	return nil
}

// chooseSnapshot finds the newest snapshot that is whole.
func (r *recovery) chooseSnapshot() error {
	for _, upTo := range slices.Backward(r.f.snapshots) {
		err := r.checkSnapshot(upTo)
		if err == nil {
			r.f.newest = upTo
			return nil
		}
		var c *CorruptError
		if !errors.As(err, &c) {
			return err
		}
		if r.passed == nil {
			r.passed, r.reaches = c, upTo
		}
		r.warnings = append(r.warnings, Warning{File: c.File, Offset: c.Offset, Reason: c.Reason + "; the snapshot is passed over"})
	}
	return nil
}

// checkSnapshot reads a whole snapshot to check it.
func (r *recovery) checkSnapshot(upTo uint64) error {
	s, err := openSnapshot(context.Background(), r.dir, upTo)
	if err != nil {
		return err
	}
	defer s.file.Close()
	if err := r.sameJournal(s.name, s.id); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, s); err != nil {
		return fmt.Errorf("read %s: %w", s.name, err)
	}
	return nil
}

// sameJournal checks that a file has the same journal id as those read before.
func (r *recovery) sameJournal(name string, id uint64) error {
	if r.known && r.f.id != id {
		return &CorruptError{File: name, Offset: 12, Reason: "a file of another journal"}
	}
	r.known, r.f.id, r.f.seed = true, id, seed(id)
	return nil
}

// checkSegments reads all commits after the snapshot, and checks that none is
// missing.
func (r *recovery) checkSegments() error {
	f := r.f
	if len(f.segments) == 0 && len(f.snapshots) == 0 {
		return nil
	}
	if err := r.skipCovered(); err != nil {
		return err
	}
	next := f.segments[0].first
	for i := range f.segments {
		s := &f.segments[i]
		r.next = next
		if s.first != next {
			return &CorruptError{File: segmentName(s.first), Reason: fmt.Sprintf("begins with commit %d; the segment before ends with %d", s.first, next-1)}
		}
		var err error
		if next, err = r.checkSegment(s, i == len(f.segments)-1); err != nil {
			return err
		}
	}
	f.last = next - 1
	switch {
	case f.last < r.reaches:
		return r.passed
	case f.last < f.newest: // a snapshot is never ahead of what is durable
		s := f.segments[len(f.segments)-1]
		return &CorruptError{File: segmentName(s.first), Offset: s.size, Sequence: next,
			Reason: fmt.Sprintf("the commits end here; %s says that %d was durable", snapshotName(f.newest), f.newest)}
	}
	return nil
}

// skipCovered keeps the segment with the first commit after the snapshot, and
// those after it. Earlier segments are still there if a crash interrupted their
// removal.
func (r *recovery) skipCovered() error {
	f := r.f
	k := -1
	for k+1 < len(f.segments) && f.segments[k+1].first <= f.newest+1 {
		k++
	}
	switch {
	case k >= 0:
	case r.passed != nil:
		return r.passed
	case len(f.segments) == 0:
		return &CorruptError{File: segmentName(f.newest + 1), Reason: fmt.Sprintf("there is no segment to go with %s", snapshotName(f.newest))}
	default:
		return &CorruptError{File: segmentName(f.segments[0].first), Reason: fmt.Sprintf("begins with commit %d; commit %d is missing", f.segments[0].first, f.newest+1)}
	}
	for _, s := range f.segments[:k] {
		r.remove = append(r.remove, segmentName(s.first))
	}
	f.segments = f.segments[k:]
	return nil
}

// checkSegment reads a segment and returns the number of the commit that
// follows it. Only the last segment may have a damaged end.
func (r *recovery) checkSegment(s *segment, last bool) (next uint64, err error) {
	name := segmentName(s.first)
	in, h, size, err := openFile(r.dir, name)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	if err := r.sameJournal(name, h.id); err != nil {
		return 0, err
	}
	records := newRecords(in, h, size)
	t := tail{proven: headerSize, size: size}
	durable := s.first - 1
	r.f.marked = true
	for {
		t.end = records.at
		rec, _, err := records.read()
		if errors.Is(err, io.EOF) {
			break
		}
		if errors.As(err, &t.damage) {
			if !last || t.damage.shifted {
				s.size, r.next = t.end, records.next
				return 0, t.damage.corrupt(name, records.next)
			}
			break
		}
		if err != nil {
			return 0, fmt.Errorf("read %s at offset %d: %w", name, records.at, err)
		}
		// The record holds how far the journal was durable when it was written.
		if rec.durable > durable {
			durable, t.proven = rec.durable, t.end
		}
		r.f.marked = rec.mark()
	}
	s.size, r.next = t.end, records.next
	r.tail = t
	if t.damage != nil {
		return records.next, r.judge(in, name, records.next)
	}
	return records.next, nil
}

// judge handles damage in the last segment. If a crash can have caused it, the
// damaged end will be cut. If a later record says that the damaged commit was
// durable, judge returns a CorruptError.
func (r *recovery) judge(in file, name string, next uint64) error {
	t := r.tail
	highest, proof, err := findBehind(in, r.f.seed, t, next)
	if err != nil {
		return fmt.Errorf("read %s after offset %d: %w", name, t.end, err)
	}
	if proof != 0 {
		c := t.damage.corrupt(name, next)
		c.Reason += fmt.Sprintf("; the record at offset %d marks it as durable", proof)
		return c
	}
	r.f.marked = false
	r.warnings = append(r.warnings, Warning{File: name, Offset: t.end, Reason: t.damage.reason, Cut: t.size - t.end, First: next, Last: highest})
	return nil
}

// findBehind searches all offsets after the last whole record for headers of
// records. It returns the highest commit number found, and the offset of a
// record which says that the commit next is durable, or 0 if there is none.
func findBehind(in file, seed uint32, t tail, next uint64) (highest uint64, proof int64, err error) {
	const window = 1 << 16
	b := make([]byte, window+recordHeader-1)
	most := next + uint64(t.size-t.end)/recordHeader // the space that is left holds no more records
	for at := t.end; at+recordHeader <= t.size; at += window {
		n := int(min(int64(len(b)), t.size-at))
		if _, err := io.ReadFull(io.NewSectionReader(in, at, int64(n)), b[:n]); err != nil {
			return 0, 0, err
		}
		for i := range n - recordHeader + 1 {
			if sequence := binary.LittleEndian.Uint64(b[i:]); sequence < next || sequence > most {
				continue
			}
			rec, ok := parseRecord(b[i:], seed)
			if !ok {
				continue
			}
			if rec.durable >= next {
				return 0, at + int64(i), nil
			}
			highest = max(highest, rec.sequence)
		}
	}
	return highest, 0, nil
}
