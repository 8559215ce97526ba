// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/stats"
)

// Who names the author of a request to an engine, as the request claims: NATS does not report
// the user of a message to its receiver.
type Who struct {
	By      string `json:"by,omitempty"` // such as "kim@desk"
	Comment string `json:"comment,omitempty"`
}

// Headers of requests that hold a Who.
const (
	ByHeader      = "Pnagent-By"
	CommentHeader = "Pnagent-Comment"
)

// MaxComment is the largest comment of a request, in bytes.
const MaxComment = 1000

// Check refuses texts that are too long or hold control characters. The error wraps
// BadName.
func (w Who) Check() error {
	if err := checkText(w.By, MaxName); err != nil {
		return fmt.Errorf("by: %w", err)
	}
	if err := checkText(w.Comment, MaxComment); err != nil {
		return fmt.Errorf("comment: %w", err)
	}
	return nil
}

// Header returns the headers of a request.
func (w Who) Header() nats.Header {
	h := nats.Header{}
	if w.By != "" {
		h.Set(ByHeader, w.By)
	}
	if w.Comment != "" {
		h.Set(CommentHeader, w.Comment)
	}
	return h
}

// WhoOf returns what a request says of its author. What Check would refuse is clipped.
func WhoOf(m *nats.Msg) Who {
	return Who{By: stats.Clip(m.Header.Get(ByHeader), MaxName), Comment: stats.Clip(m.Header.Get(CommentHeader), MaxComment)}
}
