// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"net/http"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/web/api"
)

func (s *Server) servePlace(w http.ResponseWriter, r *http.Request, n *netBoard) {
	id := r.URL.Query().Get("place")
	i := indexOf(n.net.Def.Places, id, func(p *petri.Place) string { return p.ID })
	if i < 0 {
		refuse(w, http.StatusNotFound, fmt.Sprintf("there is no place %q in net %q", id, n.net.Name))
		return
	}
	if r.URL.Query().Has("at") {
		s.servePlaceThen(w, r, n, i)
		return
	}
	past, step := s.pastOf(n.net.Name)
	doc := api.PlaceDetail{Place: placeDocument(n.net, i, s.board.Load().alarms, s.cfg.Now().UnixMicro()), Series: placeSeries(past, step, i)}
	row := &n.net.Rows.Places[i]
	withBuckets(doc.Dwell, &row.Dwell)
	if doc.Stuck != nil {
		for k := range *doc.Stuck {
			withText(n.net.Def, (*doc.Stuck)[k].Waits, row.Stuck[k].Waits)
		}
	}
	if doc.Reasons != nil {
		for k := range *doc.Reasons {
			withText(n.net.Def, (*doc.Reasons)[k].Oldest.Waits, row.Groups[k].Oldest.Waits)
		}
	}
	s.actOn(r.Context(), n.net.Name, &doc)
	answerJSON(w, &doc)
}

func (s *Server) serveTransition(w http.ResponseWriter, r *http.Request, n *netBoard) {
	id := r.URL.Query().Get("transition")
	def, rows := n.net.Def, n.net.Rows
	i := indexOf(def.Transitions, id, func(t *petri.Transition) string { return t.ID })
	if i < 0 {
		refuse(w, http.StatusNotFound, fmt.Sprintf("there is no transition %q in net %q", id, n.net.Name))
		return
	}
	if r.URL.Query().Has("at") {
		s.serveTransitionThen(w, r, n, i)
		return
	}
	past, step := s.pastOf(n.net.Name)
	doc := api.TransitionDetail{Transition: transitionDocument(n.net, i, s.cfg.Now().UnixMicro()), Series: transitionSeries(past, step, i)}
	withBuckets(doc.Duration, &rows.Transitions[i].Duration)
	if rows.Columns.Has(stats.ColBlocks) {
		blocks := []api.Block{}
		for k := range rows.Blocks {
			if b := &rows.Blocks[k]; int(b.Transition) == i {
				_, name := placeNames(def, b.Place)
				d := blockDocument(def, b)
				d.Text = b.Reason.Words(name, 0, def.Transitions[i].Called.Awaits())
				blocks = append(blocks, d)
			}
		}
		doc.Blocks = &blocks
	}
	answerJSON(w, &doc)
}

// indexOf returns the index of the element with an id, or -1.
func indexOf[T any](all []T, id string, idOf func(*T) string) int {
	for i := range all {
		if idOf(&all[i]) == id {
			return i
		}
	}
	return -1
}

// withText adds texts for people to waits.
func withText(def *petri.Net, documents []api.Wait, waits []stats.Wait) {
	for i, w := range waits {
		_, name := placeNames(def, w.Place)
		documents[i].Text = w.Text(w.Reason.Words(name, w.Count, def.Transitions[w.Transition].Called.Awaits()))
	}
}

// withBuckets adds the buckets of a histogram to its document, which may be nil.
func withBuckets(d *api.Histogram, h *stats.Histogram) {
	if d == nil {
		return
	}
	if h.Zero > 0 {
		d.Buckets = append(d.Buckets, [2]float64{stats.ZeroThreshold, float64(h.Zero)})
	}
	for _, b := range h.Buckets {
		d.Buckets = append(d.Buckets, [2]float64{stats.UpperBound(h.Schema, b.Index), float64(b.N)})
	}
}
