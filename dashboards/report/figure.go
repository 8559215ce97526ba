// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pnagent/pnagent/dashboards"
	"github.com/pnagent/pnagent/dashboards/report/plot"
)

// noData is what a figure says that has nothing to show.
const noData = "No data: there is no such series in this span."

// figure draws what a panel's queries returned.
func (d *drawing) figure(j *job, answers []*answer) {
	p, f := &j.panel, j.into
	if p.Kind == dashboards.Table {
		f.tabulate(p, answers, d.nets)
		return
	}
	frame := frameOf(f.Size, d.from, d.o.Now)
	frame.Step, frame.Unit, frame.Title = d.step(points(p)), p.Unit, p.Title
	switch p.Kind {
	case dashboards.Stat:
		f.stats(frame, named(p, answers), p.Steps, d.o.Now)
	case dashboards.Heatmap:
		rows := rowsOf(p, answers)
		if p.Buckets {
			rows = bucketRows(answers)
		}
		f.heat(frame, rows)
		if f.Empty != "" && slices.ContainsFunc(answers, func(a *answer) bool { return len(a.series) > 0 }) {
			f.Empty = "Nothing: all buckets are empty in this span."
		}
	default:
		look := plot.Look{Stacked: p.Stacked}
		for _, s := range p.Steps[min(1, len(p.Steps)):] {
			look.Levels = append(look.Levels, s.From)
		}
		f.lines(frame, named(p, answers), look)
	}
}

// frameOf is the frame of a figure that is so wide.
func frameOf(size string, from, to time.Time) plot.Frame {
	f := plot.Frame{Width: 590, Height: 230, From: from, To: to}
	switch size {
	case "third":
		f.Width, f.Height = 388, 200
	case "whole":
		f.Width, f.Height = 1200, 270
	}
	return f
}

// named returns all series of a panel under the names of their legends.
func named(p *dashboards.Panel, answers []*answer) []plot.Series {
	var all []plot.Series
	for i, a := range answers {
		for _, s := range a.series {
			if len(s.points) > 0 {
				all = append(all, plot.Series{Name: legend(p.Queries[i].Legend, s.labels), Points: s.points})
			}
		}
	}
	return all
}

var field = regexp.MustCompile(`\{\{\s*(\w+)\s*\}\}`)

// legend puts the values of labels into the text of a legend.
func legend(text string, labels map[string]string) string {
	if text == "" {
		return "all"
	}
	name := strings.TrimSpace(field.ReplaceAllStringFunc(text, func(found string) string {
		return labels[field.FindStringSubmatch(found)[1]]
	}))
	return cmp.Or(name, "(no name)")
}

// finite are the values of a series that are numbers: how many, the last, the
// largest. infinite counts those that are too large to draw.
func finite(s plot.Series) (n, infinite int, last plot.Point, most float64) {
	most = math.Inf(-1)
	for _, p := range s.Points {
		switch {
		case math.IsNaN(p.Value):
		case !plot.Drawn(p.Value):
			infinite++
		default:
			n++
			last, most = p, max(most, p.Value)
		}
	}
	return n, infinite, last, most
}

// ranked is a series with what it is ordered by.
type ranked struct {
	plot.Series
	last plot.Point
	most float64
}

// rank orders series by their largest value, then by the last, and leaves out
// those without any.
func rank(all []plot.Series) (kept []ranked, empty, infinite int) {
	for _, s := range all {
		n, inf, last, most := finite(s)
		infinite += inf
		if n == 0 {
			empty++
			continue
		}
		kept = append(kept, ranked{s, last, most})
	}
	slices.SortStableFunc(kept, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.most, a.most), cmp.Compare(b.last.Value, a.last.Value), cmp.Compare(a.Name, b.Name))
	})
	return kept, empty, infinite
}

// lines draws the largest of some series.
func (f *Figure) lines(frame plot.Frame, all []plot.Series, look plot.Look) {
	if len(all) == 0 {
		f.Empty = noData
		return
	}
	kept, empty, infinite := rank(all)
	quiet := len(kept) > 1 && still(kept)
	if quiet {
		f.note("All %d series are 0 throughout.", len(kept))
	} else if len(kept) > maxLines {
		f.note("%d of %d series, those with the largest values.", maxLines, len(kept))
	}
	kept = kept[:min(len(kept), maxLines)]
	drawn := make([]plot.Series, len(kept))
	for i, s := range kept {
		drawn[i] = s.Series
		e := Entry{plot.Class(i), s.Name, plot.Format(frame.Unit, s.last.Value), plot.Format(frame.Unit, s.most)}
		if frame.To.Sub(s.last.At) > 2*frame.Step {
			e.Last = "– since " + plot.Clock(s.last.At, frame.To)
		}
		f.Legend = append(f.Legend, e)
	}
	if quiet {
		f.Legend = nil
	}
	if empty > 0 {
		f.note("%d series without a value in this span.", empty)
	}
	f.infinite(infinite)
	f.Picture = template.HTML(frame.Lines(drawn, look)) //nolint:gosec // report/plot escapes
}

// still reports whether all values are 0.
func still(all []ranked) bool {
	return !slices.ContainsFunc(all, func(s ranked) bool {
		return slices.ContainsFunc(s.Points, func(p plot.Point) bool { return p.Value != 0 && !math.IsNaN(p.Value) })
	})
}

func (f *Figure) note(format string, args ...any) {
	f.Notes = append(f.Notes, fmt.Sprintf(format, args...))
}

func (f *Figure) infinite(n int) {
	if n > 0 {
		f.note("%s infinite, or too large, and not drawn.", plural(n, "value is", "values are"))
	}
}

// stats shows the last value of some series, large.
func (f *Figure) stats(frame plot.Frame, all []plot.Series, steps []dashboards.Step, now time.Time) {
	kept, _, infinite := rank(all)
	if len(kept) == 0 {
		f.Empty = noData
		return
	}
	f.infinite(infinite)
	for i, s := range kept {
		if i == maxStats {
			f.note("and %d more.", len(kept)-i)
			break
		}
		frame.Width, frame.Height, frame.Title = 180, 34, s.Name
		n := Number{Text: plot.Format(frame.Unit, s.last.Value), Class: heat(steps, s.last.Value), Spark: template.HTML(frame.Spark(s.Series))} //nolint:gosec // report/plot escapes
		if len(kept) > 1 {
			n.Of = s.Name
		}
		if now.Sub(s.last.At) > 2*frame.Step {
			n.Of = strings.TrimSpace(n.Of + " as of " + plot.Clock(s.last.At, now))
		}
		f.Numbers = append(f.Numbers, n)
	}
}

// heat is the class of a value's colour.
func heat(steps []dashboards.Step, v float64) string {
	class := ""
	for _, s := range steps {
		if !(v >= s.From) {
			break
		}
		switch s.Colour {
		case "green":
			class = "calm"
		case "yellow":
			class = "warm"
		case "orange":
			class = "hot"
		case "red", "dark-red":
			class = "burnt"
		default:
			class = ""
		}
	}
	return class
}

// rowsOf is a row for each query.
func rowsOf(p *dashboards.Panel, answers []*answer) []plot.Series {
	rows := make([]plot.Series, len(answers))
	for i, a := range answers {
		rows[i].Name = p.Queries[i].Legend
		if len(a.series) > 0 {
			rows[i].Points = a.series[0].points
		}
	}
	return rows
}

// heat draws rows of cells.
func (f *Figure) heat(frame plot.Frame, rows []plot.Series) {
	infinite, some := 0, false
	for _, row := range rows {
		_, inf, _, _ := finite(row)
		infinite += inf
		some = some || len(row.Points) > 0
	}
	if !some {
		f.Empty = noData
		return
	}
	f.infinite(infinite)
	f.Picture = template.HTML(append(frame.Heat(rows), plot.Scale(rows)...)) //nolint:gosec // report/plot escapes
}
