// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// Ask asks one source what is in an instance. See telemetry.AskInstance.
type Ask func(ctx context.Context, net, source, instance string) (*telemetry.Instance, error)

// How engines are asked about an instance.
const (
	askTimeout = 500 * time.Millisecond
	askAtOnce  = 16   // sources
	maxAsked   = 1000 // sources
)

// maxName is how long the name of an instance may be.
const maxName = telemetry.MaxName

type instanceDoc struct {
	Instance   string        `json:"instance"`
	Now        *[]heldNow    `json:"now,omitempty"`
	Source     string        `json:"source,omitempty"` // that answered
	LeftOut    uint64        `json:"left_out,omitempty"`
	Unanswered string        `json:"unanswered,omitempty"`
	Seen       []sightingDoc `json:"seen"`
}

// heldNow are tokens of one place that were injected at one time.
type heldNow struct {
	Place    string    `json:"place"`
	Tokens   uint64    `json:"tokens"`
	Injected time.Time `json:"injected"`
	Age      float64   `json:"age"`
	Waits    []waitDoc `json:"waits"`
}

type sightingDoc struct {
	Place     string    `json:"place"`
	Injected  time.Time `json:"injected"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	Gone      bool      `json:"gone"`
	Waits     []waitDoc `json:"waits"`
}

func (s *Server) serveInstance(w http.ResponseWriter, r *http.Request) {
	n := s.netOf(w, r)
	if n == nil {
		return
	}
	name := r.URL.Query().Get("instance")
	if name == "" || len(name) > maxName {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("expected the name of an instance of at most %d bytes as &instance=", maxName))
		return
	}
	doc := instanceDoc{Instance: name, Seen: s.sightings(n.net, name)}
	s.askAround(r.Context(), n.net, &doc)
	answerJSON(w, r, &doc)
}

func (s *Server) sightings(n *collector.Net, instance string) []sightingDoc {
	s.past.RLock()
	defer s.past.RUnlock()
	out := []sightingDoc{}
	for _, seen := range s.history.Sightings(n.Name, instance) {
		out = append(out, sightingDoc{n.Def.Places[seen.Place].ID, moment(seen.Injected), moment(seen.FirstSeen), moment(seen.LastSeen),
			seen.Gone, waitDocs(n.Def, seen.Waits)})
	}
	return out
}

// askAround asks all sources of a net that live, and takes the first answer of
// one that has the instance.
func (s *Server) askAround(ctx context.Context, n *collector.Net, doc *instanceDoc) {
	sources := s.live(n.Name)
	switch {
	case s.cfg.Ask == nil:
		doc.Unanswered = "engines cannot be asked"
		return
	case len(sources) == 0:
		doc.Unanswered = "no engine of this net is heard"
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	replies := make(chan reply, len(sources)) // room for all: who is late waits for nobody
	go s.askEach(ctx, n.Name, sources, doc.Instance, replies)
	var failed error
	for range sources {
		a := <-replies
		if a.err == nil {
			doc.Source = a.source
			doc.fill(n.Def, a.found, s.cfg.Now().UnixMicro())
			return
		}
		if failed == nil || !errors.Is(a.err, telemetry.ErrNoInstance) {
			failed = a.err
		}
	}
	if doc.Unanswered = failed.Error(); errors.Is(failed, telemetry.ErrNoInstance) {
		doc.Unanswered = fmt.Sprintf("none of the %d engines that are heard has this instance", len(sources))
	}
}

// reply is what one source answered.
type reply struct {
	source string
	found  *telemetry.Instance
	err    error
}

// askEach asks sources, so many at once, until ctx ends. There is a reply of
// each.
func (s *Server) askEach(ctx context.Context, net string, sources []string, instance string, replies chan<- reply) {
	slots := make(chan struct{}, askAtOnce)
	for _, source := range sources {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
		}
		if err := ctx.Err(); err != nil {
			replies <- reply{source, nil, err}
			continue
		}
		go func() {
			defer func() { <-slots }()
			found, err := s.cfg.Ask(ctx, net, source, instance)
			replies <- reply{source, found, err}
		}()
	}
}

// live returns the sources of a net that are heard.
func (s *Server) live(net string) []string {
	view := s.board.Load().view
	var out []string
	for i := range view.Sources {
		if src := &view.Sources[i]; src.Net == net && src.State == collector.Up && len(out) < maxAsked {
			out = append(out, src.Name)
		}
	}
	return out
}

// fill takes over what a source answered. Its times are by its clock; what is
// shown are ages, which are the same by any, and times by our clock.
func (doc *instanceDoc) fill(def *petri.Net, found *telemetry.Instance, now int64) {
	held := make([]heldNow, 0, len(found.Tokens))
	for _, t := range found.Tokens {
		age := max(found.At-t.Injected, 0)
		h := heldNow{Place: t.Place, Tokens: t.Tokens, Injected: moment(now - age), Age: float64(age) / 1e6, Waits: []waitDoc{}}
		for _, wait := range t.Waits {
			until := wait.Until
			if until != 0 {
				until += now - found.At
			}
			h.Waits = append(h.Waits, newWaitDoc(wait.Transition, wait.Place, nameOf(def, wait.Place), stats.ReasonNamed(wait.Reason), wait.Count, until))
		}
		held = append(held, h)
	}
	doc.Now, doc.LeftOut = &held, found.LeftOut
}

// nameOf is what to call a place that an engine names.
func nameOf(def *petri.Net, id string) string {
	if i := indexOf(def.Places, id, func(p *petri.Place) string { return p.ID }); i >= 0 && def.Places[i].Name != "" {
		return def.Places[i].Name
	}
	return id
}
