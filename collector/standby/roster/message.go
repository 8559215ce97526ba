// SPDX-License-Identifier: Apache-2.0

package roster

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Version is the version of the protocol; messages of another version are rejected.
const Version = 1

// Limits of a message.
const (
	MaxMessage = 2048 // bytes
	MaxID      = 64   // bytes of 0-9 a-z -
	MaxName    = 255  // bytes
	MaxDigest  = 64   // bytes of 0-9 a-z -
)

// Message is the state of a member that it publishes to the others, as JSON. Decode
// ignores unknown fields, so that later versions may add some.
type Message struct {
	Version  int    `json:"version"`
	ID       string `json:"id"`       // of this process; never used again
	Name     string `json:"name"`     // for people, such as its host
	Priority uint8  `json:"priority"` // the lower number is on duty
	Up       bool   `json:"up"`       // it is able to notify
	Ready    bool   `json:"ready"`    // the alarms it found at its start were notified
	OnDuty   bool   `json:"on_duty"`  // it sends notifications
	Bye      bool   `json:"bye"`      // its last message
	Started  int64  `json:"started"`  // for people: microseconds since the Unix epoch, by its clock

	// Digest is equal for members that have the same alarms. It is "" for a member
	// that does not share its alarms, such as one of an earlier version.
	Digest string `json:"digest,omitempty"`

	// Notes is equal for members that have the same notes about alarms, as far as they must
	// have the same. It is "" for a member that does not share its notes.
	Notes string `json:"notes,omitempty"`

	// Sources reports whether the member answers requests for silent sources, see
	// Parcel. Earlier versions do not.
	Sources bool `json:"sources,omitempty"`
}

// Reason is why a message was rejected. It is an error, and its text is a metric's label.
type Reason string

// The reasons.
const (
	TooLarge   Reason = "too_large"   // more bytes than MaxMessage
	NotJSON    Reason = "not_json"    // not one JSON object with fields of the right types
	BadVersion Reason = "bad_version" // another version
	BadID      Reason = "bad_id"      // missing, too long, or with an invalid character
	BadName    Reason = "bad_name"    // longer than MaxName, or not UTF-8
	BadTime    Reason = "bad_time"    // started before 1970
	BadDigest  Reason = "bad_digest"  // too long, or with an invalid character
	BadPage    Reason = "bad_page"    // alarms or sources that cannot be decoded
	TooMany    Reason = "too_many"    // more members than MaxPeers
	Overrun    Reason = "overrun"     // more messages than the queue holds
	Unsigned   Reason = "unsigned"    // without the code that a group with keys expects
	BadSeal    Reason = "bad_seal"    // with a code of another key, or one that cannot be decoded
	Replayed   Reason = "replayed"    // not newer than an earlier message of its sender
	Unproven   Reason = "unproven"    // does not answer a challenge of this member, as the first message of a sender
)

// Reasons returns every reason, in a fixed order.
func Reasons() []Reason {
	return []Reason{TooLarge, NotJSON, BadVersion, BadID, BadName, BadTime, BadDigest, BadPage, TooMany, Overrun, Unsigned, BadSeal, Replayed, Unproven}
}

// Error returns the reason's label.
func (r Reason) Error() string { return string(r) }

// ReasonOf returns the reason in an error's chain.
func ReasonOf(err error) Reason {
	var r Reason
	errors.As(err, &r)
	return r
}

// Decode reads a message. Every error wraps a Reason.
func Decode(text []byte) (Message, error) {
	var m Message
	if len(text) > MaxMessage {
		return m, fmt.Errorf("message of a sidecar: %w: %d bytes", TooLarge, len(text))
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("message of a sidecar: %w: %w", NotJSON, err)
	}
	return m, m.Check()
}

// Check returns an error, which wraps a Reason, for a message that Decode would not return.
func (m *Message) Check() error {
	switch {
	case m.Version != Version:
		return fmt.Errorf("message of a sidecar: %w: %d, expected %d", BadVersion, m.Version, Version)
	case m.ID == "" || len(m.ID) > MaxID || !IsPlain(m.ID):
		return fmt.Errorf("message of a sidecar: %w: %.80q", BadID, m.ID)
	case len(m.Name) > MaxName || !utf8.ValidString(m.Name):
		return fmt.Errorf("message of a sidecar: %w: %d bytes", BadName, len(m.Name))
	case m.Started < 0:
		return fmt.Errorf("message of a sidecar: %w: %d", BadTime, m.Started)
	case len(m.Digest) > MaxDigest || !IsPlain(m.Digest):
		return fmt.Errorf("message of a sidecar: %w: %.80q", BadDigest, m.Digest)
	case len(m.Notes) > MaxDigest || !IsPlain(m.Notes):
		return fmt.Errorf("message of a sidecar: %w: notes %.80q", BadDigest, m.Notes)
	}
	return nil
}

// IsPlain reports whether all characters of a text are 0-9, a-z or -.
func IsPlain(text string) bool {
	return strings.Trim(text, "0123456789abcdefghijklmnopqrstuvwxyz-") == ""
}

// Encode returns the message in the form that Decode reads, or the error that Decode
// would return for it.
func (m Message) Encode() ([]byte, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(m)
	if err == nil && len(text) > MaxMessage {
		err = fmt.Errorf("message of a sidecar: %w: %d bytes", TooLarge, len(text))
	}
	return text, err
}

// before reports whether m comes before other in the order of the duty.
func (m *Message) before(other *Message) bool {
	switch {
	case m.Up != other.Up:
		return m.Up
	case m.Ready != other.Ready:
		return m.Ready
	case m.Ready && m.Priority != other.Priority:
		return m.Priority < other.Priority
	}
	return m.ID < other.ID
}
