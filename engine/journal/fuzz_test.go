// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
	"testing"
)

// mend corrects the checksums of a file, so that the fuzzer reaches the code
// after their check.
func mend(b []byte) {
	if len(b) < headerSize {
		return
	}
	binary.LittleEndian.PutUint32(b[headerSize-4:], crc32.Checksum(b[:headerSize-4], castagnoli()))
	start := seed(binary.LittleEndian.Uint64(b[12:]))
	for k := headerSize; k+recordHeader <= len(b); {
		n := int(binary.LittleEndian.Uint32(b[k+16:]))
		if n <= len(b)-k-recordHeader {
			binary.LittleEndian.PutUint32(b[k+20:], crc32.Update(start, castagnoli(), b[k+recordHeader:k+recordHeader+n]))
		}
		binary.LittleEndian.PutUint32(b[k+24:], crc32.Update(start, castagnoli(), b[k:k+24]))
		k += recordHeader + n
	}
}

// For any content of the files, Open either returns an error and changes
// nothing, or returns a journal that can be read, written, closed and opened
// again with the same commits.
func FuzzOpen(f *testing.F) {
	s := newSample(f, SyncInterval, true)
	part := func(name string) []byte { return s.files[name].now }
	f.Add(part(snapshotName(2)), part(segmentName(3)), part(segmentName(5)), false)
	f.Add(part(snapshotName(2)), part(segmentName(3)), part(segmentName(5))[:60], false)
	f.Add(part(snapshotName(2))[:50], part(segmentName(3)), append(slices.Clone(part(segmentName(5))), 1, 2, 3), true)
	f.Fuzz(func(t *testing.T, snapshot, first, second []byte, checked bool) {
		if len(snapshot)+len(first)+len(second) > 1<<20 {
			return
		}
		dir := newMemDir()
		for name, b := range map[string][]byte{snapshotName(2): snapshot, segmentName(3): first, segmentName(5): second} {
			if len(b) == 0 {
				continue
			}
			b = slices.Clone(b)
			if checked {
				mend(b)
			}
			dir.files[name] = &inode{now: b}
		}
		reopen(t, dir)
	})
}

// reopen opens, reads, writes and opens again.
func reopen(t *testing.T, dir *memDir) {
	o, _ := Options{SegmentBytes: 500}.checked()
	before := dir.clone()
	f, _, err := openIn(dir, o)
	if err != nil {
		for name, i := range before.files {
			if string(dir.files[name].now) != string(i.now) {
				t.Fatalf("%s was changed by an Open that returned an error: %v", name, err)
			}
		}
		return
	}
	state, commits := contents(t, f)
	if last := f.Last(); last < 1<<60 {
		mustAppend(t, f, "more", "and more")
		commits = append(commits, "more", "and more")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f, w, err := openIn(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range w {
		if w.Cut != 0 {
			t.Fatalf("Open cuts a journal that was closed: %v", w)
		}
	}
	state2, commits2 := contents(t, f)
	if state2 != state || !slices.Equal(commits2, commits) {
		t.Fatalf("opened again, the journal has %q and %q, had %q and %q", state2, commits2, state, commits)
	}
}

// contents reads a whole journal.
func contents(t *testing.T, f *File) (state string, commits []string) {
	upTo, err := f.LoadSnapshot(context.Background(), func(r io.Reader) error {
		b, err := io.ReadAll(r)
		state = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	next := upTo + 1
	for c, err := range f.Read(context.Background(), next) {
		if err != nil || c.Sequence != next {
			t.Fatalf("commit %d, want %d: %v", c.Sequence, next, err)
		}
		commits = append(commits, string(c.Payload))
		next++
	}
	if next != f.Last()+1 {
		t.Fatalf("the commits end with %d, want %d", next-1, f.Last())
	}
	return state, commits
}
