// SPDX-License-Identifier: Apache-2.0

package framed

import (
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/pnagent/pnagent/internal/atomicfile"
)

// Text returns the content of a file with these frames and an end.
func (c Content) Text(frames ...Frame) []byte {
	b, w := c.Header(nil, 0)
	for _, f := range frames {
		b = w.Frame(b, f.Kind, f.Payload)
	}
	return w.End(b)
}

// Replace replaces a file, or creates it: see atomicfile.Replace.
func (c Content) Replace(path string, mode fs.FileMode, frames ...Frame) error {
	return atomicfile.Replace(path, c.Text(frames...), mode)
}

// Read reads a file that Replace wrote, of at most limit bytes. The error wraps fs.ErrNotExist if
// there is none, a *DamagedError, or a *VersionError, and names the file.
func (c Content) Read(path string, limit int64) ([]Frame, error) {
	text, err := Load(path, limit)
	if err != nil {
		return nil, err
	}
	f, err := c.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f.Frames, nil
}

// Load returns the bytes of a file. Of more than limit bytes the error is a *DamagedError.
func Load(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("%s: %w", path, &DamagedError{limit, "the file goes on"})
	}
	return text, nil
}
