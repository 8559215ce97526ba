// SPDX-License-Identifier: Apache-2.0

// Package alarmtest makes Views for tests of alarms.
package alarmtest

import (
	"fmt"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// Wide returns a net of n places, each with a transition that takes from it. Its
// places have a token each since oldest.
func Wide(name string, n int, oldest int64) *merge.NetView {
	def := &petri.Net{ID: name}
	rows := stats.NewRows(n, n)
	rows.Columns = stats.AllColumns
	for i := range n {
		p, tr := fmt.Sprintf("p%d", i), fmt.Sprintf("t%d", i)
		def.Places = append(def.Places, petri.Place{ID: p})
		def.Transitions = append(def.Transitions, petri.Transition{ID: tr})
		def.Arcs = append(def.Arcs, petri.Arc{Source: p, Target: tr, Weight: 1})
		rows.Places[i] = stats.Place{Tokens: 1, Oldest: oldest}
	}
	return &merge.NetView{Name: name, Def: def, Final: def.FinalPlaces(), Rows: rows}
}

// Moved returns the net after all tokens have moved on.
func Moved(n *merge.NetView, at int64) *merge.NetView {
	next := *n
	next.Rows = stats.NewRows(len(n.Def.Places), len(n.Def.Transitions))
	next.Rows.Columns = stats.AllColumns
	for i := range next.Rows.Places {
		next.Rows.Places[i] = stats.Place{Tokens: 1, Oldest: at}
	}
	return &next
}

// ViewOf returns a View of these nets.
func ViewOf(nets ...*merge.NetView) *merge.View { return &merge.View{Nets: nets} }
