// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"
	"slices"

	"github.com/pnagent/pnagent/web/api"
)

// servePlaceThen answers with what is known of a place at a moment of the past, and the hour
// before it.
func (s *Server) servePlaceThen(w http.ResponseWriter, r *http.Request, n *netBoard, i int) {
	f, at := s.frameAt(w, r, n)
	if f == nil {
		return
	}
	p := &n.net.Def.Places[i]
	doc := api.PlaceDetail{Place: api.Place{ID: p.ID, Name: p.Name, Called: called(p.Called), Final: n.net.IsFinal(i), Resting: slices.Contains(n.resting, i), Role: bookkeeping(p.Role), PlaceNow: f.Places[i]}, At: f.At, Archive: f.Archive}
	doc.OldestAge = ageThen(doc.Numbers(), f.At)
	if f.Archive {
		series, err := s.cfg.Archive.PlaceSeries(r.Context(), n.net.Name, p.ID, at)
		if err != nil {
			refuseOlder(w, err)
			return
		}
		doc.Series = *series
	} else {
		past, step := s.pastOf(n.net.Name)
		doc.Series, doc.Stuck = placeSeries(past.Until(at), step, i), s.seenAt(n, i, int64(f.At))
	}
	answerJSON(w, &doc)
}

// ageThen returns the age of the time among the numbers of a row at a moment; nil without one.
func ageThen(numbers []any, at api.Time) *float64 {
	for _, n := range numbers {
		if since, is := n.(*api.Time); is && *since != 0 {
			return new(ageAt(int64(*since), int64(at)))
		}
	}
	return nil
}

// seenAt returns the oldest tokens of a place at a moment of the history. What they waited
// for then is not known. It returns nil for a final place, or if none were seen.
func (s *Server) seenAt(n *netBoard, place int, at int64) *[]api.Token {
	s.past.RLock()
	seen := s.history.SeenAt(n.net.Name, place, at)
	s.past.RUnlock()
	if len(seen) == 0 || n.net.IsFinal(place) {
		return nil
	}
	out := make([]api.Token, len(seen))
	for i, t := range seen {
		out[i] = api.Token{Instance: t.Instance, Injected: api.Time(t.Injected), Age: ageAt(t.Injected, at)}
	}
	return &out
}

// serveTransitionThen answers with what is known of a transition, as servePlaceThen does.
func (s *Server) serveTransitionThen(w http.ResponseWriter, r *http.Request, n *netBoard, i int) {
	f, at := s.frameAt(w, r, n)
	if f == nil {
		return
	}
	t := &n.net.Def.Transitions[i]
	doc := api.TransitionDetail{Transition: api.Transition{ID: t.ID, Name: t.Name, Called: called(t.Called), Role: bookkeeping(t.Role), TransitionNow: f.Transitions[i]}, At: f.At, Archive: f.Archive}
	doc.EnabledAge = ageThen(doc.Numbers(), f.At)
	if f.Archive {
		series, err := s.cfg.Archive.TransitionSeries(r.Context(), n.net.Name, t.ID, at)
		if err != nil {
			refuseOlder(w, err)
			return
		}
		doc.Series = *series
	} else {
		past, step := s.pastOf(n.net.Name)
		doc.Series = transitionSeries(past.Until(at), step, i)
	}
	answerJSON(w, &doc)
}
