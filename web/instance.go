// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pnagent/pnagent/act"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/web/api"
)

// Ask requests the contents of an instance from one source. See
// telemetry.AskInstance.
type Ask func(ctx context.Context, net, source, instance string) (*telemetry.Instance, error)

// The limits of requests to engines about an instance.
const (
	askTimeout = 500 * time.Millisecond
	askAtOnce  = 16   // sources
	maxAsked   = 1000 // sources
)

// maxName is the largest name of an instance, in bytes.
const maxName = telemetry.MaxName

func (s *Server) serveInstance(w http.ResponseWriter, r *http.Request, n *netBoard) {
	name := r.URL.Query().Get("instance")
	if name == "" || len(name) > maxName {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("expected the name of an instance of at most %d bytes as &instance=", maxName))
		return
	}
	doc := api.Instance{Instance: name, Seen: s.sightings(n.net, name), Actions: s.actions(n.net.Name, name)}
	var found *telemetry.Instance
	if doc.Source, found, doc.Unanswered = s.askSources(r.Context(), n.net.Name, name); found != nil {
		fill(&doc, n.net.Def, found, s.cfg.Now().UnixMicro())
		doc.Commands, doc.Acts, doc.Tool = act.Commands(n.net.Name, found, ""), actDocuments(act.Requests(n.net.Name, found, "")), found.Tool
	}
	answerJSON(w, &doc)
}

func (s *Server) sightings(n *merge.NetView, instance string) []api.Sighting {
	s.past.RLock()
	defer s.past.RUnlock()
	out := []api.Sighting{}
	for _, seen := range s.history.Sightings(n.Name, instance) {
		if !n.Work(int(seen.Place)) {
			continue
		}
		out = append(out, api.Sighting{Place: n.Def.Places[seen.Place].ID, Injected: api.Time(seen.Injected), FirstSeen: api.Time(seen.FirstSeen),
			LastSeen: api.Time(seen.LastSeen), Gone: seen.Gone, Waits: waits(n.Def, seen.Waits)})
		withText(n.Def, out[len(out)-1].Waits, seen.Waits)
	}
	return out
}

// askSources asks the live sources of a net for an instance: first the one that it is
// named after, then all. Tokens of several parts of the net are joined. Without an answer
// it returns why.
func (s *Server) askSources(ctx context.Context, net, instance string) (from string, found *telemetry.Instance, unanswered string) {
	sources := s.live(net)
	switch {
	case s.cfg.Ask == nil:
		return "", nil, "the sidecar cannot ask engines"
	case len(sources) == 0:
		return "", nil, "no engine of this net is up"
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	if owner := act.Owner(instance); slices.Contains(sources, owner) {
		if found, err := s.cfg.Ask(ctx, net, owner, instance); err == nil {
			return owner, found, ""
		}
	}
	replies := make(chan reply, len(sources)) // room for all: a late reply blocks nothing
	go s.askEach(ctx, net, sources, instance, replies)
	var failed error
	for range sources {
		a := <-replies
		switch {
		case a.err == nil && found == nil:
			from, found = a.source, a.found
		case a.err == nil:
			join(found, a.found)
		case failed == nil || !errors.Is(a.err, telemetry.ErrNoInstance):
			failed = a.err
		}
		if part := found != nil && found.Acts != "" && found.Acts != from; found != nil && !part {
			break // a part of the net may have other tokens of it
		}
	}
	if found == nil {
		unanswered = failed.Error()
		if errors.Is(failed, telemetry.ErrNoInstance) {
			unanswered = fmt.Sprintf("none of the %d engines that are up has this instance", len(sources))
		}
	}
	return from, found, unanswered
}

// join adds the tokens of another part of the net, with times by the clock of the first.
func join(into, from *telemetry.Instance) {
	ahead := into.At - from.At
	for _, t := range from.Tokens {
		t.Injected += ahead
		for i := range t.Waits {
			if t.Waits[i].Until != 0 {
				t.Waits[i].Until += ahead
			}
		}
		into.Tokens = append(into.Tokens, t)
	}
	into.LeftOut += from.LeftOut
}

// reply is the answer of one source.
type reply struct {
	source string
	found  *telemetry.Instance
	err    error
}

// askEach asks the sources, askAtOnce at the same time, until ctx ends. Each
// source has one reply.
func (s *Server) askEach(ctx context.Context, net string, sources []string, instance string, replies chan<- reply) {
	var asking errgroup.Group
	asking.SetLimit(askAtOnce)
	for _, source := range sources {
		asking.Go(func() error {
			a := reply{source: source, err: ctx.Err()}
			if a.err == nil {
				a.found, a.err = s.cfg.Ask(ctx, net, source, instance)
			}
			replies <- a
			return nil
		})
	}
}

// live returns the sources of a net that are up.
func (s *Server) live(net string) []string {
	view := s.board.Load().view
	var out []string
	for i := range view.Sources {
		if src := &view.Sources[i]; src.Net == net && src.State == merge.Up && len(out) < maxAsked {
			out = append(out, src.Name)
		}
	}
	return out
}

// fill adds the answer of a source to the document. Its times are by its clock;
// the document has ages, which do not depend on a clock, and times by this
// sidecar's clock.
func fill(doc *api.Instance, def *petri.Net, found *telemetry.Instance, now int64) {
	held := make([]api.Held, 0, len(found.Tokens))
	for _, t := range worked(def, found.Tokens) {
		age := max(found.At-t.Injected, 0)
		h := api.Held{Place: t.Place, Tokens: t.Tokens, Injected: api.Time(now - age), Age: float64(age) / 1e6, Waits: []api.Wait{}, Data: t.Data}
		for _, wait := range t.Waits {
			if wait.Until != 0 {
				wait.Until += now - found.At
			}
			h.Waits = append(h.Waits, waitDocument(def, &wait))
		}
		held = append(held, h)
	}
	doc.Now, doc.LeftOut = &held, found.LeftOut
}

// worked returns the tokens of an instance that are work, or all if none is.
func worked(def *petri.Net, tokens []telemetry.InstanceToken) []telemetry.InstanceToken {
	aside := map[string]bool{}
	for i := range def.Places {
		aside[def.Places[i].ID] = def.Places[i].Role != petri.RoleWork
	}
	work := slices.DeleteFunc(slices.Clone(tokens), func(t telemetry.InstanceToken) bool { return aside[t.Place] })
	if len(work) == 0 {
		return tokens
	}
	return work
}
