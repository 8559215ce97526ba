// SPDX-License-Identifier: Apache-2.0

package web

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/pnagent/pnagent/collector/history"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/web/api"
)

const (
	maxTrends      = 100 // nets of one answer
	maxTrendPoints = 60  // points of a net
)

// serveTrends answers with the age of the oldest token of each net over the last hour, for the nets
// with the oldest tokens.
func (s *Server) serveTrends(w http.ResponseWriter, _ *http.Request) {
	b := s.board.Load()
	since := func(n *merge.NetView) int64 {
		at, _ := b.alarms.Oldest(n)
		return cmp.Or(at, b.view.At)
	}
	nets := slices.Clone(b.view.Present().Nets)
	slices.SortStableFunc(nets, func(x, y *merge.NetView) int { return cmp.Compare(since(x), since(y)) })
	d := api.Trends{Nets: []api.Trend{}}
	for _, n := range nets[:min(len(nets), maxTrends)] {
		past, step := s.pastOf(n.Name)
		d.Step = step.Seconds()
		d.Nets = append(d.Nets, api.Trend{Net: n.Name, Points: trendPoints(past.Net())})
	}
	answerJSON(w, &d)
}

// trendPoints returns some of the points, spread evenly, with the youngest.
func trendPoints(all []history.NetPoint) [][]*float64 {
	out := [][]*float64{}
	every := max(1, (len(all)+maxTrendPoints-1)/maxTrendPoints)
	for i := (len(all) - 1) % every; i >= 0 && i < len(all); i += every {
		p := &all[i]
		out = append(out, []*float64{millis(p.At), known(p.Columns, stats.ColOldest, ageAt(p.Oldest, p.At))})
	}
	return out
}
