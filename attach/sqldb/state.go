// SPDX-License-Identifier: Apache-2.0

package sqldb

import "github.com/pnagent/pnagent/attach/internal/diagram"

// state is what a restart needs, as JSON in the state file.
type state struct {
	Started  diagram.Cursor `json:"started"`
	Ended    diagram.Cursor `json:"ended"`
	Created  diagram.Cursor `json:"created"`
	Finished diagram.Cursor `json:"finished"`
	Floor    floor          `json:"floor"`

	First map[string]int64 `json:"first,omitempty"` // tokens without a time, by id: when they were first seen
}

// floor is the smallest number of a row that could still change at a poll: in this overlap,
// and in the one before. What changed since then has at least that number.
type floor struct {
	This   int64 `json:"this"`
	Before int64 `json:"before"`
	Since  int64 `json:"since"` // the begin of this overlap; 0 before the first poll
}

// take takes the number of a poll that read all rows of flow.
func (f *floor) take(number, now, overlap int64) {
	switch {
	case f.Since == 0:
		*f = floor{number, number, now}
	case now-f.Since >= overlap:
		*f = floor{number, f.This, now}
	}
	f.This = min(f.This, number)
}

// stateWord begins the name of the program in the state file; the mapping follows.
const stateWord = "pnagent attach sql 1 "
