// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"errors"
	"fmt"

	"github.com/pnagent/pnagent/internal/atomicfile"
)

// saver writes a state file. A disk that hangs holds up the alarms for no longer
// than atomicfile.Patience, once.
type saver struct {
	write func(*Saved) error
	disk  atomicfile.Saver
}

// save writes the state. The error wraps atomicfile.ErrSlow while it is not known
// whether the state was written.
func (s *saver) save(state Saved) error {
	write := s.write
	err := s.disk.Save(func() error { return write(&state) })
	if errors.Is(err, atomicfile.ErrSlow) {
		return fmt.Errorf("write the alarm state: %w", err)
	}
	return err
}
