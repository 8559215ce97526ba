// SPDX-License-Identifier: Apache-2.0

package act

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/pnagent/pnagent/internal/atomicfile"
	"github.com/pnagent/pnagent/telemetry"
)

// Log is an audit log: a file with a line of JSON for each action, in the order in which
// they were done. Several goroutines may append to it, but one process only.
type Log struct {
	path string
	mu   sync.Mutex
}

// OpenLog returns the log in a file, which it creates if there is none. The error says
// that others than its owner may read it, or that it cannot be written.
func OpenLog(path string) (*Log, error) {
	l := &Log{path: path}
	f, err := l.open()
	if err != nil {
		return nil, fmt.Errorf("opening the audit log: %w", err)
	}
	return l, errors.Join(f.Close(), atomicfile.SyncDir(filepath.Dir(path)))
}

// Append writes an action and returns once it is on disk. It opens the file each time, so
// that the file can be renamed.
func (l *Log) Append(a telemetry.Action) error {
	line, err := json.Marshal(a)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	f, err := l.open()
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Sync(), f.Close())
}

// open opens the file for appending. A line that a crash has cut off is ended.
func (l *Log) open() (*os.File, error) {
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := whole(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// whole checks the mode of a log, and ends its last line.
func whole(f *os.File) error {
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case info.Mode().IsRegular() && info.Mode().Perm()&0o027 != 0 && runtime.GOOS != "windows":
		return fmt.Errorf("%s: others can read it or change it (mode %v); expected 0600", f.Name(), info.Mode().Perm())
	case info.Size() == 0:
		return nil
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, info.Size()-1); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if last[0] != '\n' {
		_, err = f.Write([]byte{'\n'})
	}
	return err
}
