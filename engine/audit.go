// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/telemetry"
)

// audit writes the result of a request into the audit log, before it is answered, and
// publishes it. What cannot be written is logged, so that no record of it is lost. The
// request is done or refused in any case. A client can send any number of requests that
// are refused, so records of these are bounded.
func (e *Engine) audit(nc *nats.Conn, subjects telemetry.Subjects, a *telemetry.Action, failed error) {
	if a.Kind == "" {
		return
	}
	a.At, a.OK = time.Now().UTC(), failed == nil
	if failed != nil {
		refused := refusalOf(failed)
		a.Error, a.Unknown, a.Key = refused.Error, refused.Unknown, refused.Key
		if keep := a.Unknown; !keep {
			a.Unlogged, keep = e.refused.Take(a.At)
			if !keep {
				return
			}
		}
	}
	a.Clip()
	if e.cfg.Audit != nil {
		if err := e.cfg.Audit(*a); err != nil {
			e.cfg.Log.Error("audit log not written", "source", a.Source, "net", a.Net, "instance", a.Instance, "place", a.Place, "transition", a.Transition,
				"kind", a.Kind, "by", a.By, "comment", a.Comment, "tokens", a.Tokens, "event", a.Event, "reason", a.Error, "err", err)
		}
	}
	if a.Net == "" {
		return
	}
	text, err := json.Marshal(a)
	if err == nil {
		err = nc.Publish(subjects.Audit(a.Net, a.Source), text)
	}
	if err != nil {
		e.cfg.Log.Warn("action not published", "source", a.Source, "net", a.Net, "instance", a.Instance, "err", err)
	}
}
