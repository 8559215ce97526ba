// SPDX-License-Identifier: Apache-2.0

package region

import (
	"encoding/json"
	"fmt"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/telemetry"
)

// Role is the role of a member for a part.
type Role string

// The roles.
const (
	Owner   Role = "owner"
	Standby Role = "standby"
	Away    Role = "away" // it may follow the part but does not
)

// Beat is the status of a member, published as JSON on the subject
// PREFIX.parts.NET.
type Beat struct {
	Source  string     `json:"source"`
	Started int64      `json:"started"`          // of the process; with another time it is another member of the same name
	Leaves  bool       `json:"leaves,omitempty"` // it hands all its parts over and ends
	Again   bool       `json:"again,omitempty"`  // it accepts logs that have lost commits
	Parts   []BeatPart `json:"parts"`            // the parts that it may play
	Known   []Known    `json:"known,omitempty"`  // of parts without an owner
}

// BeatPart is the status of one part at a member.
type BeatPart struct {
	Part     string `json:"part"`
	Role     Role   `json:"role"`
	Epoch    uint64 `json:"epoch"`           // the highest that it has read
	Position uint64 `json:"position"`        // the last commit that it has read; for an owner, the last confirmed one
	Chain    string `json:"chain,omitempty"` // over the log up to Position
	// Round is the mark of the log up to the last multiple of engine.RoundOf; 0 if it is unknown.
	Round engine.Mark `json:"round,omitempty"`
	// Cursors are, for an owner, the last commits that it has read of upstream
	// parts, confirmed, by the part's name.
	Cursors map[string]uint64 `json:"cursors,omitempty"`
	// Marks are the marks of the logs up to Cursors. A cursor without a mark is not checked.
	Marks   map[string]engine.Mark `json:"marks,omitempty"`
	Since   int64                  `json:"since,omitempty"`   // when the log began, microseconds since the Unix epoch
	Stopped string                 `json:"stopped,omitempty"` // why the part is stopped
}

// cursor returns the confirmed position of the owner of a part in an upstream log.
func (p *BeatPart) cursor(upstream string) engine.Cursor {
	return engine.Cursor{Position: p.Cursors[upstream], Mark: p.Marks[upstream]}
}

// Bounds of a beat.
const (
	maxBeat  = 512 << 10 // bytes
	maxParts = 4096
	// maxReason is the limit of telemetry, in bytes.
	maxReason = 255
)

// Subject returns the subject on which the members of a net publish beats.
func Subject(s telemetry.Subjects, net string) string {
	return s.Prefix() + ".parts." + telemetry.Escape(net)
}

func (b *Beat) encode() ([]byte, error) {
	message, err := json.Marshal(b)
	if err == nil && len(message) > maxBeat {
		err = fmt.Errorf("beat has %d bytes: too many parts or names too long; expected at most %d", len(message), maxBeat)
	}
	return message, err
}

// decodeBeat decodes and validates a beat.
func decodeBeat(message []byte) (*Beat, error) {
	if len(message) > maxBeat {
		return nil, fmt.Errorf("beat has %d bytes; expected at most %d", len(message), maxBeat)
	}
	b := &Beat{}
	if err := json.Unmarshal(message, b); err != nil {
		return nil, fmt.Errorf("beat: %w", err)
	}
	if err := telemetry.CheckName(b.Source); err != nil {
		return nil, fmt.Errorf("beat: %w", err)
	}
	if len(b.Parts) > maxParts || len(b.Known) > maxParts {
		return nil, fmt.Errorf("beat has %d parts and %d known commits; expected at most %d each", len(b.Parts), len(b.Known), maxParts)
	}
	for i := range b.Known {
		if err := b.Known[i].check(); err != nil {
			return nil, fmt.Errorf("beat: known: %w", err)
		}
	}
	for i := range b.Parts {
		p := &b.Parts[i]
		if err := telemetry.CheckName(p.Part); err != nil {
			return nil, fmt.Errorf("beat: part: %w", err)
		}
		if p.Role != Owner && p.Role != Standby && p.Role != Away || len(p.Cursors) > maxParts || len(p.Marks) > maxParts || len(p.Stopped) > maxReason {
			return nil, fmt.Errorf("beat: part %q with role %q and %d cursors", p.Part, p.Role, len(p.Cursors))
		}
	}
	return b, nil
}
