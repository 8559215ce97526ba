// SPDX-License-Identifier: Apache-2.0

package sqldb

import "github.com/pnagent/pnagent/attach/internal/diagram"

// state is what a restart needs, as JSON in the state file.
type state struct {
	Started  diagram.Cursor `json:"started"`
	Ended    diagram.Cursor `json:"ended"`
	Created  diagram.Cursor `json:"created"`
	Finished diagram.Cursor `json:"finished"`
}

// stateWord begins the name of the program in the state file; the mapping follows.
const stateWord = "pnagent attach sql 1 "
