// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/pnagent/pnagent/collector/history"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/web/api"
)

// serveHistory answers with a frame of the past.
func (s *Server) serveHistory(w http.ResponseWriter, r *http.Request, n *netBoard) {
	if f, _ := s.frameAt(w, r, n); f != nil {
		answerJSON(w, f)
	}
}

// frameAt returns the frame of the time that a request names, and that time, or answers
// with an error and returns nil.
func (s *Server) frameAt(w http.ResponseWriter, r *http.Request, n *netBoard) (*api.Frame, int64) {
	at, ok := momentOf(w, r)
	if !ok {
		return nil, 0
	}
	f, err := s.keptFrame(r.Context(), n, at)
	if err != nil {
		refuseOlder(w, err)
		return nil, 0
	}
	return f, at
}

// keptFrame returns the newest frame at or before a time, of the history or of the archive.
func (s *Server) keptFrame(ctx context.Context, n *netBoard, at int64) (*api.Frame, error) {
	past, _ := s.pastOf(n.net.Name)
	if f := past.At(at); f != nil {
		return pastFrame(n, f), nil
	}
	if s.cfg.Archive != nil {
		return s.olderFrame(ctx, n, at)
	}
	return nil, fmt.Errorf("no frame of net %q at or before %s: %w", n.net.Name, clock(at), api.ErrNothing)
}

// momentOf returns the parameter at in microseconds since the Unix epoch. Without one it
// answers with an error.
func momentOf(w http.ResponseWriter, r *http.Request) (at int64, ok bool) {
	text := r.URL.Query().Get("at")
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("at=%q; expected a time such as 2026-03-01T12:00:00Z", text))
		return 0, false
	}
	return t.UnixMicro(), true
}

// clock returns a time for people.
func clock(at int64) string { return time.UnixMicro(at).UTC().Format(time.RFC3339) }

// pastOf returns what is kept of a net, and the current step.
func (s *Server) pastOf(net string) (*history.Past, time.Duration) {
	s.past.RLock()
	defer s.past.RUnlock()
	return s.history.Past(net), s.history.Step()
}

// pastFrame returns a kept frame for the current drawing of the net. Rows that the
// net got later are empty.
func pastFrame(n *netBoard, kept *history.Frame) *api.Frame {
	f := newFrame(kept.NetView, n.drawing.hash, n.resting, 0, kept.At).Frame
	f.Net = n.net.Name
	f.Places = append(f.Places, make([]api.PlaceNow, len(n.net.Rows.Places)-len(f.Places))...)
	f.Transitions = append(f.Transitions, make([]api.TransitionNow, len(n.net.Rows.Transitions)-len(f.Transitions))...)
	return &f
}

func placeSeries(past *history.Past, step time.Duration, place int) api.Series {
	d := api.Series{Step: step.Seconds(), Points: [][]*float64{}}
	for _, p := range past.Place(place) {
		d.Points = append(d.Points, []*float64{millis(p.At), known(p.Columns, stats.ColTokens, float64(p.Tokens)),
			known(p.Columns, stats.ColOldest, ageAt(p.Oldest, p.At))})
	}
	return d
}

func transitionSeries(past *history.Past, step time.Duration, transition int) api.Series {
	d := api.Series{Step: step.Seconds(), Points: [][]*float64{}}
	for _, p := range past.Transition(transition) {
		var fired *float64
		if p.Columns.Has(stats.ColFirings) {
			fired = rate(p.Rate)
		}
		d.Points = append(d.Points, []*float64{millis(p.At), fired, known(p.Columns, stats.ColRunning, float64(p.Running))})
	}
	return d
}

// millis returns a time in milliseconds since the Unix epoch.
func millis(micros int64) *float64 {
	return new(float64(micros / 1000))
}
