// SPDX-License-Identifier: Apache-2.0

package region

import (
	"encoding/json"
	"fmt"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/telemetry"
)

// Role is what a member is to a part.
type Role string

// The roles.
const (
	Owner   Role = "owner"
	Standby Role = "standby"
	Away    Role = "away" // it could follow the part and does not
)

// Beat is what a member says of itself to the others, as JSON on the subject
// PREFIX.parts.NET.
type Beat struct {
	Source  string     `json:"source"`
	Started int64      `json:"started"`          // when the process did: another one of the same name is another member
	Leaves  bool       `json:"leaves,omitempty"` // it gives everything away and ends
	Parts   []BeatPart `json:"parts"`            // those that it may play
}

// BeatPart is what a member says of one part.
type BeatPart struct {
	Part     string `json:"part"`
	Role     Role   `json:"role"`
	Epoch    uint64 `json:"epoch"`           // the highest that it has read
	Position uint64 `json:"position"`        // the last commit that it has read; of an owner, that is sure to stay
	Chain    string `json:"chain,omitempty"` // over the log up to there
	// Cursors are, of an owner, the commits of upstream parts that it has read
	// for good, by the part's name.
	Cursors map[string]uint64 `json:"cursors,omitempty"`
	// Marks are those of the logs up to there. A cursor without one is believed.
	Marks   map[string]engine.Mark `json:"marks,omitempty"`
	Stopped string                 `json:"stopped,omitempty"` // why the part stands still
}

// cursor returns how far the owner of a part has read an upstream log for good.
func (p *BeatPart) cursor(upstream string) engine.Cursor {
	return engine.Cursor{Position: p.Cursors[upstream], Mark: p.Marks[upstream]}
}

// Bounds of a beat.
const (
	maxBeat  = 512 << 10 // bytes
	maxParts = 4096
	// maxReason is what telemetry may say, bytes.
	maxReason = 255
)

// Subject is where the members of a net hear each other.
func Subject(s telemetry.Subjects, net string) string {
	return s.Prefix() + ".parts." + telemetry.Escape(net)
}

func (b *Beat) encode() ([]byte, error) {
	message, err := json.Marshal(b)
	if err == nil && len(message) > maxBeat {
		err = fmt.Errorf("beat of %d bytes, of at most %d: too many parts, or names too long", len(message), maxBeat)
	}
	return message, err
}

// decodeBeat reads a beat. It is refused as a whole.
func decodeBeat(message []byte) (*Beat, error) {
	if len(message) > maxBeat {
		return nil, fmt.Errorf("beat of %d bytes, of at most %d", len(message), maxBeat)
	}
	b := &Beat{}
	if err := json.Unmarshal(message, b); err != nil {
		return nil, fmt.Errorf("beat: %w", err)
	}
	if err := telemetry.CheckName(b.Source); err != nil {
		return nil, fmt.Errorf("beat: %w", err)
	}
	if len(b.Parts) > maxParts {
		return nil, fmt.Errorf("beat with %d parts, of at most %d", len(b.Parts), maxParts)
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
