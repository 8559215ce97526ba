// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// filesIn returns the content of all files of a directory.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, e := range must(os.ReadDir(dir)) {
		all[e.Name()] = string(must(os.ReadFile(filepath.Join(dir, e.Name()))))
	}
	return all
}

// written returns a journal of 9 commits in segments of two, with a snapshot up
// to commit 3 if snapshot is true.
func written(t *testing.T, snapshot bool) (dir string, f *File) {
	t.Helper()
	dir = t.TempDir()
	f = mustOpen(t, dir, Options{SegmentBytes: headerSize + 2*(recordHeader+1)})
	for i := range 9 {
		mustAppend(t, f, fmt.Sprint(i+1))
		if snapshot && i == 4 {
			if err := f.SaveSnapshot(t.Context(), 3, func(w io.Writer) error { _, err := w.Write([]byte("three")); return err }); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir, f
}

func TestAJournalIsExaminedWhileItIsWritten(t *testing.T) {
	dir, f := written(t, true)
	read, found, err := Examine(dir)
	if err != nil || found.Fault != nil || found.First != 3 || found.Last != 9 || found.Snapshot != 3 || len(found.Segments) != 4 || len(found.Snapshots) != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
	if got, err := list(read, 4); err != nil || len(got) != 6 {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := read.Append(t.Context(), 9, []byte("no")); !errors.Is(err, ErrReadOnly) {
		t.Errorf("appended: %v", err)
	}
	if err := read.SaveSnapshot(t.Context(), 9, func(io.Writer) error { return nil }); !errors.Is(err, ErrReadOnly) {
		t.Errorf("saved: %v", err)
	}
	mustAppend(t, f, "10")
	if _, _, err := Examine(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty directory: %v", err)
	}
	if _, _, err := Examine(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}

// Examine finds the commits before the damage sound, and names the damage.
func TestExamineFindsTheLastSoundCommit(t *testing.T) {
	for name, c := range map[string]struct {
		segment uint64
		change  func(path string) error
		last    uint64
	}{
		"a record":             {3, func(p string) error { return flip(p, headerSize+recordHeader+1+3) }, 3},
		"the first record":     {5, func(p string) error { return flip(p, headerSize+3) }, 4},
		"a header":             {5, func(p string) error { return flip(p, 13) }, 4},
		"a segment is missing": {5, os.Remove, 4},
	} {
		t.Run(name, func(t *testing.T) {
			dir, f := written(t, false)
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if err := c.change(filepath.Join(dir, segmentName(c.segment))); err != nil {
				t.Fatal(err)
			}
			before := filesIn(t, dir)
			read, found, err := Examine(dir)
			var corrupt *CorruptError
			if err != nil || found.Last != c.last || !errors.As(found.Fault, &corrupt) {
				t.Fatalf("%+v, %v; want sound up to %d", found, err, c.last)
			}
			if got, err := list(read, 1); err != nil || len(got) != int(c.last) {
				t.Errorf("%q, %v", got, err)
			}
			if !maps.Equal(before, filesIn(t, dir)) {
				t.Error("the files have changed")
			}
			out := filepath.Join(t.TempDir(), "copy")
			if err := Cut(dir, out, c.last+1); !errors.Is(err, ErrAhead) || !errors.As(err, &corrupt) {
				t.Errorf("cut in the damage: %v", err)
			}
			if err := Cut(dir, out, c.last); err != nil {
				t.Fatal(err)
			}
			if f := mustOpen(t, out, Options{}); f.Last() != c.last {
				t.Errorf("the copy has %d commits, want %d", f.Last(), c.last)
			}
		})
	}
}

func flip(path string, at int64) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	b[at] ^= 1
	return os.WriteFile(path, b, 0o600)
}

// A copy ends with the given commit. The journal is not changed, and may be
// open.
func TestACutJournalContinuesFromTheCommit(t *testing.T) {
	for _, snapshot := range []bool{false, true} {
		dir, _ := written(t, snapshot)
		before := filesIn(t, dir)
		from := map[bool]uint64{false: 1, true: 3}[snapshot]
		for upTo := range uint64(11) {
			out := filepath.Join(t.TempDir(), "a", "copy")
			err := Cut(dir, out, upTo)
			switch {
			case upTo < from && !errors.Is(err, ErrCovered):
				t.Errorf("cut at %d: %v", upTo, err)
			case upTo > 9 && !errors.Is(err, ErrAhead):
				t.Errorf("cut at %d: %v", upTo, err)
			case (upTo < from || upTo > 9) && !errors.Is(second(os.Lstat(out)), fs.ErrNotExist):
				t.Errorf("cut at %d: a copy was left", upTo)
			}
			if upTo < from || upTo > 9 {
				continue
			}
			if err != nil {
				t.Fatalf("cut at %d: %v", upTo, err)
			}
			if err := Cut(dir, out, upTo); !errors.Is(err, fs.ErrExist) {
				t.Errorf("cut into an existing directory: %v", err)
			}
			f := mustOpen(t, out, Options{})
			mustAppend(t, f, "next")
			first := uint64(1)
			if snapshot {
				first = 4
			}
			var want []string
			for n := first; n <= upTo; n++ {
				want = append(want, fmt.Sprintf("%d:%d", n, n))
			}
			if got, err := list(f, first); err != nil || !slices.Equal(got, append(want, fmt.Sprintf("%d:next", upTo+1))) {
				t.Errorf("cut at %d: %q, %v", upTo, got, err)
			}
			if n := len(must(os.ReadDir(filepath.Dir(out)))); n != 1 {
				t.Errorf("cut at %d: %d other names beside the copy", upTo, n-1)
			}
		}
		if !maps.Equal(before, filesIn(t, dir)) {
			t.Error("the journal has changed")
		}
	}
}

func second[T any](_ T, err error) error { return err }
