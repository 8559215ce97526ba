// SPDX-License-Identifier: Apache-2.0

package atomicfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// disk is what this package needs of a file system.
type disk interface {
	createTemp(dir, pattern string) (file, error)
	rename(from, to string) error
	remove(path string) error
	syncDir(dir string) error
	mkdir(dir string, mode fs.FileMode) error
	isDir(dir string) bool
}

type file interface {
	io.WriteCloser
	Name() string
	Chmod(mode fs.FileMode) error
	Sync() error
}

// Replace replaces a file, or creates it. After an error the old file is still
// there, unless only the last step failed, the sync of the directory.
func Replace(path string, content []byte, mode fs.FileMode) error {
	return replace(system{}, path, content, mode)
}

// Update replaces a file, or creates it, unless it has this content already, and
// reports whether it did. A directory that is missing is created.
func Update(path string, content []byte, mode fs.FileMode) (changed bool, err error) {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, content) {
		return false, nil
	}
	if err := MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return false, err
	}
	err = Replace(path, content, mode)
	return err == nil, err
}

func replace(d disk, path string, content []byte, mode fs.FileMode) error {
	dir := filepath.Dir(path)
	f, err := d.createTemp(dir, "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = errors.Join(f.Chmod(mode), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = d.rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, d.remove(f.Name()))
	}
	return d.syncDir(dir)
}

// SyncDir makes the names of the files of a directory last through a power loss.
func SyncDir(dir string) error { return system{}.syncDir(dir) }

// Rename renames a file within its directory.
func Rename(from, to string) error { return rename(system{}, from, to) }

func rename(d disk, from, to string) error {
	if err := d.rename(from, to); err != nil {
		return err
	}
	return d.syncDir(filepath.Dir(to))
}

// MkdirAll creates a directory and those above it that are missing.
func MkdirAll(dir string, mode fs.FileMode) error {
	return mkdirAll(system{}, filepath.Clean(dir), mode)
}

func mkdirAll(d disk, dir string, mode fs.FileMode) error {
	if d.isDir(dir) {
		return nil
	}
	above := filepath.Dir(dir)
	if above != dir {
		if err := mkdirAll(d, above, mode); err != nil {
			return err
		}
	}
	if err := d.mkdir(dir, mode); err != nil {
		if d.isDir(dir) { // another process was faster
			return nil
		}
		return err
	}
	return d.syncDir(above)
}

// system is the file system of the operating system.
type system struct{}

func (system) createTemp(dir, pattern string) (file, error) { return os.CreateTemp(dir, pattern) }
func (system) rename(from, to string) error                 { return os.Rename(from, to) }
func (system) remove(path string) error                     { return os.Remove(path) }
func (system) mkdir(dir string, mode fs.FileMode) error     { return os.Mkdir(dir, mode) }

func (system) isDir(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}
