// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"net/http"

	"github.com/pnagent/pnagent/act"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/web/api"
)

// Audit returns what people did, the newest first: all, or to a net, or to an instance
// of it. See act.Trail.
type Audit func(net, instance string) []telemetry.Action

func (s *Server) serveActions(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	answerJSON(w, &api.Actions{Actions: s.actions(q.Get("net"), q.Get("instance"))})
}

func (s *Server) actions(net, instance string) []api.Action {
	out := []api.Action{}
	if s.cfg.Audit == nil {
		return out
	}
	for _, a := range s.cfg.Audit(net, instance) {
		out = append(out, api.Action{At: api.Time(a.At.UnixMicro()), Source: a.Source, Kind: a.Kind, By: a.By, Comment: a.Comment, Net: a.Net, Instance: a.Instance,
			Place: a.Place, Transition: a.Transition, Tokens: a.Tokens, Event: a.Event, OK: a.OK, Error: a.Error})
	}
	return out
}

// actOn adds to a place the command lines for its oldest token.
func (s *Server) actOn(ctx context.Context, net string, doc *api.PlaceDetail) {
	if doc.Stuck == nil || len(*doc.Stuck) == 0 {
		return
	}
	if _, found, _ := s.askSources(ctx, net, (*doc.Stuck)[0].Instance); found != nil {
		doc.Commands, doc.Acts, doc.Tool = act.Commands(net, found, doc.ID), actDocuments(act.Requests(net, found, doc.ID)), found.Tool
	}
}
