// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"errors"
	"time"
)

// saveTimeout is how long a disk may hold up the alarms.
const saveTimeout = 2 * time.Second

// errSlow says that it is not known whether the state was written.
var errSlow = errors.New("write the alarm state: the disk does not answer")

// saver writes a state file, one write at a time. A disk that hangs holds up
// nobody for longer than saveTimeout, once.
type saver struct {
	write   func(*Saved) error
	pending chan error // gets the result of a write that took too long; nil without one
}

// save writes the state, or returns errSlow while it does not know.
func (s *saver) save(state Saved) error {
	if s.pending != nil && len(s.pending) == 0 {
		return errSlow
	}
	s.pending = nil // whatever became of that write, this state is newer
	write, done := s.write, make(chan error, 1)
	go func() { done <- write(&state) }()
	patience := time.NewTimer(saveTimeout)
	defer patience.Stop()
	select {
	case err := <-done:
		return err
	case <-patience.C:
		s.pending = done
		return errSlow
	}
}
