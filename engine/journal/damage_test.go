// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
)

// sample is a small journal with four segments, a snapshot and ten commits.
type sample struct {
	*memDir
	model *model
	last  string // name of the last segment
}

// newSample closes the journal, or leaves it as a killed process does.
func newSample(t testing.TB, mode SyncMode, closed bool) sample {
	t.Helper()
	ctx := context.Background()
	s := sample{memDir: newMemDir(), model: &model{}}
	o, _ := Options{Mode: mode, SegmentBytes: 100}.checked()
	f, _, err := openIn(s.memDir, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		group := [][]byte{fmt.Appendf(nil, "commit %d", 2*i+1), fmt.Appendf(nil, "commit %d, longer", 2*i+2)}
		s.model.commits = append(s.model.commits, group...)
		if s.model.last, err = f.Append(ctx, f.Last(), group...); err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			s.save(t, f, 2)
		}
	}
	s.last = segmentName(f.segments[len(f.segments)-1].first)
	if closed {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s sample) save(t testing.TB, f *File, upTo uint64) {
	t.Helper()
	err := f.SaveSnapshot(context.Background(), upTo, func(w io.Writer) error { _, err := w.Write(s.model.fold(upTo)); return err })
	if err != nil {
		t.Fatal(err)
	}
}

// open opens a damaged copy of the sample. If Open succeeds, the commits must
// be a prefix of those that were appended.
func (s sample) open(t testing.TB, dir *memDir) (last uint64, w []Warning, err error) {
	t.Helper()
	before := dir.clone()
	o, _ := Options{}.checked()
	f, w, err := openIn(dir, o)
	if err != nil {
		for name, i := range before.files {
			if string(dir.files[name].now) != string(i.now) {
				t.Fatalf("%s was changed by an Open that returned an error", name)
			}
		}
		if dir.held {
			t.Fatal("an Open that returned an error keeps the lock")
		}
		return 0, w, err
	}
	s.model.check(t, f)
	last = f.Last()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return last, w, nil
}

// starts returns the offsets of the header and the records of a segment, and of
// its end.
func starts(b []byte) []int {
	at := []int{0}
	for k := headerSize; k < len(b); k += recordHeader + int(binary.LittleEndian.Uint32(b[k+16:])) {
		at = append(at, k)
	}
	return append(at, len(b))
}

// startOf returns the offset of the header or record with a byte.
func startOf(at []int, offset int) int {
	k, found := slices.BinarySearch(at, offset)
	if !found {
		k--
	}
	return at[k]
}

//promise:damage damage
func TestAFlippedBitAnywhereInAClosedJournalIsRefusedWithItsOffset(t *testing.T) {
	s := newSample(t, SyncInterval, true)
	for name, i := range s.files {
		for offset := range i.now {
			for bit := range 8 {
				dir := s.clone()
				dir.files[name].now[offset] ^= 1 << bit
				last, w, err := s.open(t, dir)
				if at := starts(i.now); name == s.last && startOf(at, offset) == at[len(at)-2] {
					// The damage is in the mark that Close wrote, which is not
					// a commit.
					if err != nil || last != 10 || len(w) != 1 || w[0].Offset != int64(at[len(at)-2]) {
						t.Fatalf("%s, bit %d of byte %d in the mark: %v, %v, last %d", name, bit, offset, err, w, last)
					}
					continue
				}
				checkRefused(t, err, name, startOf(starts(i.now), offset), offset)
			}
		}
	}
}

// checkRefused checks that Open names the file and the damaged header or
// record.
func checkRefused(t *testing.T, err error, name string, start, offset int) {
	t.Helper()
	if errors.Is(err, ErrVersion) && strings.Contains(err.Error(), name+": offset 8:") && offset >= 8 && offset < 12 {
		return
	}
	var c *CorruptError
	if !errors.As(err, &c) {
		t.Fatalf("%s, byte %d: error %v", name, offset, err)
	}
	if c.File != name || start >= headerSize && c.Offset != int64(start) || start < headerSize && c.Offset >= headerSize {
		t.Fatalf("%s, byte %d: refused with %v; expected offset %d", name, offset, c, start)
	}
}

// In the journal of a killed process no later record says that the last group
// was durable, so damage there is cut. Damage before it is refused.
//
//promise:damage kill damage
func TestAFlippedBitInAKilledJournalIsCutInTheLastGroupAndRefusedBefore(t *testing.T) {
	s := newSample(t, SyncAlways, false)
	for name, i := range s.files {
		at := starts(i.now)
		for offset := range i.now {
			dir := s.clone()
			dir.files[name].now[offset] ^= 0x10
			last, w, err := s.open(t, dir)
			start := startOf(at, offset)
			if name != s.last || start < at[len(at)-3] {
				checkRefused(t, err, name, start, offset)
				continue
			}
			lost := uint64(9)
			if start == at[len(at)-2] {
				lost = 10
			}
			if err != nil || last != lost-1 || len(w) != 1 {
				t.Fatalf("byte %d of the last group: %v, %v, last %d", offset, err, w, last)
			}
			if w[0].File != name || w[0].Offset != int64(start) || w[0].Cut != int64(len(i.now)-start) || w[0].First != lost {
				t.Fatalf("byte %d of the last group: warning %+v", offset, w[0])
			}
			if lost == 9 && w[0].Last != 10 {
				t.Fatalf("the warning does not name commit 10, which is after the damage, as lost: %+v", w[0])
			}
		}
	}
}

func TestTruncationAtEveryByte(t *testing.T) {
	for _, closed := range []bool{true, false} {
		s := newSample(t, SyncInterval, closed)
		for name, i := range s.files {
			at := starts(i.now)
			for size := range i.now {
				dir := s.clone()
				dir.files[name].now = dir.files[name].now[:size]
				last, w, err := s.open(t, dir)
				if name != s.last || size < headerSize {
					var c *CorruptError
					if !errors.As(err, &c) {
						t.Fatalf("%s cut to %d bytes: %v, last %d", name, size, err, last)
					}
					continue
				}
				whole := slices.Contains(at, size)
				if err != nil || whole != (len(w) == 0) {
					t.Fatalf("%s cut to %d bytes: %v, %v", name, size, err, w)
				}
				if !whole && (w[0].First != last+1 || w[0].Offset != int64(startOf(at, size)) || w[0].Cut != int64(size)-w[0].Offset) {
					t.Fatalf("%s cut to %d bytes, last %d: %+v", name, size, last, w[0])
				}
			}
		}
	}
}

//promise:damage power
func TestZerosAndRubbishBehindTheEndAreCut(t *testing.T) {
	s := newSample(t, SyncAlways, false)
	for what, more := range map[string][]byte{
		"zeros":              make([]byte, 100_000),
		"text":               []byte(strings.Repeat("not a record at all ", 50)),
		"a record elsewhere": appendRecord(nil, seed(1), 11, 10, []byte("of another journal")),
		"a huge length":      {10: 1, 16: 0xff, 17: 0xff, 18: 0xff, 19: 0xff, 40: 0},
	} {
		dir := s.clone()
		i := dir.files[s.last]
		size := len(i.now)
		i.now = append(i.now, more...)
		if last, w, err := s.open(t, dir); err != nil || last != 10 || len(w) != 1 || w[0].Cut != int64(len(more)) || w[0].Offset != int64(size) {
			t.Errorf("%s: %v, %v, last %d", what, err, w, last)
		}
	}
}

// A payload may hold a whole journal. Open must not take the records inside it
// for commits after a torn one, or it would refuse the journal.
func TestAJournalInsideAPayloadProvesNothing(t *testing.T) {
	ctx := context.Background()
	inner := newSample(t, SyncAlways, true)
	dir := newMemDir()
	o, _ := Options{Mode: SyncAlways}.checked()
	f, _, err := openIn(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Append(ctx, 0, inner.files[inner.last].now); err != nil {
		t.Fatal(err)
	}
	i := dir.files[segmentName(1)]
	i.now = i.now[:len(i.now)-1]
	f, w, err := openIn(dir.clone(), o)
	if err != nil || f.Last() != 0 || len(w) != 1 || w[0].First != 1 {
		t.Fatal(f, w, err)
	}
}

//promise:damage damage
func TestFilesThatAreMissingOrStrangeAreRefused(t *testing.T) {
	other := newSample(t, SyncAlways, true)
	names := func(s sample) (segments []string, snapshot string) {
		for name := range s.files {
			if strings.HasSuffix(name, snapshotSuffix) {
				snapshot = name
			} else {
				segments = append(segments, name)
			}
		}
		slices.Sort(segments)
		return segments, snapshot
	}
	header := func(magic string, v uint32, sequence uint64) []byte {
		b := header{magic: magic, id: 1, sequence: sequence}.append(nil)
		binary.LittleEndian.PutUint32(b[8:], v)
		binary.LittleEndian.PutUint32(b[28:], crc32.Checksum(b[:28], castagnoli()))
		return b
	}
	tests := map[string]struct {
		damage func(s sample)
		says   string
	}{
		"first segment":   {func(s sample) { n, _ := names(s); delete(s.files, n[0]) }, "begins with commit 5; commit 3 is missing"},
		"segment between": {func(s sample) { n, _ := names(s); delete(s.files, n[1]) }, "begins with commit 7; the segment before ends with 4"},
		"all segments": {func(s sample) {
			maps.DeleteFunc(s.files, func(name string, _ *inode) bool { return strings.HasSuffix(name, segmentSuffix) })
		}, "there is no segment to go with"},
		"snapshot":             {func(s sample) { _, n := names(s); delete(s.files, n) }, "begins with commit 3; commit 1 is missing"},
		"segment from without": {func(s sample) { s.files[s.last] = other.files[s.last] }, "offset 12: a file of another journal"},
		"segment renamed":      {func(s sample) { n, _ := names(s); s.files[segmentName(2)] = s.files[n[0]]; delete(s.files, n[0]) }, "sequence 3; expected 2 by the file's name"},
		"segment of version 2": {func(s sample) { s.files[s.last].now = header(segmentMagic, 2, 9) }, ErrVersion.Error()},
		"snapshot, version 9":  {func(s sample) { _, n := names(s); s.files[n].now = header(snapshotMagic, 9, 2) }, ErrVersion.Error()},
		"a record repeated": {func(s sample) {
			at := starts(s.files[s.last].now)
			s.files[s.last].now = append(s.files[s.last].now[:at[2]:at[2]], s.files[s.last].now[at[1]:]...)
		}, "a record of commit 9; expected commit 10"},
		"a record left out": {func(s sample) {
			at := starts(s.files[s.last].now)
			s.files[s.last].now = append(s.files[s.last].now[:at[1]:at[1]], s.files[s.last].now[at[2]:]...)
		}, "a record of commit 10; expected commit 9"},
		"bytes after a snapshot": {func(s sample) { _, n := names(s); s.files[n].now = append(s.files[n].now, 0) }, "bytes after the snapshot's last record"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSample(t, SyncAlways, true)
			if n, _ := names(s); !slices.Equal(n, []string{segmentName(3), segmentName(5), segmentName(7), segmentName(9)}) {
				t.Fatalf("the sample has the segments %q", n)
			}
			test.damage(s)
			_, _, err := s.open(t, s.clone())
			var c *CorruptError
			if err == nil || !strings.Contains(err.Error(), test.says) || !errors.As(err, &c) && !errors.Is(err, ErrVersion) {
				t.Errorf("Open returned %v; expected %q", err, test.says)
			}
		})
	}
}

// A crash between the new snapshot and the removal of the old one leaves both.
// As long as the commits between them exist, damage to the new one loses
// nothing.
//
//promise:damage damage kill
func TestADamagedSnapshotIsPassedOverOnlyIfNothingIsLost(t *testing.T) {
	s := newSample(t, SyncAlways, true)
	o, _ := Options{}.checked()
	f, _, err := openIn(s.memDir, o)
	if err != nil {
		t.Fatal(err)
	}
	// The power is lost after the rename, so nothing is removed.
	old := s.clone()
	s.save(t, f, 8)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	old.files[snapshotName(8)] = &inode{now: slices.Clone(s.files[snapshotName(8)].now)}
	if last, w, err := s.open(t, old.clone()); err != nil || last != 10 || len(w) != 0 {
		t.Fatalf("with both snapshots: %v, %v, last %d", err, w, last)
	}

	old.files[snapshotName(8)].now[40] ^= 1
	last, w, err := s.open(t, old.clone())
	if err != nil || last != 10 || len(w) != 1 || w[0].File != snapshotName(8) || w[0].Cut != 0 {
		t.Fatalf("with the new one damaged: %v, %v, last %d", err, w, last)
	}
	for _, first := range []uint64{5, 7, 9} {
		delete(old.files, segmentName(first))
	}
	var c *CorruptError
	if _, _, err = s.open(t, old.clone()); !errors.As(err, &c) || c.File != snapshotName(8) {
		t.Fatalf("with the commits gone too: %v", err)
	}
}
