// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/web/api"
)

const (
	// maxListed is how many sources, and how many alarms, an overview lists.
	maxListed = 1000
	// maxSilences is how many silences it lists.
	maxSilences = 100
)

// overviewText returns the overview as of the View, as JSON.
func (b *board) overviewText() []byte { return encoded(b.overviewDocument()) }

func (b *board) overviewDocument() *api.Overview {
	v := b.view
	d := api.Overview{At: api.Time(v.At), Generation: v.Generation, Nets: make([]api.NetOverview, len(v.Nets)), Sources: b.sources(), Alarms: []api.Alarm{},
		NATS: connection(v.NATS), Up: connection(v.Up), AgentX: master(v.AgentX), Interrupted: v.Interrupted, Actions: b.actions, Acts: b.acts, Links: b.links,
		Sidecar: b.sidecar, Refused: refusedSources(v.Sources), Skewed: skewedSources(v.Sources), Pace: v.Pace.Seconds()}
	d.Silences = silenceDocuments(b.alarms.Silences[:min(len(b.alarms.Silences), maxSilences)])
	d.SilencesLeftOut = len(b.alarms.Silences) - len(d.Silences)
	d.SourcesLeftOut = len(v.Sources) - len(d.Sources)
	d.History = b.kept()
	perNet, names := map[string]counted{}, namesOf(v)
	for i := range b.alarms.Active {
		a := &b.alarms.Active[i]
		perNet[a.Net] = perNet[a.Net].and(a)
		if len(d.Alarms) < maxListed {
			d.Alarms = append(d.Alarms, alarmDocument(a, v.At))
			names.name(&d.Alarms[len(d.Alarms)-1])
		}
	}
	d.AlarmsLeftOut = len(b.alarms.Active) - len(d.Alarms)
	for i, n := range v.Nets {
		of := perNet[n.Name]
		d.Nets[i] = api.NetOverview{NetTotals: netTotals(n, b.alarms, v.At), Alarms: of.all, Follow: of.follow, Unknown: of.unknown}
		if n.Def.Words().Kind != "net" {
			d.Nets[i].Kind = n.Def.Words().Kind
		}
		if _, place := b.alarms.Oldest(n); d.Nets[i].OldestPlace != "" {
			p := &n.Def.Places[place]
			d.Nets[i].OldestCalled, d.Nets[i].OldestName = called(p.Called), p.Name
		}
		if drawn := b.nets[n.Name]; drawn != nil {
			d.Nets[i].Drawing = drawn.drawing.hash
		}
	}
	return &d
}

// counted is how many alarms a net has.
type counted struct{ all, follow, unknown int }

// and returns the counts with one alarm more.
func (c counted) and(a *alarm.Alarm) counted {
	c.all++
	switch {
	case a.Follows != "":
		c.follow++
	case a.Unknown != "":
		c.unknown++
	}
	return c
}

// serveOverview answers with the overview as of now, or as of a moment of the past.
func (s *Server) serveOverview(w http.ResponseWriter, r *http.Request) {
	if !r.URL.Query().Has("at") {
		answer(w, "application/json", s.board.Load().text())
		return
	}
	at, ok := momentOf(w, r)
	if !ok {
		return
	}
	s.past.RLock()
	view, alarms := s.history.Moment(at)
	s.past.RUnlock()
	now := s.board.Load()
	switch {
	case view != nil:
		answerJSON(w, (&board{view: view, alarms: alarms, nets: now.nets, history: now.history, links: now.links}).overviewDocument())
	case s.cfg.Archive == nil:
		refuse(w, http.StatusNotFound, "nothing is kept at or before "+clock(at))
	default:
		d, err := s.olderOverview(r.Context(), at)
		if err != nil {
			refuseOlder(w, err)
			return
		}
		answerJSON(w, d)
	}
}

// kept describes what is kept of the past; nil for nothing.
func (b *board) kept() *api.Kept {
	if b.history.to == 0 {
		return nil
	}
	return &api.Kept{From: api.Time(b.history.from), To: api.Time(b.history.to), Step: b.history.step.Seconds(), Archive: b.history.archive}
}

// sources returns the sources of the View, in its order. If they are too many, it
// omits those that are up first.
func (b *board) sources() []api.SourceState {
	all := b.view.Sources
	notUp := min(len(all)-b.view.States[merge.Up], maxListed)
	up := maxListed - notUp
	out := make([]api.SourceState, 0, min(len(all), maxListed))
	for i := range all {
		room := &notUp
		if all[i].State == merge.Up {
			room = &up
		}
		if *room == 0 {
			continue
		}
		*room--
		state := sourceState(b.view, &all[i], b.view.At)
		if r := state.RefusedRequests; r != nil && *r == (api.RefusedRequests{}) {
			state.RefusedRequests = nil
		}
		out = append(out, state)
	}
	return out
}
