// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"fmt"

	"github.com/pnagent/pnagent/internal/atomicfile"
	"github.com/pnagent/pnagent/internal/framed"
)

// stateFile saves what the sidecar reads after its next start. If the disk hangs, alarms are
// delayed once, by at most atomicfile.Patience.
type stateFile struct {
	content framed.Content
	path    string // "" for none
	what    string // of the log, if a write fails
	saved   bool   // it has all changes
	lastErr string
	write   func(path string, text []byte) error
	disk    atomicfile.Saver
}

// save writes the file. The error wraps atomicfile.ErrSlow while a write is unfinished.
func (f *stateFile) save(text func() []byte) error {
	body, write := f.content.Text(framed.Frame{Kind: textKind, Payload: text()}), f.write
	err := f.disk.Save(func() error { return write(f.path, body) })
	if f.saved = err == nil; f.saved {
		f.lastErr = ""
		return nil
	}
	err = fmt.Errorf("write %s: %w", f.path, err)
	f.lastErr = err.Error()
	return err
}
