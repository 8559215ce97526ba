// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"errors"
	"fmt"

	"github.com/pnagent/pnagent/internal/atomicfile"
)

// saver writes a state file. A disk that hangs delays the alarms once, by at most
// atomicfile.Patience.
type saver struct {
	write func(*Saved) error
	disk  atomicfile.Saver
}

// save writes the state. The error wraps atomicfile.ErrSlow while a write is unfinished.
func (s *saver) save(state Saved) error {
	write := s.write
	err := s.disk.Save(func() error { return write(&state) })
	if errors.Is(err, atomicfile.ErrSlow) {
		return fmt.Errorf("write the alarm state: %w", err)
	}
	return err
}
