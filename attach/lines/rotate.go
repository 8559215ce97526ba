// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// look finds out whether the file was rotated, and goes on in the next one if so.
func (t *tail) look(ctx context.Context) error {
	open, err := t.f.Stat()
	if err != nil {
		return fmt.Errorf("following %s: %w", t.Path, err)
	}
	if !t.pos.matches(t.f, max(open.Size(), 0)) || open.Size() < t.read {
		return t.truncated(ctx)
	}
	at, err := os.Stat(t.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist): // renamed, and the next one is not there yet
		return nil
	case err != nil:
		return fmt.Errorf("following: %w", err)
	case os.SameFile(open, at):
		return nil
	}
	// Who writes may do so to the old file till it has opened the new one.
	if err := t.wait(ctx); err != nil {
		return err
	}
	if err := t.drain(ctx); err != nil {
		return err
	}
	t.note(func(c *Counters) { c.Rotated++ })
	return t.next(ctx, open)
}

// next goes on behind a file that was renamed.
func (t *tail) next(ctx context.Context, before fs.FileInfo) error {
	return t.goOn(ctx, t.carried(), func(fi fs.FileInfo) bool {
		return fi.ModTime().After(before.ModTime()) && !os.SameFile(fi, before)
	})
}

// goOn goes on in the oldest of the rotated files that were begun since, for there may have
// been more than one rotation, or else in the file at the path.
func (t *tail) goOn(ctx context.Context, carry []byte, since func(fi fs.FileInfo) bool) error {
	for _, path := range t.siblings() {
		if !numbered(strings.TrimPrefix(path, t.Path)) {
			continue // another log, for all we know
		}
		f, fi, err := openWith(path)
		if err != nil {
			continue // renamed again
		}
		if since(fi) {
			return t.start(f, 0, carry)
		}
		_ = f.Close() // it was only looked at
	}
	f, err := t.open(ctx)
	if err != nil {
		return err
	}
	return t.start(f, 0, carry)
}

// carried is the beginning of a line that the open file ends with, together with what was carried to it.
func (t *tail) carried() []byte {
	if t.cut.passing {
		return nil
	}
	return append(append([]byte(nil), t.pos.carry...), t.cut.rest()...)
}

// truncated goes on at the beginning of a file that was truncated, after what a copy
// of it still has.
func (t *tail) truncated(ctx context.Context) error {
	open, err := t.f.Stat()
	if err != nil {
		return fmt.Errorf("following %s: %w", t.Path, err)
	}
	carry := t.carried()
	if f := t.sibling(open); f != nil {
		t.note(func(c *Counters) { c.Rotated++ })
		if err := t.start(f, t.pos.offset, t.pos.carry); err != nil {
			return err
		}
		if err := t.drain(ctx); err != nil {
			return err
		}
		carry = t.carried()
	} else {
		t.note(func(c *Counters) { c.Rotated++; c.Dropped[Gone]++ })
	}
	f, err := t.open(ctx)
	if err != nil {
		return err
	}
	return t.start(f, 0, carry)
}

// siblings are the paths beside the followed one that begin as it does,
// in the order in which they were last written. Packed ones are not among them.
func (t *tail) siblings() []string {
	entries, err := os.ReadDir(filepath.Dir(t.Path))
	if err != nil {
		return nil
	}
	type file struct {
		path    string
		written int64
	}
	var all []file
	base := filepath.Base(t.Path)
	for _, e := range entries {
		if e.Name() == base || !strings.HasPrefix(e.Name(), base) || packed(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		if fi, err := e.Info(); err == nil {
			all = append(all, file{filepath.Join(filepath.Dir(t.Path), e.Name()), fi.ModTime().UnixNano()})
		}
	}
	slices.SortFunc(all, func(a, b file) int { return cmp.Compare(a.written, b.written) })
	var out []string
	for _, f := range all {
		out = append(out, f.path)
	}
	return out
}

// numbered reports whether what follows a file's name is a number or a date.
func numbered(suffix string) bool {
	return strings.ContainsAny(suffix, "0123456789") && strings.Trim(suffix, ".-_0123456789:TZ") == ""
}

func packed(name string) bool {
	switch filepath.Ext(name) {
	case ".gz", ".bz2", ".xz", ".zst", ".Z":
		return true
	}
	return false
}

// sibling opens the file beside the followed one that has what the position is of: by its
// inode, or by its first bytes. nil is none; but is not it.
func (t *tail) sibling(but fs.FileInfo) *os.File {
	if t.pos.head == 0 {
		return nil
	}
	var found *os.File
	for _, path := range t.siblings() {
		f, fi, err := openWith(path)
		if err != nil {
			continue
		}
		same := t.pos.matches(f, fi.Size()) && (but == nil || !os.SameFile(but, fi))
		if !same || found != nil && inode(fi) != t.pos.inode {
			_ = f.Close() // it was only looked at
			continue
		}
		if found != nil {
			_ = found.Close() // another is the one
		}
		found = f
	}
	return found
}
