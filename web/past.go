// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"net/http"
	"time"

	"github.com/pnagent/pnagent/history"
	"github.com/pnagent/pnagent/stats"
)

// serveHistory answers with a frame as it was.
func (s *Server) serveHistory(w http.ResponseWriter, r *http.Request) {
	n := s.netOf(w, r)
	if n == nil {
		return
	}
	at, err := time.Parse(time.RFC3339, r.URL.Query().Get("at"))
	if err != nil {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("at=%q; expected a time such as 2026-03-01T12:00:00Z", r.URL.Query().Get("at")))
		return
	}
	past, _ := s.pastOf(n.net.Name)
	f, before := past.At(at.UnixMicro())
	if f == nil {
		refuse(w, http.StatusNotFound, fmt.Sprintf("nothing is kept of net %q at or before %s", n.net.Name, at.UTC().Format(time.RFC3339)))
		return
	}
	answer(w, r, "application/json", append(appendFrame(nil, pastFrame(n, f, before)), '\n'))
}

// pastOf returns what is kept of a net, and the step at which that goes on.
func (s *Server) pastOf(net string) (*history.Past, time.Duration) {
	s.past.RLock()
	defer s.past.RUnlock()
	return s.history.Past(net), s.history.Step()
}

// pastFrame returns what was kept as a frame of the net as it is drawn now.
// Rows that the net got later are not known.
func pastFrame(n *netBoard, kept, before *history.Frame) *frame {
	f := &frame{net: n.net.Name, drawing: n.drawing.hash, at: kept.At / 1000, columns: kept.Columns,
		places: make([]placeCells, len(kept.Places)), transitions: make([]transitionCells, len(kept.Transitions)),
		laterPlaces: len(n.net.Rows.Places) - len(kept.Places), laterTransitions: len(n.net.Rows.Transitions) - len(kept.Transitions)}
	if before == nil {
		before = &history.Frame{At: kept.At}
	}
	micros := kept.At - before.At
	for i, p := range kept.Places {
		f.places[i] = placeCells{tokens: p.Tokens, oldest: p.Oldest / 1000, instances: p.Instances, arrivals: unknownRate}
		if i < len(before.Places) {
			f.places[i].arrivals = rateOf(before.Places[i].Arrivals, p.Arrivals, micros)
		}
	}
	for i, t := range kept.Transitions {
		f.transitions[i] = transitionCells{rate: unknownRate, enabled: t.Enabled, since: t.EnabledSince / 1000, running: t.Running,
			blocked: t.Blocked, failures: t.Failures}
		if i < len(before.Transitions) {
			f.transitions[i].rate = rateOf(before.Transitions[i].Firings, t.Firings, micros)
		}
	}
	return f
}

// rateOf is that of a counter over some microseconds.
func rateOf(before, now uint64, micros int64) rate {
	if micros <= 0 || now < before {
		return unknownRate
	}
	return rounded(float64(now-before) / float64(micros) * 1e6)
}

func (s *Server) placeSeries(net string, place int) seriesDoc {
	past, step := s.pastOf(net)
	d := seriesDoc{Step: step.Seconds(), Points: [][]any{}}
	for _, p := range past.Place(place) {
		d.Points = append(d.Points, []any{p.At / 1000, orNull(p.Columns.Has(stats.ColTokens), p.Tokens),
			orNull(p.Columns.Has(stats.ColOldest), ageAt(p.Oldest, p.At))})
	}
	return d
}

func (s *Server) transitionSeries(net string, transition int) seriesDoc {
	past, step := s.pastOf(net)
	d := seriesDoc{Step: step.Seconds(), Points: [][]any{}}
	var before *history.TransitionPoint
	for _, p := range past.Transition(transition) {
		r := unknownRate
		if before != nil {
			r = rateOf(before.Firings, p.Firings, p.At-before.At)
		}
		before = &p
		d.Points = append(d.Points, []any{p.At / 1000, orNull(r != unknownRate && p.Columns.Has(stats.ColFirings), r),
			orNull(p.Columns.Has(stats.ColRunning), p.Running)})
	}
	return d
}

func orNull(known bool, v any) any {
	if !known {
		return nil
	}
	return v
}
