// SPDX-License-Identifier: Apache-2.0

package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory is a disk that forgets at a power loss what was not synced, and whose
// operations fail from the number failAt on, if that is not 0.
type memory struct {
	now, lasting map[string]string // files by path; the content of a lasting one is that of its last sync
	dirs         map[string]bool   // whether the directory's own entry lasts
	synced       map[string]string // content by path, as of the file's own last sync
	ops, failAt  int
}

var errDisk = errors.New("the disk failed")

func newMemory() *memory {
	return &memory{now: map[string]string{}, lasting: map[string]string{}, synced: map[string]string{}, dirs: map[string]bool{"d": true, ".": true}}
}

func (m *memory) op() error {
	if m.ops++; m.failAt != 0 && m.ops >= m.failAt {
		return errDisk
	}
	return nil
}

// powerLoss leaves what lasts.
func (m *memory) powerLoss() {
	m.now = map[string]string{}
	for path, content := range m.lasting {
		if m.dirs[filepath.Dir(path)] {
			m.now[path] = content
		}
	}
}

func (m *memory) createTemp(dir, pattern string) (file, error) {
	if err := m.op(); err != nil {
		return nil, err
	}
	f := &memoryFile{m, filepath.Join(dir, strings.ReplaceAll(pattern, "*", "1"))}
	m.now[f.path] = ""
	return f, nil
}

func (m *memory) rename(from, to string) error {
	if err := m.op(); err != nil {
		return err
	}
	m.now[to], m.synced[to] = m.now[from], m.synced[from]
	delete(m.now, from)
	return nil
}

func (m *memory) remove(path string) error {
	delete(m.now, path)
	return nil
}

func (m *memory) syncDir(dir string) error {
	if err := m.op(); err != nil {
		return err
	}
	for path := range m.lasting {
		if _, is := m.now[path]; !is && filepath.Dir(path) == dir {
			delete(m.lasting, path)
		}
	}
	for path := range m.now {
		if filepath.Dir(path) == dir {
			m.lasting[path] = m.synced[path]
		}
	}
	for sub := range m.dirs {
		if filepath.Dir(sub) == dir {
			m.dirs[sub] = true
		}
	}
	return nil
}

func (m *memory) mkdir(dir string, _ fs.FileMode) error {
	if err := m.op(); err != nil {
		return err
	}
	m.dirs[dir] = false
	return nil
}

func (m *memory) isDir(dir string) bool {
	_, is := m.dirs[dir]
	return is
}

type memoryFile struct {
	disk *memory
	path string
}

func (f *memoryFile) Name() string            { return f.path }
func (f *memoryFile) Chmod(fs.FileMode) error { return f.disk.op() }
func (f *memoryFile) Close() error            { return f.disk.op() }

func (f *memoryFile) Write(p []byte) (int, error) {
	if err := f.disk.op(); err != nil {
		f.disk.now[f.path] += string(p[:len(p)/2])
		return len(p) / 2, err
	}
	f.disk.now[f.path] += string(p)
	return len(p), nil
}

func (f *memoryFile) Sync() error {
	err := f.disk.op()
	if err == nil {
		f.disk.synced[f.path] = f.disk.now[f.path]
	}
	return err
}

// Whatever step fails, and at whatever step the power does, there is the old
// content or the new one; and the new one lasts once that was reported.
//
//promise:durable power disk
func TestPowerLossAtAnyStepLeavesOneOfBothContents(t *testing.T) {
	steps := 0
	for failAt := 0; failAt <= steps; failAt++ {
		m := newMemory()
		if err := replace(m, "d/f", []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		m.ops, m.failAt = 0, failAt
		err := replace(m, "d/f", []byte("newer"), 0o600)
		if failAt == 0 {
			steps = m.ops
		}
		if (err == nil) != (failAt == 0) || (err != nil && !errors.Is(err, errDisk)) {
			t.Errorf("step %d fails: %v", failAt, err)
		}
		for when, loss := range map[string]bool{"then": false, "after a power loss": true} {
			if loss {
				m.powerLoss()
			}
			got := m.now["d/f"]
			if got != "newer" && (failAt == 0 || got != "old") {
				t.Errorf("step %d fails, %s: %q", failAt, when, got)
			}
			if failAt != 0 && !loss && len(m.now) != 1 {
				t.Errorf("step %d fails: left behind: %v", failAt, m.now)
			}
		}
	}
	if steps < 6 {
		t.Errorf("%d steps", steps)
	}
}

func TestRenamedFileLasts(t *testing.T) {
	m := newMemory()
	if err := errors.Join(replace(m, "d/f", []byte("x"), 0o600), rename(m, "d/f", "d/g")); err != nil {
		t.Fatal(err)
	}
	m.powerLoss()
	if want := map[string]string{"d/g": "x"}; !maps.Equal(m.now, want) {
		t.Errorf("%v, want %v", m.now, want)
	}
	m.failAt = m.ops + 1
	if err := rename(m, "d/g", "d/h"); !errors.Is(err, errDisk) || m.now["d/g"] != "x" {
		t.Errorf("%v, %v", err, m.now)
	}
}

func TestFileInNewDirectoryLasts(t *testing.T) {
	m := newMemory()
	if err := mkdirAll(m, "d/a/b", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := replace(m, "d/a/b/f", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.powerLoss()
	if m.now["d/a/b/f"] != "x" || !m.dirs["d/a"] || !m.dirs["d/a/b"] {
		t.Errorf("%v in %v", m.now, m.dirs)
	}
	ops := m.ops
	if err := mkdirAll(m, "d/a/b", 0o755); err != nil || m.ops != ops {
		t.Errorf("a directory that is there: %v after %d operations", err, m.ops-ops)
	}
	for failAt := 1; failAt <= 4; failAt++ {
		m := newMemory()
		m.failAt = failAt
		if !errors.Is(mkdirAll(m, "d/a/b", 0o755), errDisk) {
			t.Errorf("the failure of step %d is not reported", failAt)
		}
	}
}

func TestReplaceOnTheRealDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "directory")
	if err := MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "f")
	for _, content := range []string{"one", "two two", ""} {
		if err := Replace(path, []byte(content), 0o640); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		info, _ := os.Stat(path)
		if err != nil || string(got) != content || info.Mode().Perm() != 0o640 {
			t.Errorf("%q with mode %v, %v; want %q", got, info.Mode(), err, content)
		}
	}
	if err := Rename(path, path+".aside"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := Replace(path, []byte("x"), 0o640); err == nil {
		t.Error("a directory was replaced")
	}
	if err := MkdirAll(path+".aside", 0o750); err == nil {
		t.Error("a file was taken for a directory")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
	if err := Replace(filepath.Join(dir, "none", "f"), nil, 0o640); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestSaverWaitsForAHangingDiskOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Saver
		began := time.Now()
		after := func(want time.Duration, what string) {
			t.Helper()
			if got := time.Since(began); got != want {
				t.Errorf("%s: after %v, want %v", what, got, want)
			}
		}
		if err := s.Save(func() error { return errDisk }); !errors.Is(err, errDisk) {
			t.Errorf("%v", err)
		}
		answer := make(chan error)
		var writes atomic.Int64
		hang := func() error { writes.Add(1); return <-answer }
		for range 3 {
			if err := s.Save(hang); !errors.Is(err, ErrSlow) {
				t.Errorf("%v", err)
			}
			after(Patience, "a disk that hangs")
		}
		if writes.Load() != 1 {
			t.Errorf("%d writes at once", writes.Load())
		}
		answer <- nil
		synctest.Wait()
		if err := s.Save(func() error { writes.Add(1); return nil }); err != nil || writes.Load() != 2 {
			t.Errorf("%v after %d writes", err, writes.Load())
		}
		after(Patience, "a disk that answers again")
		if err := s.Save(func() error { time.Sleep(Patience - 1); return fmt.Errorf("late: %w", errDisk) }); !errors.Is(err, errDisk) {
			t.Errorf("just in time: %v", err)
		}
	})
}
