// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
)

// Acknowledge acknowledges active alarms, or withdraws that: POST /api/v1/alarms/ack and
// /api/v1/alarms/unack.
type Acknowledge struct {
	Indices []uint32 `json:"indices"` // all of active alarms; 1,000 at most
	Comment string   `json:"comment,omitempty"`
}

// NewSilence silences alarms from now on: POST /api/v1/alarms/silence. It has a kind or at
// least one pattern, see Silence; the net * is all alarms. The answer is the Silence.
type NewSilence struct {
	For        float64 `json:"for_seconds"`
	Comment    string  `json:"comment,omitempty"`
	Alarm      string  `json:"alarm,omitempty"` // kind
	Net        string  `json:"net,omitempty"`
	Place      string  `json:"place,omitempty"`
	Transition string  `json:"transition,omitempty"`
	Source     string  `json:"source,omitempty"`
}

// EndSilence ends a silence before its time: POST /api/v1/alarms/unsilence.
type EndSilence struct {
	ID string `json:"id"`
}

// Done is the answer to a change that has no other answer.
type Done struct {
	OK bool `json:"ok"` // always true
}

// ByHeader is the header of a request with the name of its sender. The sidecar takes it for
// clients at a loopback address that have not authenticated.
const ByHeader = "Pnagent-By"

// maxRefusal bounds the text of an error, in bytes.
const maxRefusal = 16 << 10

// Post sends a change to a path below /api/v1/, and returns the answer. by is for ByHeader.
// An error has the reason that the sidecar gives.
func Post[T any](ctx context.Context, c Client, path, by string, change any) (*T, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	body, err := json.Marshal(change)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.URL, "/")+"/api/v1/"+path, bytes.NewReader(body))
	if err != nil {
		return nil, WithoutAddress(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if by != "" {
		req.Header.Set(ByHeader, by)
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return nil, WithoutAddress(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		return Decode[T](resp.Body)
	}
	var refusal Error
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal)) // without it the status is the reason
	if json.Unmarshal(text, &refusal) == nil && refusal.Error != "" {
		return nil, errors.New(refusal.Error)
	}
	return nil, errors.New(resp.Status)
}
