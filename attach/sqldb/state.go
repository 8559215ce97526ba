// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/pnagent/pnagent/internal/atomicfile"
)

// state is what a restart needs, as JSON in the state file.
type state struct {
	Program string `json:"program"` // stateWord
	Mapping string `json:"mapping"`
	Epoch   int64  `json:"epoch"` // of the last publisher
	Started cursor `json:"started"`
	Ended   cursor `json:"ended"`
}

const (
	stateWord = "pnagent attach sql 1"
	maxState  = 256 << 20 // bytes that are read
)

// begin starts to count now.
func (s *state) begin(now int64) {
	s.Started = cursor{At: now, Floor: now, seen: seen{}}
	s.Ended = cursor{At: now, Floor: now, seen: seen{}}
}

// savedCursor is a cursor in the file. Hashes and times have one index.
type savedCursor struct {
	At     int64    `json:"at"`
	Floor  int64    `json:"floor"`
	Hashes []uint64 `json:"hashes"`
	Times  []int64  `json:"times"`
}

// MarshalJSON writes the cursor with the rows that were counted.
func (c *cursor) MarshalJSON() ([]byte, error) {
	out := savedCursor{At: c.At, Floor: c.Floor}
	for h, at := range c.seen {
		out.Hashes, out.Times = append(out.Hashes, h), append(out.Times, at)
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (c *cursor) UnmarshalJSON(text []byte) error {
	var in savedCursor
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	if len(in.Hashes) != len(in.Times) || in.At < in.Floor || in.Floor < 0 {
		return errors.New("a cursor that does not fit together")
	}
	*c = cursor{At: in.At, Floor: in.Floor, seen: make(seen, len(in.Hashes))}
	for i, h := range in.Hashes {
		c.seen[h] = in.Times[i]
	}
	return nil
}

// readState reads a state file; a missing one is an empty state.
func readState(path, mapping string) (state, error) {
	s := state{Program: stateWord, Mapping: mapping}
	if path == "" {
		return s, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("reading the state: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxState))
	if err != nil {
		return s, fmt.Errorf("reading the state: %w", err)
	}
	var found state
	if err := json.Unmarshal(text, &found); err != nil {
		return s, fmt.Errorf("reading the state %s: %w", path, err)
	}
	if found.Program != stateWord || found.Mapping != mapping {
		return s, fmt.Errorf("reading the state %s: it is of %q with the mapping %q; expected %q with %q", path, found.Program, found.Mapping, stateWord, mapping)
	}
	return found, nil
}

// save replaces the state file.
func (s *state) save(path string) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := atomicfile.Replace(path, text, 0o600); err != nil {
		return fmt.Errorf("writing the state: %w", err)
	}
	return nil
}
