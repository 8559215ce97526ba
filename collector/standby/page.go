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
	// maxHead bounds the first line of a page or parcel, in bytes.
	maxHead = 256
	// maxBulk bounds a page or parcel, in bytes. Members send some 64 KiB at a time.
	maxBulk = 1 << 20
)

// Page carries alarms, or notes about them, from one member to the others. On the wire it
// is a line of JSON with these fields, and then the content, which this package does not
// decode.
type Page struct {
	Version int    `json:"version"`
	ID      string `json:"id"`            // of the sender, see Message
	Ask     bool   `json:"ask,omitempty"` // the other members shall send all their alarms
	Content []byte `json:"-"`
}

// DecodePage reads a page. Every error wraps a Reason.
func DecodePage(data []byte) (Page, error) {
	var p Page
	rest, err := decodeHead(data, &p)
	p.Content = rest
	if err == nil {
		err = (&roster.Message{Version: p.Version, ID: p.ID}).Check()
	}
	return p, err
}

// decodeHead reads the first line into head, and returns what follows.
func decodeHead(data []byte, head any) (rest []byte, err error) {
	line, rest, ok := bytes.Cut(data, []byte("\n"))
	if !ok || len(line) > maxHead {
		return nil, fmt.Errorf("page of a sidecar: %w: expected a first line of at most %d bytes", roster.NotJSON, maxHead)
	}
	if err := json.Unmarshal(line, head); err != nil {
		return nil, fmt.Errorf("page of a sidecar: %w: %w", roster.NotJSON, err)
	}
	return rest, nil
}

// Encode returns the page in the form that DecodePage reads.
func (p *Page) Encode() []byte { return encodeHead(p, p.Content) }

func encodeHead(head any, rest []byte) []byte {
	line, _ := json.Marshal(head) // never fails for these fields
	return append(append(line, '\n'), rest...)
}
