// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// BenchmarkFrame is what the page costs for a View of a net of 10,000 places and as many
// transitions of which one of 100 changed: the next frame and the event with the difference. In
// turn with it, the base makes the whole frame. The times are those that nine of ten exceed: other
// processes of the machine lengthen the rest.
func BenchmarkFrame(b *testing.B) {
	const rows = 10_000
	def := &petri.Net{ID: "large"}
	for i := range rows {
		def.Places = append(def.Places, petri.Place{ID: fmt.Sprint("p", i)})
		def.Transitions = append(def.Transitions, petri.Transition{ID: fmt.Sprint("t", i)})
	}
	var views [2]*merge.NetView
	for v := range views {
		r := stats.NewRows(rows, rows)
		r.Columns = stats.AllColumns
		for i := range rows {
			r.Places[i].Tokens, r.Places[i].Oldest, r.Transitions[i].Enabled = uint64(i), int64(i+1), uint64(i)
			if i%100 == 0 {
				r.Places[i].Tokens += uint64(v)
				r.Transitions[i].Enabled += uint64(v)
			}
		}
		n := &merge.NetView{Name: "large", Def: def, Rows: r}
		n.Rates = &merge.Rates{Arrivals: make([]float64, rows), Departures: make([]float64, rows), Transitions: make([]merge.Rate, rows)}
		n.Blocked = make([]uint64, rows)
		views[v] = n
	}
	last := newFrame(views[0], "", nil, 0, 0)
	var took, whole []time.Duration
	b.ReportAllocs()
	for i := 1; b.Loop(); i++ {
		before := time.Now()
		next, diff := last.next(views[(i+1)%2], views[i%2], uint64(i), int64(i))
		event := newEvent("diff", uint64(i), diff.AppendJSON(nil))
		between := time.Now()
		newFrame(views[i%2], "", nil, uint64(i), int64(i))
		took, whole = append(took, between.Sub(before)), append(whole, time.Since(between))
		last = next
		if len(diff.Places) != rows/100 || len(event.text) == 0 {
			b.Fatal(len(diff.Places), "places")
		}
	}
	slices.Sort(took)
	slices.Sort(whole)
	b.ReportMetric(float64(took[len(took)/10].Microseconds()), "µs/view")
	b.ReportMetric(float64(whole[len(whole)/10].Microseconds()), "whole-µs/view")
}
