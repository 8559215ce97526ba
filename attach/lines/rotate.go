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

// look checks whether the file was rotated, and then continues in the next
// file.
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
	case errors.Is(err, fs.ErrNotExist): // renamed, and the next file does not exist yet
		return nil
	case err != nil:
		return fmt.Errorf("following: %w", err)
	case os.SameFile(open, at):
		return nil
	}
	// The writer may write to the old file until it has opened the new one.
	if err := t.wait(ctx); err != nil {
		return err
	}
	if err := t.drain(ctx); err != nil {
		return err
	}
	t.note(func(c *Counters) { c.Rotated++ })
	return t.next(ctx, open)
}

// next continues after a file that was renamed.
func (t *tail) next(ctx context.Context, before fs.FileInfo) error {
	return t.resumeSince(ctx, t.carried(), func(fi fs.FileInfo) bool {
		return fi.ModTime().After(before.ModTime()) && !os.SameFile(fi, before)
	})
}

// resumeSince continues in the oldest rotated file for which since is true,
// because there may have been several rotations; without one, in the file at
// the path.
func (t *tail) resumeSince(ctx context.Context, carry []byte, since func(fi fs.FileInfo) bool) error {
	for _, path := range t.siblings() {
		if !numbered(strings.TrimPrefix(path, t.Path)) {
			continue // possibly another log
		}
		f, fi, err := openWith(path)
		if err != nil {
			continue // renamed again
		}
		if since(fi) {
			return t.start(f, 0, carry)
		}
		_ = f.Close() // only opened for reading
	}
	return t.fromStart(ctx, carry)
}

// fromStart continues at the beginning of the file at the path.
func (t *tail) fromStart(ctx context.Context, carry []byte) error {
	f, err := t.open(ctx)
	if err != nil {
		return err
	}
	return t.start(f, 0, carry)
}

// carried returns the unfinished line at the end of the open file, after the
// part carried over to it.
func (t *tail) carried() []byte {
	if t.cut.passing {
		return nil
	}
	return append(append([]byte(nil), t.pos.carry...), t.cut.rest()...)
}

// truncated continues at the beginning of a truncated file, after it has read
// the rest of a copy of it.
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
	return t.fromStart(ctx, carry)
}

// siblings returns the paths that begin with the followed path, in the order of
// their last writes, without compressed files.
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

// numbered reports whether the suffix of a file's name is a number or a date.
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

// sibling opens the file beside the followed one to which the position belongs,
// by inode or first bytes. It ignores the file but, and returns nil if there is
// none.
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
			_ = f.Close() // only opened for reading
			continue
		}
		if found != nil {
			_ = found.Close() // the other file has the inode
		}
		found = f
	}
	return found
}
