// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/internal/lograte"
	"github.com/pnagent/pnagent/stats"
)

// Action is a request to an engine and its result: a line of the engine's audit log. If it
// is about one net, the engine also publishes it at Subjects.Audit.
type Action struct {
	At     time.Time `json:"at"` // when it was done or refused, UTC, by the engine's clock
	Source string    `json:"source"`
	Kind   string    `json:"kind"` // inject, fire, message or signal
	Who
	Net        string `json:"net,omitempty"`
	Instance   string `json:"instance,omitempty"`
	Place      string `json:"place,omitempty"`
	Transition string `json:"transition,omitempty"`
	Tokens     uint64 `json:"tokens,omitempty"` // that were to be injected
	Event      string `json:"event,omitempty"`  // name of the message or signal
	OK         bool   `json:"ok"`
	Error      string `json:"error,omitempty"`
	Unknown    bool   `json:"unknown,omitempty"` // it was executed, and may have been lost with the engine's journal
	Key        string `json:"key,omitempty"`     // to ask for the outcome then

	// Unlogged is the number of refused requests before this one of which there is no
	// record: an engine keeps 100 of these at once, and then one a second.
	Unlogged uint64 `json:"unlogged,omitempty"`
}

// Auditor keeps what a source was asked to do, and publishes it. Its methods are safe for concurrent use.
type Auditor struct {
	Conn     *nats.Conn
	Subjects Subjects
	Write    func(Action) error // into the audit log; nil keeps none
	Log      *slog.Logger

	refused lograte.Limit
}

// Keep writes an action into the audit log, and publishes it if it is about a net. What cannot be
// written is logged, so that no record is lost. A client can send any number of requests that are
// refused, so few of these are kept.
func (x *Auditor) Keep(a *Action) {
	if keep := a.OK || a.Unknown; !keep {
		a.Unlogged, keep = x.refused.Take(a.At)
		if !keep {
			return
		}
	}
	a.Clip()
	if x.Write != nil {
		if err := x.Write(*a); err != nil {
			x.Log.Error("audit log not written", "source", a.Source, "net", a.Net, "instance", a.Instance, "place", a.Place, "transition", a.Transition,
				"kind", a.Kind, "by", a.By, "comment", a.Comment, "tokens", a.Tokens, "event", a.Event, "reason", a.Error, "err", err)
		}
	}
	if a.Net == "" {
		return
	}
	text, err := json.Marshal(a)
	if err == nil {
		err = x.Conn.Publish(x.Subjects.Audit(a.Net, a.Source), text)
	}
	if err != nil {
		x.Log.Warn("action not published", "source", a.Source, "net", a.Net, "instance", a.Instance, "err", err)
	}
}

// Audit is where an engine publishes an Action about a net.
func (s Subjects) Audit(net, source string) string {
	return s.join("audit", Escape(net), Escape(source))
}

// Audits matches every Audit subject.
func (s Subjects) Audits() string { return s.join("audit", "*", "*") }

// maxError is the largest Error of an Action, in bytes.
const maxError = 1000

// Clip bounds the texts of an Action, which come from other programs.
func (a *Action) Clip() {
	for text, most := range map[*string]int{&a.By: MaxName, &a.Comment: MaxComment, &a.Source: MaxName, &a.Kind: MaxName, &a.Net: MaxName, &a.Instance: MaxName,
		&a.Place: MaxName, &a.Transition: MaxName, &a.Event: MaxName, &a.Error: maxError, &a.Key: MaxName} {
		*text = stats.Clip(*text, most)
	}
}

// ReadAction decodes a message at an Audit subject. Its net and source are those of the
// subject, which the server has checked. The error has a Reason.
func ReadAction(subjects Subjects, m *nats.Msg) (Action, error) {
	var a Action
	net, source, err := subjects.parse(m.Subject, "an audit's", "audit")
	if err != nil {
		return a, err
	}
	if len(m.Data) > maxAction {
		return a, fmt.Errorf("%w: %d bytes", TooLarge, len(m.Data))
	}
	if err := json.Unmarshal(m.Data, &a); err != nil {
		return a, fmt.Errorf("%w: %w", NotJSON, err)
	}
	if at := a.At.UnixMicro(); at < 0 || at > MaxTime {
		return a, fmt.Errorf("%w: a time of %v", BadValue, a.At)
	}
	a.Net, a.Source, a.At = net, source, a.At.UTC()
	a.Clip()
	return a, nil
}

// maxAction is the largest Action as JSON, in bytes.
const maxAction = 16 << 10
