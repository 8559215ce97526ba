// SPDX-License-Identifier: Apache-2.0

package diagram

import (
	"encoding/json"
	"errors"
	"hash/fnv"
)

// seen are the rows of one query that were counted: time by hash of id.
type seen map[uint64]int64

// Cursor is how far the rows of one query were read. Rows may appear late, so each
// reading begins an overlap before the last one, and rows that were counted are
// skipped. It keeps them in JSON.
type Cursor struct {
	At    int64 // the time of the last row, at most that of the poll
	Floor int64 // rows before it are not counted
	seen  seen
}

// NewCursor returns a cursor that starts to count now.
func NewCursor(now int64) *Cursor { return &Cursor{At: now, Floor: now, seen: seen{}} }

// Begun reports whether the cursor counts, that is, is not the zero Cursor.
func (c *Cursor) Begun() bool { return c.seen != nil }

// Take reports whether a row is to be counted, and remembers it.
func (c *Cursor) Take(r *Row, now int64) bool {
	if r.At < c.Floor {
		return false
	}
	h := hash(r.ID)
	if _, again := c.seen[h]; again {
		return false
	}
	c.seen[h] = r.At
	c.At = max(c.At, min(r.At, now))
	return true
}

// From returns the time from which rows are read: overlap before the cursor.
func (c *Cursor) From(overlap int64) int64 { return max(c.At-overlap, c.Floor) }

// Forget drops the rows that are not read again.
func (c *Cursor) Forget(overlap int64) {
	from := c.From(overlap)
	for h, at := range c.seen {
		if at < from {
			delete(c.seen, h)
		}
	}
}

func hash(id string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(id))
	return h.Sum64()
}

// savedCursor is a cursor in a file. Hashes and times have one index.
type savedCursor struct {
	At     int64    `json:"at"`
	Floor  int64    `json:"floor"`
	Hashes []uint64 `json:"hashes"`
	Times  []int64  `json:"times"`
}

// MarshalJSON writes the cursor with the rows that were counted.
func (c *Cursor) MarshalJSON() ([]byte, error) {
	out := savedCursor{At: c.At, Floor: c.Floor}
	for h, at := range c.seen {
		out.Hashes, out.Times = append(out.Hashes, h), append(out.Times, at)
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (c *Cursor) UnmarshalJSON(text []byte) error {
	var in savedCursor
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	if len(in.Hashes) != len(in.Times) || in.At < in.Floor || in.Floor < 0 {
		return errors.New("a cursor that does not fit together")
	}
	*c = Cursor{At: in.At, Floor: in.Floor, seen: make(seen, len(in.Hashes))}
	for i, h := range in.Hashes {
		c.seen[h] = in.Times[i]
	}
	return nil
}
