// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"

	"github.com/pnagent/pnagent/internal/atomicfile"
	"github.com/pnagent/pnagent/telemetry"
)

// maxState is the largest state file that is read, in bytes.
const maxState = 256 << 20

// stateFile is the content of a state file.
type stateFile struct {
	Program string          `json:"program"`
	Epoch   int64           `json:"epoch"` // of the last publisher
	State   json.RawMessage `json:"state"`
	// CRC is that of the other fields; "" in a file of an earlier version. Without it a
	// wrong digit of a counter would be read as right.
	CRC string `json:"crc32,omitempty"`
}

// sum returns the CRC-32 (IEEE) of the fields. The state has no blanks between its tokens.
func (f *stateFile) sum() string {
	text := fmt.Appendf(nil, "%s %d %s", f.Program, f.Epoch, f.State)
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE(text))
}

// readState reads the state of a program into the value that state points to, and
// returns the epoch. It leaves state as it is if there is no file.
func readState(path, program string, state any) (epoch int64, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) || path == "" {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the state: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxState))
	if err != nil {
		return 0, fmt.Errorf("reading the state: %w", err)
	}
	var found stateFile
	if err := json.Unmarshal(text, &found); err != nil {
		return 0, fmt.Errorf("reading the state %s: %w", path, err)
	}
	if found.Epoch < 0 || found.Epoch > telemetry.MaxTime {
		return 0, fmt.Errorf("reading the state %s: epoch %d; expected 0 to %d", path, found.Epoch, int64(telemetry.MaxTime))
	}
	if found.CRC != "" && found.CRC != found.sum() {
		return 0, fmt.Errorf("reading the state %s: %w: the checksum is %s; expected %s", path, errDamaged, found.CRC, found.sum())
	}
	if found.Program != program {
		return 0, fmt.Errorf("reading the state %s: it is of %q; expected %q", path, found.Program, program)
	}
	if state != nil {
		if err := json.Unmarshal(found.State, state); err != nil {
			return 0, fmt.Errorf("reading the state %s: %w", path, err)
		}
	}
	return found.Epoch, nil
}

// errDamaged reports a file that was changed since it was written.
var errDamaged = errors.New("the file is damaged")

// writeState replaces a state file.
func writeState(path string, content *stateFile) error {
	state, err := json.Marshal(content.State) // without blanks, as the file has it
	if err != nil {
		return fmt.Errorf("writing the state: %w", err)
	}
	whole := stateFile{Program: content.Program, Epoch: content.Epoch, State: state}
	whole.CRC = whole.sum()
	text, err := json.Marshal(&whole)
	if err != nil {
		return fmt.Errorf("writing the state: %w", err)
	}
	if err := atomicfile.Replace(path, text, 0o600); err != nil {
		return fmt.Errorf("writing the state: %w", err)
	}
	return nil
}
