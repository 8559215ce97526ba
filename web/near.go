// SPDX-License-Identifier: Apache-2.0

package web

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strconv"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/draw"
)

const (
	mostSteps = 5
	// nearMost is the largest number of nodes that are laid out for one request. More
	// are shown as the whole net is drawn.
	nearMost = 300
)

// serveNear answers with a drawing of the nodes around the place or transition that
// a request names.
func (s *Server) serveNear(w http.ResponseWriter, r *http.Request, n *netBoard) {
	q := r.URL.Query()
	steps, err := strconv.Atoi(q.Get("steps"))
	if err != nil || steps < 1 || steps > mostSteps {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("expected 1 to %d as &steps=", mostSteps))
		return
	}
	place, transition := q.Get("place"), q.Get("transition")
	aspect, whole := draw.Wide, n.drawing.text
	if q.Has("upright") {
		aspect, whole = upright, n.drawing.tall
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %q %q %v", steps, place, transition, aspect))
	if unchanged(w, r, fmt.Sprintf(`"%s-%x"`, n.drawing.hash, sum[:6])) {
		return
	}
	near := around(n.net.Def, place, transition, steps)
	switch {
	case len(near) == 0:
		refuse(w, http.StatusNotFound, fmt.Sprintf("there is no place %q or transition %q in net %q", place, transition, n.net.Name))
	case len(near) > nearMost:
		answer(w, "application/json", whole())
	default:
		answer(w, "application/json", nearText(n, near, aspect))
	}
}

// around returns the ids of the nodes that are at most some arcs away from a place or
// a transition, in either direction; none if the net does not have it.
func around(def *petri.Net, place, transition string, steps int) map[string]bool {
	near := map[string]bool{}
	for i := range def.Places {
		near[def.Places[i].ID] = place != "" && def.Places[i].ID == place
	}
	for i := range def.Transitions {
		near[def.Transitions[i].ID] = place == "" && def.Transitions[i].ID == transition
	}
	for range steps {
		var next []string
		for i := range def.Arcs {
			if a := &def.Arcs[i]; near[a.Source] != near[a.Target] {
				next = append(next, a.Source, a.Target)
			}
		}
		for _, id := range next {
			near[id] = true
		}
	}
	for id, is := range near {
		if !is {
			delete(near, id)
		}
	}
	return near
}

// nearText returns the drawing of some nodes of a net as JSON.
func nearText(n *netBoard, near map[string]bool, aspect float64) []byte {
	def := *n.net.Def
	def.Places, def.Transitions, def.Arcs = nil, nil, nil
	var final []bool
	for i := range n.net.Def.Places {
		if p := n.net.Def.Places[i]; near[p.ID] {
			def.Places, final = append(def.Places, p), append(final, n.net.IsFinal(i))
		}
	}
	for _, t := range n.net.Def.Transitions {
		if near[t.ID] {
			def.Transitions = append(def.Transitions, t)
		}
	}
	for _, a := range n.net.Def.Arcs {
		if near[a.Source] && near[a.Target] {
			def.Arcs = append(def.Arcs, a)
		}
	}
	return drawingText(&drawing{def: &def, hash: n.drawing.hash, final: func(place int) bool { return final[place] }, model: func() *model { return nil }}, draw.Net(&def, aspect))
}
