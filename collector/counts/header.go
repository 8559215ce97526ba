// SPDX-License-Identifier: Apache-2.0

package counts

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/flate"

	"github.com/pnagent/pnagent/internal/framed"
)

// ErrState is wrapped by the error of a file without valid counters.
var ErrState = errors.New("invalid file of counters")

// errNotKept is the error of a file that the previous process truncated.
var errNotKept = fmt.Errorf("%w: it is empty because the previous process could not write it", ErrState)

// maxState is the largest size of a file, and of the frames in it once they are unpacked, in bytes.
const maxState = 4 << 30

// content is what the file of a directory contains.
var content = framed.Content{Name: "counts", Version: 2}

// The kinds of its frames.
const (
	headerFrame = 1 // Header as JSON: of the process that wrote the file
	recordFrame = 2 // records of a merge.Frame, packed as by flate
)

// Header identifies the counters of a file and the process that wrote it.
type Header struct {
	Subjects string `json:"subjects"`         // the subject space of the sources
	Share    string `json:"share"`            // of its sources; "0/0" is all
	Up       string `json:"up,omitempty"`     // the subject space of a collector above
	Source   string `json:"source,omitempty"` // the name there

	Since  int64  `json:"since"`  // when the counters began
	Before int64  `json:"before"` // until when others counted the sources: merge.Rules.CountedBefore
	Epoch  int64  `json:"epoch"`  // of the process that wrote it: larger than all earlier ones
	Fence  uint64 `json:"fence"`  // the same, usually in seconds
}

// kept is what a directory has.
type kept struct {
	Header
	frames [][]byte // collector.Config.State
}

// parse reads the file of a directory. torn is why its last frame was not read, or nil. The error
// wraps ErrState or a *framed.VersionError.
func parse(text []byte) (k *kept, torn error, err error) {
	if len(text) == 0 {
		return nil, nil, errNotKept
	}
	f, err := content.ParseLog(text)
	var version *framed.VersionError
	if errors.As(err, &version) {
		return nil, nil, err
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrState, err)
	}
	bad := func(f framed.Frame, why error) (*kept, error, error) {
		return nil, nil, fmt.Errorf("%w: %w", ErrState, &framed.DamagedError{At: f.At, Why: why.Error()})
	}
	if len(f.Frames) < 2 || f.Frames[0].Kind != headerFrame {
		return bad(framed.Frame{}, errors.New("expected a header and a frame of records"))
	}
	k = &kept{}
	if err := json.Unmarshal(f.Frames[0].Payload, &k.Header); err != nil {
		return bad(f.Frames[0], err)
	}
	size := 0
	for _, frame := range f.Frames[1:] {
		if frame.Kind != recordFrame {
			return bad(frame, fmt.Errorf("a frame of kind %d; expected %d", frame.Kind, recordFrame))
		}
		records, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(frame.Payload)), maxState+1))
		if size += len(records); err != nil || size > maxState {
			return bad(frame, errors.Join(err, fmt.Errorf("expected at most %d bytes in all", maxState)))
		}
		k.frames = append(k.frames, records)
	}
	if f.Torn != nil {
		torn = f.Torn
	}
	return k, torn, nil
}

// earlierMagic is the first line of files of before 28 November 2026: the SHA-256 of the rest, Header
// as a line of JSON, and the records of a frame follow. They are read although no release wrote them:
// a counter that begins again cannot be had back, and sidecars have kept such directories.
const earlierMagic = "pnagent counts 1\n"

// parseEarlier reads a file of an earlier release. The error wraps ErrState.
func parseEarlier(text []byte) (*kept, error) {
	rest, ok := bytes.CutPrefix(text, []byte(earlierMagic))
	if !ok || len(rest) < sha256.Size {
		return nil, fmt.Errorf("%w: expected %q as its first line", ErrState, earlierMagic)
	}
	sum, rest := rest[:sha256.Size], rest[sha256.Size:]
	if got := sha256.Sum256(rest); !bytes.Equal(got[:], sum) {
		return nil, fmt.Errorf("%w: wrong checksum", ErrState)
	}
	head, counted, _ := bytes.Cut(rest, []byte("\n"))
	k := &kept{frames: [][]byte{counted}}
	if err := json.Unmarshal(head, &k.Header); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrState, err)
	}
	return k, nil
}
