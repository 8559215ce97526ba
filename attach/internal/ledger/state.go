// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pnagent/pnagent/internal/framed"
	"github.com/pnagent/pnagent/telemetry"
)

// maxState is the largest state file that is read, in bytes.
const maxState = 256 << 20

// stateContent is what state files contain: one frame of stateKind, a stateFile as JSON.
var stateContent = framed.Content{Name: "attached engine", Version: 1}

const stateKind = 1

// stateFile is the content of a state file.
type stateFile struct {
	Program string          `json:"program"`
	Epoch   int64           `json:"epoch"` // of the last publisher
	State   json.RawMessage `json:"state"`
}

// parseState reads the content of a state file. The error is a *framed.DamagedError or a
// *framed.VersionError.
func parseState(text []byte) (found stateFile, err error) {
	frame, err := stateContent.ParseOne(text, stateKind)
	if err != nil {
		return found, err
	}
	damaged := func(format string, args ...any) (stateFile, error) {
		return stateFile{}, &framed.DamagedError{At: frame.At, Why: fmt.Sprintf(format, args...)}
	}
	if err := json.Unmarshal(frame.Payload, &found); err != nil {
		return damaged("%v", err)
	}
	if found.Epoch < 0 || found.Epoch > telemetry.MaxTime {
		return damaged("epoch %d; expected 0 to %d", found.Epoch, int64(telemetry.MaxTime))
	}
	return found, nil
}

// readState reads the state of a program into the value that state points to, and
// returns the epoch. It leaves state as it is if there is no file.
func readState(path, program string, state any) (epoch int64, err error) {
	if path == "" {
		return 0, nil
	}
	text, err := framed.Load(path, maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the state: %w", err)
	}
	found, err := parseState(text)
	if err == nil && found.Program != program {
		err = fmt.Errorf("it is of %q; expected %q", found.Program, program)
	}
	if err == nil && state != nil {
		err = json.Unmarshal(found.State, state)
	}
	if err != nil {
		return 0, fmt.Errorf("reading the state %s: %w", path, err)
	}
	return found.Epoch, nil
}

// stateWriter writes a state file.
type stateWriter struct {
	path string
	last [sha256.Size]byte // digest of what is in the file; 0 if that is not known
}

// write replaces the file, unless it has this content.
func (w *stateWriter) write(content *stateFile) error {
	text, err := json.Marshal(content)
	sum := sha256.Sum256(text)
	if err == nil && sum == w.last {
		return nil
	}
	w.last = [sha256.Size]byte{}
	if err == nil {
		err = stateContent.Replace(w.path, 0o600, framed.Frame{Kind: stateKind, Payload: text})
	}
	if err != nil {
		return fmt.Errorf("writing the state: %w", err)
	}
	w.last = sum
	return nil
}
