// SPDX-License-Identifier: Apache-2.0

package uplink

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// ErrState says that a file is no state, or a damaged one.
var ErrState = errors.New("no state of an uplink")

// maxState is how large a file is read, in bytes.
const maxState = 4 << 30

// magic is the first line of a state's file. The number rises when what follows
// changes in a way that an older program would misread.
const magic = "pnagent uplink 1\n"

// State is what a process leaves to the next one. In its file there are the
// magic line, SHA-256 of the rest, State as a line of JSON, and Counted.
type State struct {
	Source string `json:"source"` // the name to the root
	Up     string `json:"up"`     // the root's subject space
	Share  string `json:"share"`  // of the sources; "0/0" is all

	Since  int64  `json:"since"`  // when its counters began
	Before int64  `json:"before"` // until when others counted its sources: collector.Rules.CountedBefore
	Epoch  int64  `json:"epoch"`  // of the process that wrote it
	Fence  uint64 `json:"fence"`

	Counted []byte `json:"-"` // what the collector counted: collector.Config.State
}

// appendTo appends the content of a state's file.
func (s *State) appendTo(out []byte) ([]byte, error) {
	head, err := json.Marshal(s)
	if err != nil {
		return out, err
	}
	h := sha256.New()
	for _, part := range [][]byte{head, []byte("\n"), s.Counted} {
		_, _ = h.Write(part) // never fails
	}
	out = h.Sum(append(out, magic...))
	return append(append(append(out, head...), '\n'), s.Counted...), nil
}

// parseState reads the content of a state's file. The error wraps ErrState.
func parseState(text []byte) (*State, error) {
	rest, ok := bytes.CutPrefix(text, []byte(magic))
	if !ok || len(rest) < sha256.Size {
		return nil, fmt.Errorf("%w: it does not begin as one", ErrState)
	}
	sum, rest := rest[:sha256.Size], rest[sha256.Size:]
	if got := sha256.Sum256(rest); !bytes.Equal(got[:], sum) {
		return nil, fmt.Errorf("%w: its checksum is wrong", ErrState)
	}
	head, counted, _ := bytes.Cut(rest, []byte("\n"))
	s := &State{}
	if err := json.Unmarshal(head, s); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrState, err)
	}
	s.Counted = counted
	return s, nil
}

// readState reads a file. The error wraps os.ErrNotExist where there is none, or
// ErrState.
func readState(path string) (*State, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxState))
	if err != nil {
		return nil, err
	}
	return parseState(text)
}

// write replaces a file by one with this content, so that after a crash there
// is the one or the other.
func write(path string, text []byte) (err error) {
	next := path + ".next"
	f, err := os.OpenFile(next, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(next, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes a rename last.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
