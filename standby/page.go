// SPDX-License-Identifier: Apache-2.0

package standby

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// maxHead bounds the first line of a page, in bytes.
const maxHead = 256

// Page carries alarms from one sidecar to the others. On the wire it is a line of
// JSON, which says what it is, and the alarms in a form that this package does not
// look into.
type Page struct {
	Version int    `json:"version"`
	ID      string `json:"id"`            // of the sender, see Message
	Ask     bool   `json:"ask,omitempty"` // the others are to send all that they have
	Alarms  []byte `json:"-"`
}

// DecodePage reads a page. Every error wraps a Reason.
func DecodePage(data []byte) (Page, error) {
	var p Page
	err := decodeHead(data, &p, &p.Alarms)
	if err == nil {
		err = checkSender(p.Version, p.ID)
	}
	return p, err
}

// decodeHead reads the first line into head, and has rest be what follows.
func decodeHead(data []byte, head any, rest *[]byte) error {
	line, after, ok := bytes.Cut(data, []byte("\n"))
	if !ok || len(line) > maxHead {
		return fmt.Errorf("page of a sidecar: %w: no first line of at most %d bytes", NotJSON, maxHead)
	}
	if err := json.Unmarshal(line, head); err != nil {
		return fmt.Errorf("page of a sidecar: %w: %w", NotJSON, err)
	}
	*rest = after
	return nil
}

func checkSender(version int, id string) error {
	m := Message{Version: version, ID: id}
	if err := m.check(); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	return nil
}

// Encode writes the page as DecodePage reads it.
func (p *Page) Encode() []byte {
	head, _ := json.Marshal(p) // a struct of such fields can be written
	return append(append(head, '\n'), p.Alarms...)
}
