// SPDX-License-Identifier: Apache-2.0

package atomicfile

import (
	"errors"
	"time"
)

// Patience is how long a disk may hold up who saves.
const Patience = 2 * time.Second

// ErrSlow says that it is not known whether the file was written.
var ErrSlow = errors.New("the disk does not answer")

// Saver writes files, one at a time. A disk that hangs holds up the caller for
// Patience, once: until that write has ended, Save returns ErrSlow at once. A
// Saver is for one goroutine.
type Saver struct {
	pending chan error // gets the result of a write that took too long; nil without one
}

// Save has write called, in another goroutine, and returns its error. What write
// reads must not change afterwards.
func (s *Saver) Save(write func() error) error {
	if s.pending != nil && len(s.pending) == 0 {
		return ErrSlow
	}
	s.pending = nil // whatever became of that write, this one is newer
	done := make(chan error, 1)
	go func() { done <- write() }()
	select {
	case err := <-done:
		return err
	case <-time.After(Patience):
		s.pending = done
		return ErrSlow
	}
}
