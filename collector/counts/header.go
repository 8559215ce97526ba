// SPDX-License-Identifier: Apache-2.0

package counts

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrState is wrapped by the error of a file without valid counters.
var ErrState = errors.New("invalid file of counters")

// errNotKept is the error of a file that the previous process truncated.
var errNotKept = fmt.Errorf("%w: it is empty because the previous process could not write it", ErrState)

// maxState is the largest size of a file, in bytes.
const maxState = 4 << 30

// magic is the first line of a file. Its number rises with incompatible changes.
const magic = "pnagent counts 1\n"

// Header identifies the counters of a file and the process that wrote it. A file has the
// magic line, the SHA-256 of the rest, Header as a line of JSON, and the collector's
// counters.
type Header struct {
	Subjects string `json:"subjects"`         // the subject space of the sources
	Share    string `json:"share"`            // of its sources; "0/0" is all
	Up       string `json:"up,omitempty"`     // the subject space of a collector above
	Source   string `json:"source,omitempty"` // the name there

	Since  int64  `json:"since"`  // when the counters began
	Before int64  `json:"before"` // until when others counted the sources: merge.Rules.CountedBefore
	Epoch  int64  `json:"epoch"`  // of the process that wrote it: larger than all earlier ones
	Fence  uint64 `json:"fence"`  // the same, usually in seconds
}

// file is the content of a file.
type file struct {
	Header
	counted []byte // collector.Config.State, or Shown
}

// append appends the content of the file to out.
func (f *file) append(out []byte) []byte {
	head, _ := json.Marshal(f.Header) // of strings and numbers: never fails
	h := sha256.New()
	for _, part := range [][]byte{head, []byte("\n"), f.counted} {
		_, _ = h.Write(part) // never fails
	}
	out = h.Sum(append(out, magic...))
	return append(append(append(out, head...), '\n'), f.counted...)
}

// parse reads a file's content. The error wraps ErrState.
func parse(text []byte) (*file, error) {
	if len(text) == 0 {
		return nil, errNotKept
	}
	rest, ok := bytes.CutPrefix(text, []byte(magic))
	if !ok || len(rest) < sha256.Size {
		return nil, fmt.Errorf("%w: expected %q as its first line", ErrState, magic)
	}
	sum, rest := rest[:sha256.Size], rest[sha256.Size:]
	if got := sha256.Sum256(rest); !bytes.Equal(got[:], sum) {
		return nil, fmt.Errorf("%w: wrong checksum", ErrState)
	}
	head, counted, _ := bytes.Cut(rest, []byte("\n"))
	f := &file{counted: counted}
	if err := json.Unmarshal(head, &f.Header); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrState, err)
	}
	return f, nil
}

// read reads a file. The error wraps os.ErrNotExist if there is none, or ErrState.
func read(path string) (*file, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxState))
	if err != nil {
		return nil, err
	}
	return parse(text)
}
