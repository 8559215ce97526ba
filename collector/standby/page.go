// SPDX-License-Identifier: Apache-2.0

package standby

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/pnagent/pnagent/collector/standby/roster"
)

const (
	// pagesSuffix ends the subject of pages.
	pagesSuffix = "-alarms"
	// notesSuffix ends the subject of pages of notes.
	notesSuffix = "-notes"
	// sentSuffix ends the subject of pages of what was sent.
	sentSuffix = "-sent"
	// maxHead bounds the first line of a page or parcel, in bytes.
	maxHead = 256
	// maxBulk bounds a page or parcel, in bytes. Members send some 64 KiB at a time.
	maxBulk = 1 << 20
)

// Page carries alarms, or notes about them, from one member to the others. A parcel is a Page to
// one member, with a part of the silent sources of another or the request for them. On the wire it
// is a line of JSON with these fields, and then the content, which this package does not decode.
type Page struct {
	Version int    `json:"version"`
	ID      string `json:"id"`             // of the sender, see Message
	To      string `json:"to,omitempty"`   // of a parcel: the ID of the addressee
	Ask     bool   `json:"ask,omitempty"`  // it is the request for silent sources, or the others shall send all their alarms
	Part    int    `json:"part,omitempty"` // of a parcel: 0, 1, 2 …
	Last    bool   `json:"last,omitempty"` // of a parcel: this is the last part
	Content []byte `json:"-"`
}

// DecodePage reads a page. Every error wraps a Reason.
func DecodePage(data []byte) (p Page, err error) {
	line, rest, ok := bytes.Cut(data, []byte("\n"))
	if !ok || len(line) > maxHead {
		return p, fmt.Errorf("page of a sidecar: %w: expected a first line of at most %d bytes", roster.NotJSON, maxHead)
	}
	if err := json.Unmarshal(line, &p); err != nil {
		return p, fmt.Errorf("page of a sidecar: %w: %w", roster.NotJSON, err)
	}
	p.Content = rest
	return p, (&roster.Message{Version: p.Version, ID: p.ID}).Check()
}

// Encode returns the page in the form that DecodePage reads.
func (p *Page) Encode() []byte {
	line, _ := json.Marshal(p) // never fails for these fields
	return append(append(line, '\n'), p.Content...)
}
