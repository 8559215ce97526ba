// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

// Acknowledge acknowledges active alarms, or withdraws that: POST /api/v1/alarms/ack and
// /api/v1/alarms/unack.
type Acknowledge struct {
	Indices []uint32 `json:"indices"` // all of active alarms; 1,000 at most
	Comment string   `json:"comment,omitempty"`
}

// Selection selects alarms by their kind, the reason of their rule and by patterns, in which * is any text and ? one
// character; an absent one matches every alarm.
type Selection struct {
	Alarm      string `json:"alarm,omitempty"` // kind
	Net        string `json:"net,omitempty"`
	Place      string `json:"place,omitempty"`
	Transition string `json:"transition,omitempty"`
	Source     string `json:"source,omitempty"`
	ForReason  string `json:"for_reason,omitempty"` // the reason of the rule that raised the alarm, see Alarm; no pattern
}

// CloseAlarms ends alarms of which it is not known whether they hold: POST
// /api/v1/alarms/close. It has indices, or else a kind, a reason or at least one pattern. A
// source also selects what it held, and what follows from it.
type CloseAlarms struct {
	Indices []uint32 `json:"indices,omitempty"` // 1,000 at most; if one is known to hold, nothing is closed
	Comment string   `json:"comment,omitempty"`
	Selection
}

// Closed is the answer to CloseAlarms.
type Closed struct {
	Indices []uint32 `json:"indices"`           // of the alarms that were closed
	Holding []uint32 `json:"holding,omitempty"` // selected, and known to hold: they stay
}

// NewSilence silences alarms from now on, from a time on, or at the times of a cron expression:
// POST /api/v1/alarms/silence. It has a kind, a reason or at least one pattern; the net * is all alarms. The
// answer is the Silence.
type NewSilence struct {
	For     float64 `json:"for_seconds"`    // each time, if it recurs
	From    Time    `json:"from,omitzero"`  // absent for now
	Cron    string  `json:"cron,omitempty"` // when it begins again and again, such as 0 2 * * sat
	Zone    string  `json:"zone,omitempty"` // of cron, such as Europe/Berlin; absent for UTC
	Ends    Time    `json:"ends,omitzero"`  // when it recurs no more; absent for ten years
	Comment string  `json:"comment,omitempty"`
	Selection
}

// EndSilence ends a silence before its time: POST /api/v1/alarms/unsilence.
type EndSilence struct {
	ID string `json:"id"`
}

// Act acts on one instance, as pnagent fire, inject and retry do: POST /api/v1/act. The
// sidecar takes it from clients that have authenticated only.
type Act struct {
	Verb       string `json:"verb"` // fire, inject or retry
	Net        string `json:"net"`
	Instance   string `json:"instance"`
	Place      string `json:"place,omitempty"`      // of inject
	Transition string `json:"transition,omitempty"` // of fire and retry
	Tokens     uint64 `json:"tokens,omitempty"`     // of inject
	Source     string `json:"source,omitempty"`     // that has the instance; absent for any
	Comment    string `json:"comment,omitempty"`    // for the audit log of the engine
	DryRun     bool   `json:"dry_run,omitempty"`    // says what would be done, and does nothing
}

// Acted is the answer to an Act that was done, or would be.
type Acted struct {
	Act
	Held []Waiting `json:"held"` // the tokens before: those in the place, or those that wait for the transition
}

// Waiting are tokens of one place that an Act is about.
type Waiting struct {
	Place  string  `json:"place"`
	Tokens uint64  `json:"tokens"`
	Age    float64 `json:"age_seconds"`
	Wait   *Wait   `json:"wait,omitempty"` // of the transition that should fire
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
	header := http.Header{"Content-Type": {"application/json"}}
	if by != "" {
		header.Set(ByHeader, by)
	}
	resp, err := c.send(ctx, http.MethodPost, path, header, body)
	if err != nil {
		return nil, err
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
