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

// Follow says how to follow a file.
type Follow struct {
	Path string
	End  bool          // begin at the end of a file of which the state knows nothing
	Poll time.Duration // between two looks at it
}

// tail follows one file. What it reads is of f, which may have been renamed since.
type tail struct {
	Follow
	a    *Attachment
	feed *Feed
	f    *os.File
	pos  *position // under the Attachment's lock
	read int64     // offset of what is read next
	cut  cutter
	buf  []byte
}

// Follow takes the lines of a file as it grows, also when it is renamed and begun anew,
// or copied and truncated, until ctx ends. The file may come later. A named pipe is read as it is written.
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

// pipe reads a named pipe, which has no end: writers come and go.
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
		_ = t.f.Close() // it was only read
	}
}

func (t *tail) wait(ctx context.Context) error {
	timer := time.NewTimer(t.Poll)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin opens the file that was read before, or the one that is there.
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
	if !t.End || missing != nil { // one that comes later is new from its beginning
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

// lineStart returns where the line begins that goes on at size: behind the last line end.
func lineStart(f io.ReaderAt, size int64) (int64, error) {
	b := make([]byte, min(size, chunkSize))
	if _, err := f.ReadAt(b, size-int64(len(b))); err != nil {
		return 0, err
	}
	return size - int64(len(b)) + int64(bytes.LastIndexByte(b, '\n')) + 1, nil
}

// open opens the file at the path, and waits till there is one.
func (t *tail) open(ctx context.Context) (*os.File, error) {
	for {
		f, err := os.Open(t.Path)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("following: %w", err)
		}
		if err := t.wait(ctx); err != nil {
			return nil, err
		}
	}
}

// resume goes on where the state says: in the file at the path, in one that it was
// renamed or copied to, or, where that is gone, at the beginning of what came after it.
func (t *tail) resume(ctx context.Context) error {
	if f, fi, err := openWith(t.Path); err == nil {
		if t.pos.matches(f, fi.Size()) && (t.pos.head > 0 || inode(fi) == t.pos.inode || t.pos.offset == 0) {
			return t.start(f, t.pos.offset, t.pos.carry)
		}
		_ = f.Close() // it was only looked at
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
	// Files that were written since the state was were begun after the one that is gone.
	return t.goOn(ctx, nil, func(fi fs.FileInfo) bool { return !fi.ModTime().Before(t.a.stateOf) })
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

// start goes on in a file at an offset, with the beginning of a line that another file ended with.
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

// drain takes all that is in the open file now.
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

// taken moves the position behind what was taken; under the Attachment's lock.
func (t *tail) taken(left int) {
	t.pos.offset, t.pos.carry = t.read-int64(len(t.cut.part)+left), nil
	_ = t.pos.note(t.f) // the next one notes it, or the file is read from where head was
}

// joined puts the beginning of a line that was cut by a rotation before the first line of the
// new file, if that makes a line of the two. If not, the beginning is counted as cut.
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
