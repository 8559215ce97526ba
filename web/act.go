// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/pnagent/pnagent/act"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/web/api"
)

// Act sends the request of a person to an engine. See act.Client.Do.
type Act func(ctx context.Context, by string, r act.Request) (*act.Outcome, error)

// actPath is the path of requests to engines.
const actPath = "/api/v1/act"

// actTimeout is the time limit for finding an instance and acting on it.
const actTimeout = 12 * time.Second

var (
	// errUnproven is the error of a client that has not authenticated.
	errUnproven = errors.New("requests to engines are taken from clients that authenticate; expected basic_auth_users or client certificates in --web.config.file")
	// errRefused is wrapped by the error of a request that the engine refused, or would.
	errRefused = errors.New("refused")
)

// actDocuments returns requests for JSON.
func actDocuments(requests []act.Request) []api.Act {
	var out []api.Act
	for _, r := range requests {
		d := api.Act{Verb: string(r.Verb), Net: r.Net, Instance: r.Instance, Transition: r.Element}
		if r.Verb == act.Inject {
			d.Place, d.Transition, d.Tokens = r.Element, "", r.Tokens
		}
		out = append(out, d)
	}
	return out
}

// act acts on an instance.
func (c *change) act() (made, error) {
	if c.do == nil || !c.proven {
		return made{}, errUnproven
	}
	var a api.Act
	if err := c.read(&a); err != nil {
		return made{}, err
	}
	r := act.Request{Verb: act.Verb(a.Verb), Net: a.Net, Instance: a.Instance, Element: a.Transition, Tokens: a.Tokens, Source: a.Source, Comment: a.Comment, DryRun: a.DryRun}
	switch r.Verb {
	case act.Fire, act.Retry:
	case act.Inject:
		r.Element = a.Place
	default:
		return made{}, fmt.Errorf("%w: verb %q; expected fire, inject or retry", errBody, a.Verb)
	}
	if err := r.Check(); err != nil {
		return made{}, fmt.Errorf("%w: %w", errBody, err)
	}
	out, err := c.do(c.ctx, c.by, r)
	m := made{tried: true, answer: acted(a, out, c.def(out.Net)), said: "acted on an instance", about: []any{"verb", a.Verb, "net", out.Net, "instance", a.Instance, "source", out.Source,
		"place", out.Place, "transition", out.Transition, "tokens", out.Tokens, "dryRun", a.DryRun, "comment", a.Comment}}
	if err != nil {
		m.about = append(m.about, "err", err)
		if !errors.Is(err, act.ErrUnknown) {
			err = fmt.Errorf("%w: %w", errRefused, err)
		}
	}
	return m, err
}

// acted returns the outcome of a request for JSON.
func acted(a api.Act, out *act.Outcome, def *petri.Net) *api.Acted {
	d := &api.Acted{Act: a, Held: []api.Waiting{}}
	d.Net, d.Source, d.Place, d.Transition = out.Net, out.Source, out.Place, out.Transition
	for _, h := range out.Held {
		held := api.Waiting{Place: h.Place, Tokens: h.Tokens, Age: h.Age}
		if w := h.Wait; w != nil {
			held.Wait = new(waitDocument(def, w))
		}
		d.Held = append(d.Held, held)
	}
	return d
}

// waitDocument returns a wait of a source for JSON, with its text.
func waitDocument(def *petri.Net, w *telemetry.InstanceWait) api.Wait {
	return api.Wait{Transition: w.Transition, Place: w.Place, Reason: stats.ReasonNamed(w.Reason).String(), Count: w.Count, Until: api.Time(w.Until), What: w.What, Text: act.WaitText(def, w)}
}

// defOf returns the definition of a net; an empty one if there is none.
func (s *Server) defOf(net string) *petri.Net {
	if n := s.board.Load().nets[net]; n != nil {
		return n.net.Def
	}
	return &petri.Net{}
}

// statusOfAct returns the status of an error of act; 0 for another error.
func statusOfAct(err error) int {
	switch {
	case errors.Is(err, errUnproven):
		return http.StatusForbidden
	case errors.Is(err, act.ErrUnknown):
		return http.StatusGatewayTimeout
	case errors.Is(err, errRefused):
		return http.StatusConflict
	}
	return 0
}
