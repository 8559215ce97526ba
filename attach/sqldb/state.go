// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"encoding/json"
	"errors"
)

// state is what a restart needs, as JSON in the state file.
type state struct {
	Started cursor `json:"started"`
	Ended   cursor `json:"ended"`
}

// stateWord begins the name of the program in the state file; the mapping follows.
const stateWord = "pnagent attach sql 1 "

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
