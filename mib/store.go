// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pnagent/pnagent/internal/atomicfile"
	"github.com/pnagent/pnagent/internal/dirlock"
)

// LockFile is the name of a lock in a directory of modules.
const LockFile = "oids.lock"

// ReadLock reads a lock. A missing file is an empty lock.
func ReadLock(path string) (*Lock, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return NewLock(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the OID lock: %w", err)
	}
	defer f.Close()
	return ParseLock(f, path)
}

// UpdateLock reads a lock, calls change to extend it, and writes it if it differs, which it
// reports. It excludes other UpdateLocks of the same directory, also in other processes, and
// replaces the file atomically. If change fails, it writes nothing.
func UpdateLock(path string, change func(*Lock) error) (changed bool, err error) {
	dir := filepath.Dir(path)
	if err := atomicfile.MkdirAll(dir, 0o755); err != nil {
		return false, fmt.Errorf("update the OID lock: %w", err)
	}
	release, err := dirlock.Hold(dir)
	if err != nil {
		return false, fmt.Errorf("update the OID lock: %w", err)
	}
	defer release()
	lock, err := ReadLock(path)
	if err != nil {
		return false, err
	}
	if err := change(lock); err != nil {
		return false, err
	}
	if changed, err = atomicfile.Update(path, lock.Text(), 0o644); err != nil {
		return false, fmt.Errorf("write the OID lock: %w", err)
	}
	return changed, nil
}

// addNames adds the names of o that l does not have. It returns an error if the two give one
// number to different names. A name whose descriptor or prefix is taken in l gets another one,
// as the module with it was never written.
func (l *Lock) addNames(o *Lock) error {
	var text bytes.Buffer
	text.Write(l.Text())
	for _, n := range o.Nets() {
		if err := l.absorbNet(n, &text); err != nil {
			return err
		}
	}
	sum, err := ParseLock(&text, "the lock in the file with the numbers in use")
	if err != nil {
		return err
	}
	*l = *sum
	return nil
}

// absorbNet appends the lines of n that l does not have.
func (l *Lock) absorbNet(n *LockedNet, text *bytes.Buffer) error {
	mine := l.nets[n.ID]
	if mine == nil {
		return l.absorbNew(n, text)
	}
	if mine.Number != n.Number {
		return fmt.Errorf("%w: net %q is number %d in the file, but %d is in use", ErrLock, n.ID, mine.Number, n.Number)
	}
	for _, k := range []struct {
		kind      string
		mine, all kindLock
	}{{"place", mine.places, n.places}, {"transition", mine.transitions, n.transitions}} {
		var missing []*Locked
		for _, e := range k.all.sorted() {
			known := k.mine.byID[e.ID]
			if known == nil {
				fresh := *e
				if _, clash := mine.names.clash(e.Descriptor); clash {
					fresh.Descriptor = mine.names.pick(stem{words: []string{e.Descriptor}}, k.kind)
				} else {
					mine.names.take(e.Descriptor, 0)
				}
				missing = append(missing, &fresh)
			} else if known.Number != e.Number {
				return fmt.Errorf("%w: %s %q of net %q is number %d in the file, but %d is in use",
					ErrLock, k.kind, e.ID, n.ID, known.Number, e.Number)
			}
		}
		writeLocked(text, k.kind, n.Number, missing)
	}
	return nil
}

// absorbNew appends all lines of a net that l does not have.
func (l *Lock) absorbNew(n *LockedNet, text *bytes.Buffer) error {
	fresh := *n
	if _, _, clash := l.prefixes.clash(n.Prefix); n.Prefix != "" && clash {
		var err error
		if fresh.Prefix, err = l.prefixes.pick(n.Number, n.ID); err != nil {
			return err
		}
	} else if n.Prefix != "" {
		l.prefixes.take(n.Prefix, 0)
	}
	writeNet(text, &fresh)
	return nil
}
