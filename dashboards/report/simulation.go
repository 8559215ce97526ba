// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"time"

	"github.com/pnagent/pnagent/engine/simulate"
)

// Simulation returns a report of a study of a simulation, and of several sizes of a pool if v is
// not nil; then s is the one of these that answers the question, and may be nil.
func Simulation(now time.Time, s *simulate.Summary, v *simulate.Varied) *Report {
	r := &Report{From: now, To: now, About: "A simulation, of which no run reached its end."}
	if v != nil {
		r.Headline = []string{v.Answer()}
		r.Summary = []Part{{Title: "How many are needed", Figures: []*Figure{tabled(v.Table())}}}
	}
	if s == nil {
		return r
	}
	r.About, r.Notes = s.How()+".", s.Notes
	section := Section{ID: "net", Title: s.Net, About: "What the runs had in common."}
	if v != nil {
		for _, p := range s.Pools {
			if p.Name == v.Pool {
				section.About = fmt.Sprintf("What the runs with %d of %s had in common.", p.Size, p.Name)
			}
		}
	}
	for _, t := range s.Tables() {
		section.Parts = append(section.Parts, Part{Title: t.Title, Figures: []*Figure{tabled(t)}})
	}
	r.Sections = []Section{section}
	return r
}

// tabled returns a table of a simulation as a figure.
func tabled(t simulate.Table) *Figure {
	f := &Figure{Title: t.Title, About: t.About, Size: "whole", Table: &Table{Head: words(t.Head...)}}
	if len(t.Rows) == 0 {
		f.Empty = "There is none."
	}
	for _, row := range t.Rows {
		f.Table.Rows = append(f.Table.Rows, words(row...))
	}
	return f
}
