// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// Follow configures the following of a file.
type Follow struct {
	Path string
	End  bool          // start at the end of a file that is not in the state
	Poll time.Duration // between two checks of the file
}

// tail follows one file. f may have been renamed since it was opened.
type tail struct {
	Follow
	a    *Attachment
	feed *Feed
	f    *os.File
	pos  *position // guarded by the Attachment's lock
	read int64     // offset of the next read
	cut  cutter
	buf  []byte
}

// Follow reads the lines of a file as it grows, until ctx ends. The file may be
// rotated by renaming, or by copying and truncating, and need not exist at the
// start. A named pipe is read as it is written.
func (a *Attachment) Follow(ctx context.Context, what Follow) error {
	if fi, err := os.Stat(what.Path); err == nil && fi.Mode()&fs.ModeNamedPipe != 0 {
		return a.pipe(ctx, what.Path)
	}
	t := &tail{Follow: what, a: a, feed: a.Feed(), buf: make([]byte, chunkSize)}
	defer t.close()
	if err := t.begin(ctx); err != nil {
		return err
	}
	for {
		if err := t.drain(ctx); err != nil {
			return err
		}
		if err := t.wait(ctx); err != nil {
			return err
		}
		if err := t.look(ctx); err != nil {
			return err
		}
	}
}

// pipe reads a named pipe, which has no end: writers may disconnect and reconnect.
func (a *Attachment) pipe(ctx context.Context, path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("opening the pipe: %w", err)
	}
	defer context.AfterFunc(ctx, func() { _ = f.Close() })() // ends the read
	err = a.Stream(ctx, f)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.Join(err, f.Close())
}

func (t *tail) close() {
	if t.f != nil {
		_ = t.f.Close() // only opened for reading
	}
}

func (t *tail) wait(ctx context.Context) error { return sleep(ctx, t.Poll) }

// begin opens the file of the last position, or the present one.
func (t *tail) begin(ctx context.Context) error {
	t.a.mu.Lock()
	before := t.a.positions[t.Path]
	t.pos = &position{}
	if before != nil {
		*t.pos = *before
	}
	t.a.positions[t.Path] = t.pos
	t.a.mu.Unlock()
	if before != nil {
		return t.resume(ctx)
	}
	_, missing := os.Stat(t.Path)
	f, err := t.open(ctx)
	if err != nil {
		return err
	}
	if !t.End || missing != nil { // a file that is created later is read from its beginning
		return t.start(f, 0, nil)
	}
	fi, err := f.Stat()
	if err != nil {
		return errors.Join(fmt.Errorf("following %s: %w", t.Path, err), f.Close())
	}
	at, err := lineStart(f, fi.Size())
	if err != nil {
		return errors.Join(fmt.Errorf("following %s: %w", t.Path, err), f.Close())
	}
	return t.start(f, at, nil)
}

// lineStart returns where the line that contains offset size begins.
func lineStart(f io.ReaderAt, size int64) (int64, error) {
	b := make([]byte, min(size, chunkSize))
	if _, err := f.ReadAt(b, size-int64(len(b))); err != nil {
		return 0, err
	}
	return size - int64(len(b)) + int64(bytes.LastIndexByte(b, '\n')) + 1, nil
}

// open opens the file at the path, and waits until it exists.
func (t *tail) open(ctx context.Context) (*os.File, error) {
	for looks := 0; ; looks++ {
		f, err := os.Open(t.Path)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("following: %w", err)
		}
		if looks == 0 {
			t.a.cfg.Log.Warn("the file to follow does not exist; waiting for it", "file", t.Path)
		}
		if err := t.wait(ctx); err != nil {
			return nil, err
		}
	}
}

// resume continues at the position of the state: in the file at the path, in
// one that it was renamed or copied to, or, if that is gone, at the beginning
// of the next one.
func (t *tail) resume(ctx context.Context) error {
	if f, fi, err := openWith(t.Path); err == nil {
		if t.pos.matches(f, fi.Size()) && (t.pos.head > 0 || inode(fi) == t.pos.inode || t.pos.offset == 0) {
			return t.start(f, t.pos.offset, t.pos.carry)
		}
		_ = f.Close() // only opened for reading
	}
	if f := t.sibling(nil); f != nil {
		t.note(func(c *Counters) { c.Rotated++ })
		return t.start(f, t.pos.offset, t.pos.carry)
	}
	t.note(func(c *Counters) {
		c.Rotated++
		c.Dropped[Gone]++
		if len(t.pos.carry) > 0 {
			c.Dropped[Cut]++
		}
	})
	// A file that was written after the state was saved comes after the lost one.
	return t.resumeSince(ctx, nil, func(fi fs.FileInfo) bool { return !fi.ModTime().Before(t.a.stateOf) })
}

func openWith(path string) (*os.File, fs.FileInfo, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	fi, err := f.Stat()
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, fi, nil
}

// start continues in a file at an offset, with the unfinished line of another file.
func (t *tail) start(f *os.File, at int64, carry []byte) error {
	t.close()
	t.f = f
	fi, err := f.Stat()
	if err != nil {
		return fmt.Errorf("following %s: %w", t.Path, err)
	}
	t.read, t.cut = at, cutter{}
	t.a.mu.Lock()
	defer t.a.mu.Unlock()
	t.pos.inode, t.pos.offset, t.pos.carry = inode(fi), at, carry
	if at == 0 {
		t.pos.head, t.pos.sum = 0, 0
	}
	if err := t.pos.note(f); err != nil {
		return fmt.Errorf("following %s: %w", t.Path, err)
	}
	return nil
}

// drain reads to the present end of the open file.
func (t *tail) drain(ctx context.Context) error {
	for ctx.Err() == nil {
		n, err := t.f.ReadAt(t.buf, t.read)
		if n == 0 {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("following %s: %w", t.Path, err)
		}
		t.read += int64(n)
		whole := t.joined(t.cut.add(t.buf[:n]))
		t.feed.count.Dropped[TooLong] += t.cut.takeLong()
		if len(whole) == 0 && !t.cut.passing {
			continue
		}
		if err := t.feed.Take(ctx, whole, t.taken); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// taken advances the position over the applied lines. The caller holds the
// Attachment's lock.
func (t *tail) taken(left int) {
	t.pos.offset, t.pos.carry = t.read-int64(len(t.cut.part)+left), nil
	_ = t.pos.note(t.f) // the next call repeats it; until then fewer bytes identify the file
}

// joined adds a line that a rotation cut off before the first line of the new
// file, if the two parse as one line. Otherwise it counts the beginning as cut.
func (t *tail) joined(whole []byte) []byte {
	carry := t.pos.carry
	if len(carry) == 0 || len(whole) == 0 {
		return whole
	}
	first, _, _ := bytes.Cut(whole, []byte("\n"))
	var f fields
	if t.feed.form.read(first, &f) != Taken {
		line := append(append([]byte(nil), carry...), first...)
		if t.feed.form.read(line, &f) == Taken {
			return append(append([]byte(nil), carry...), whole...)
		}
	}
	t.feed.count.Dropped[Cut]++
	return whole
}

func (t *tail) note(count func(c *Counters)) {
	t.a.mu.Lock()
	count(&t.a.counters)
	t.a.mu.Unlock()
}
