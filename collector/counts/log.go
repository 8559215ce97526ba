// SPDX-License-Identifier: Apache-2.0

package counts

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/klauspost/compress/flate"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/atomicfile"
	"github.com/pnagent/pnagent/internal/framed"
)

// files is what a log needs of the file system.
type files interface {
	replace(path string, content []byte) error // atomically, synced
	appendTo(path string) (file, error)
	truncate(path string) error // to no byte
	remove(path string) error   // the file may be missing
}

// file is open for appending.
type file interface {
	Write(p []byte) (int, error)
	Sync() error
	Close() error
}

// log is the file of a directory: the first frame replaces it atomically, the others are appended.
// Each is one write and one sync, so that a crash can tear the last one only.
type log struct {
	files files
	path  string
	open  file // nil if the next frame has to be a first one
	size  int64
	begun int64 // room for the next first frame: that of the last one, and an eighth

	writer framed.Writer
	frame  []byte
}

// errNotFirst is the error of a frame that has no log.
var errNotFirst = errors.New("the log was not begun")

// add writes a frame. If that fails, the file is truncated.
func (l *log) add(head Header, f merge.Frame) (err error) {
	switch {
	case f.First:
		err = l.begin(head, f.Records)
	case l.open == nil:
		return errNotFirst
	default:
		err = l.append(f.Records)
	}
	if err == nil {
		return nil
	}
	l.close()
	if emptied := l.files.truncate(l.path); !errors.Is(emptied, fs.ErrNotExist) {
		err = errors.Join(err, emptied)
	}
	return err
}

// begin replaces the file.
func (l *log) begin(head Header, records []byte) error {
	l.close()
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	var b []byte
	b, l.writer = content.Header(nil, rand.Uint64())
	b = l.writer.Frame(b, headerFrame, text)
	b, err = l.pack(slices.Grow(b, int(l.begun)), records)
	if err != nil {
		return err
	}
	err = l.files.replace(l.path, b)
	if err == nil {
		err = l.files.remove(filepath.Join(filepath.Dir(l.path), shownFile))
	}
	if err == nil {
		l.open, err = l.files.appendTo(l.path)
	}
	l.size = int64(len(b))
	l.begun = l.size + l.size/8
	return err
}

// append appends a frame.
func (l *log) append(records []byte) error {
	frame, err := l.pack(l.frame[:0], records)
	if err != nil {
		return err
	}
	l.frame = frame
	_, err = l.open.Write(l.frame)
	if err != nil {
		return err
	}
	l.size += int64(len(l.frame))
	return l.open.Sync()
}

// pack appends a frame of records.
func (l *log) pack(b, records []byte) ([]byte, error) {
	from := len(b)
	packed := bytes.NewBuffer(l.writer.Begin(b))
	w := packers.Get().(*flate.Writer)
	defer packers.Put(w)
	w.Reset(packed)
	_, err := w.Write(records)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, err
	}
	l.writer.Finish(packed.Bytes(), from, recordFrame)
	return packed.Bytes(), nil
}

// packers has writers, each of which takes most of a megabyte: at rest there is none.
var packers = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(nil, flate.BestSpeed) // fails only for an invalid level
	return w
}}

// close closes the file. All of it is synced.
func (l *log) close() {
	if l.open != nil {
		_ = l.open.Close()
	}
	l.open = nil
}

// system is the file system of the operating system.
type system struct{}

func (system) replace(path string, content []byte) error {
	return atomicfile.Replace(path, content, 0o600)
}

func (system) appendTo(path string) (file, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o600)
}

func (system) truncate(path string) error { return os.Truncate(path, 0) }

func (system) remove(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
