// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/pnagent/pnagent/internal/atomicfile"
)

// directory is the interface to one directory of a file system, with the
// durability that POSIX gives: a name is durable after the directory is synced,
// content after the file is synced.
type directory interface {
	lock() error                      // for this File alone, until Close
	names() ([]string, error)         // in any order
	create(name string) (file, error) // empties an existing file
	open(name string) (file, error)   // for reading
	edit(name string) (file, error)   // for reading and writing
	rename(from, to string) error
	remove(name string) error
	sync() error
	io.Closer // releases the lock
}

// file is one open file.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync() error
	size() (int64, error)
}

const (
	dirMode  = 0o750
	fileMode = 0o640
)

// disk is a directory of the operating system.
type disk struct {
	path string
	held []*os.File // the locks
}

// openDisk opens the directory, and creates it if it is missing.
func openDisk(path string) (*disk, error) {
	if err := atomicfile.MkdirAll(path, dirMode); err != nil {
		return nil, err
	}
	return &disk{path: path}, nil
}

// lock locks the directory itself, so that a second process is refused even if
// files in the directory were removed. It also locks the file "lock": older
// versions use that file, and some file systems, such as NFS, cannot lock
// directories.
func (d *disk) lock() error {
	dir, err := os.Open(d.path)
	if err != nil {
		return err
	}
	d.held = append(d.held, dir)
	if err := tryLock(dir); err != nil && !noDirectories(err) {
		return errors.Join(err, d.Close())
	}
	f, err := os.OpenFile(filepath.Join(d.path, lockName), os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return errors.Join(err, d.Close())
	}
	d.held = append(d.held, f)
	if err := tryLock(f); err != nil {
		return errors.Join(err, d.Close())
	}
	return nil
}

func (d *disk) names() ([]string, error) {
	f, err := os.Open(d.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

func (d *disk) openFile(name string, flag int) (file, error) {
	f, err := os.OpenFile(filepath.Join(d.path, name), flag, fileMode)
	if err != nil {
		return nil, err
	}
	return diskFile{f}, nil
}

func (d *disk) create(name string) (file, error) {
	return d.openFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
}
func (d *disk) open(name string) (file, error) { return d.openFile(name, os.O_RDONLY) }
func (d *disk) edit(name string) (file, error) { return d.openFile(name, os.O_RDWR) }
func (d *disk) rename(from, to string) error {
	return os.Rename(filepath.Join(d.path, from), filepath.Join(d.path, to))
}
func (d *disk) remove(name string) error { return os.Remove(filepath.Join(d.path, name)) }
func (d *disk) sync() error              { return syncDir(d.path) }

func (d *disk) Close() error {
	var errs []error
	for _, f := range d.held {
		errs = append(errs, f.Close())
	}
	d.held = nil
	return errors.Join(errs...)
}

// makeDir creates a directory, which must not exist, and fills it. The
// directory gets its name only after fill has succeeded.
func makeDir(path string, fill func(*disk) error) (err error) {
	path = filepath.Clean(path)
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		if err != nil {
			return err
		}
		return fmt.Errorf("%s exists; expected a new name: %w", path, os.ErrExist)
	}
	if err := atomicfile.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return err
	}
	unfinished, err := os.MkdirTemp(filepath.Dir(path), filepath.Base(path)+".*"+newSuffix)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(unfinished))
		}
	}()
	if err := os.Chmod(unfinished, dirMode); err != nil {
		return err
	}
	to := &disk{path: unfinished}
	if err := fill(to); err != nil {
		return err
	}
	if err := to.sync(); err != nil {
		return err
	}
	if err := os.Rename(unfinished, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes the names in a directory durable.
func syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	return nil
}

type diskFile struct{ *os.File }

func (f diskFile) size() (int64, error) {
	s, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return s.Size(), nil
}
