// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pnagent/pnagent/dashboards"
	"github.com/pnagent/pnagent/dashboards/report/plot"
)

// row is what the queries of a table say about one set of labels.
type row struct {
	labels []string // by column that is a label
	values map[string]float64
}

// tabulate joins the answers of a table's queries by the labels that are
// columns; the largest first value is on top.
func (f *Figure) tabulate(p *dashboards.Panel, answers []*answer, nets []netState) {
	rows := joined(p, answers)
	if len(rows) == 0 {
		f.Empty = noData
		return
	}
	first := slices.IndexFunc(p.Columns, func(c dashboards.Column) bool { return c.Value != "" })
	slices.SortFunc(rows, func(a, b *row) int {
		if first >= 0 {
			name := p.Columns[first].Value
			if c := cmp.Compare(valueOf(b, name), valueOf(a, name)); c != 0 {
				return c
			}
		}
		return slices.Compare(a.labels, b.labels)
	})
	f.Table = &Table{}
	for _, c := range p.Columns {
		head := Cell{Text: c.Title}
		if c.Value != "" {
			head.Class = "num"
		}
		f.Table.Head = append(f.Table.Head, head)
	}
	for i, r := range rows {
		if i == maxRows {
			f.note("%d of %d rows, the largest.", maxRows, len(rows))
			break
		}
		f.Table.Rows = append(f.Table.Rows, r.cells(p, nets))
	}
}

func valueOf(r *row, name string) float64 {
	if v, ok := r.values[name]; ok {
		return v
	}
	return math.NaN()
}

func joined(p *dashboards.Panel, answers []*answer) []*row {
	var names []string
	for _, c := range p.Columns {
		if c.Label != "" {
			names = append(names, c.Label)
		}
	}
	index, rows := map[string]*row{}, []*row(nil)
	for i, a := range answers {
		for _, s := range a.series {
			labels := make([]string, len(names))
			var key strings.Builder
			for j, name := range names {
				labels[j] = s.labels[name]
				key.WriteString(strconv.Quote(labels[j]))
			}
			r := index[key.String()]
			if r == nil {
				r = &row{labels, map[string]float64{}}
				index[key.String()], rows = r, append(rows, r)
			}
			if len(s.points) == 1 {
				r.values[p.Queries[i].Legend] = s.points[0].Value
			}
		}
	}
	return rows
}

func (r *row) cells(p *dashboards.Panel, nets []netState) []Cell {
	cells := make([]Cell, 0, len(p.Columns))
	label := 0
	for _, c := range p.Columns {
		if c.Value == "" {
			cell := Cell{Text: r.labels[label]}
			if c.Label == "net" {
				cell.Link = linkTo(cell.Text, nets)
			}
			cells = append(cells, cell)
			label++
			continue
		}
		v := valueOf(r, c.Value)
		unit := cmp.Or(c.Unit, p.Unit)
		cells = append(cells, Cell{Text: plot.Format(unit, v), Class: strings.TrimSpace("num " + heat(c.Steps, v))})
	}
	return cells
}

// linkTo is the section of a net, "" if it has none.
func linkTo(net string, nets []netState) string {
	i := slices.IndexFunc(nets, func(n netState) bool { return n.id == net })
	if i < 0 || i >= maxNets {
		return ""
	}
	return "#" + netAnchor(i)
}

// titleOf returns what the report calls a net.
func titleOf(net string, nets []netState) string {
	if i := slices.IndexFunc(nets, func(n netState) bool { return n.id == net }); i >= 0 {
		return nets[i].title()
	}
	return net
}

// oldPlace is a place with the age of its oldest token, in seconds.
type oldPlace struct {
	net, place string
	age        float64
}

// list makes a table of places, the oldest first.
func (f *Figure) list(rows []oldPlace, nets []netState, now time.Time) {
	if len(rows) == 0 {
		f.Empty = "There is no token in any place."
		return
	}
	slices.SortFunc(rows, func(a, b oldPlace) int {
		return cmp.Or(cmp.Compare(b.age, a.age), cmp.Compare(a.net, b.net), cmp.Compare(a.place, b.place))
	})
	f.Table = &Table{Head: []Cell{{Text: "Place"}, {Text: "Net"}, {Text: "Since"}, {Text: "Age", Class: "num"}}}
	for _, r := range rows[:min(len(rows), maxLines)] {
		f.Table.Rows = append(f.Table.Rows, []Cell{{Text: r.place}, {Text: titleOf(r.net, nets), Link: linkTo(r.net, nets)},
			{Text: since(r.age, now), Class: "time"}, {Text: plot.Format("s", r.age), Class: "num"}})
	}
}

// since formats the time that is a number of seconds before now.
func since(seconds float64, now time.Time) string {
	if !(seconds >= 0 && seconds < 1e9) {
		return "–"
	}
	return plot.Clock(now.Add(-time.Duration(seconds*float64(time.Second))), now)
}

// number reads the bound of a bucket.
func number(text string) (float64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && !math.IsNaN(v)
}

func count(n int, what string) string { return plural(n, what, what+"s") }

func plural(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}
