// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// Acting is how people act on the instances through pnagent. Without Retry they do not.
type Acting struct {
	// Retry makes the engine try again what a token waits for, which is an incident. An error says
	// that it did not, unless the context has ended: then that is not known.
	Retry func(ctx context.Context, t *Token) error

	// Audit keeps an action, before it is answered. Nil keeps none.
	Audit func(telemetry.Action) error
}

// Limits of requests.
const (
	actTimeout = 5 * time.Second // for an engine, before the client gives up
	maxAsked   = 64              // requests of one net that wait
	maxRequest = 64 << 10        // bytes
)

var errRetryOnly = errors.New("it takes no such request: of this engine, pnagent can only retry an incident")

// listen subscribes to the requests about a net.
func (s *Source) listen(l *Ledger) error {
	if s.cfg.Retry == nil {
		return nil
	}
	for _, kind := range []string{"fire", "inject"} {
		subject := fmt.Sprintf("%s.%s.%s.%s", s.cfg.Subjects.Prefix(), kind, telemetry.Escape(l.net.Def.ID), telemetry.Escape(s.cfg.Source))
		sub, err := s.cfg.Conn.Subscribe(subject, func(m *nats.Msg) { s.asked(l, kind, m) })
		if err == nil {
			s.requests = append(s.requests, sub)
			err = sub.SetPendingLimits(maxAsked, maxAsked*maxRequest)
		}
		if err != nil {
			return fmt.Errorf("subscribing to requests to %s: %w", kind, err)
		}
	}
	return nil
}

// asked executes, keeps and answers a request.
func (s *Source) asked(l *Ledger, kind string, m *nats.Msg) {
	ctx, cancel := context.WithTimeout(context.Background(), actTimeout)
	defer cancel()
	a := telemetry.Action{Kind: kind, Source: s.cfg.Source, Net: l.net.Def.ID, Who: telemetry.WhoOf(m)}
	err := s.act(ctx, l, &a, m.Data)
	a.At, a.OK, a.Unknown = time.Now().UTC(), err == nil, ctx.Err() != nil
	if err != nil {
		a.Error = err.Error()
	}
	s.audit.Keep(&a)
	answer, _ := json.Marshal(struct { // strings and booleans always marshal
		OK      bool   `json:"ok,omitempty"`
		Error   string `json:"error,omitempty"`
		Unknown bool   `json:"unknown,omitempty"`
	}{a.OK, a.Error, a.Unknown})
	if m.Reply != "" {
		_ = m.Respond(answer) // the client may have gone
	}
}

// act does what a request says, and writes into an Action what it is about.
func (s *Source) act(ctx context.Context, l *Ledger, a *telemetry.Action, body []byte) error {
	var r struct {
		Instance   string
		Place      string
		Transition string
		Tokens     uint64
		Scope      *uint32
		Data       json.RawMessage
		Outcome    string
	}
	if len(body) > maxRequest {
		return fmt.Errorf("request of %d bytes; expected at most %d", len(body), maxRequest)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return fmt.Errorf("%w; expected {\"instance\":…,\"transition\":…}", err)
	}
	a.Instance, a.Place, a.Transition, a.Tokens = r.Instance, r.Place, r.Transition, r.Tokens
	if a.Kind != "fire" || r.Scope != nil || r.Data != nil || r.Outcome != "" {
		return errRetryOnly
	}
	tokens := s.show(l).incidents(r.Instance, r.Transition)
	if len(tokens) == 0 {
		return fmt.Errorf("no token of %q is an incident at %q, as of the last poll; %w", r.Instance, r.Transition, errRetryOnly)
	}
	for i := range tokens {
		if err := s.cfg.Retry(ctx, &tokens[i]); err != nil {
			return err
		}
	}
	return nil
}

// incidents returns the tokens of an instance, by its id or its name, that wait for a transition as an
// incident.
func (p *published) incidents(instance, transition string) (tokens []Token) {
	for _, t := range p.tokens {
		waits := slices.ContainsFunc(t.Waits, func(w stats.Wait) bool {
			return w.Reason == stats.ReasonIncident && p.def.Transitions[w.Transition].ID == transition
		})
		if waits && (t.Instance == instance || t.Name() == instance) {
			tokens = append(tokens, t)
		}
	}
	return tokens
}
