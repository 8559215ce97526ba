// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Table is a table for people. Rows are as long as Head.
type Table struct {
	Title, About string
	Head         []string
	Rows         [][]string
}

// mostPlaces bounds the places in a table. A Summary has all.
const mostPlaces = 30

// shownFrom is how many tokens a place holds on average that is in a table.
const shownFrom = 0.0005

// How says in a sentence what was simulated.
func (s *Summary) How() string {
	runs := "runs"
	if s.Runs == 1 {
		runs = "run"
	}
	return fmt.Sprintf("%s: %d %s of %s, of which the first %s do not count; ± is half the interval of %g %% confidence",
		cmp.Or(s.Name, s.Net), s.Runs, runs, span(s.Seconds), span(s.Warmup), 100*s.Confidence)
}

// Tables returns what people look at first.
func (s *Summary) Tables() (tables []Table) {
	tables = append(tables, s.instances())
	if c := s.Cases; c != nil {
		tables = append(tables, Table{"Cases", "In progress, and from arrival to end.",
			[]string{"begun an hour", "ended an hour", "in progress", "time", "p95", "at the end", "oldest", ""},
			[][]string{{number(c.In), number(c.Out), number(c.Held), c.stay(), c.high(), number(c.Left), duration(c.Oldest), grows(&c.Flow, c.Growing)}}})
	}
	if len(s.Pools) > 0 {
		t := Table{Title: "Pools", About: "Members, and the requests that wait for one.",
			Head: []string{"pool", "size", "busy", "waiting", "wait", "p95", "at once", "at the end", ""}}
		for k := range s.Pools {
			p := &s.Pools[k]
			t.Rows = append(t.Rows, append(p.cells(), grows(&p.Flow, p.Growing)))
		}
		tables = append(tables, t)
	}
	return append(tables, s.places())
}

// instances is the table of how instances came to an end.
func (s *Summary) instances() Table {
	i := &s.Instances
	t := Table{Title: "Instances", About: "While the time counts; deadlocked ones at the end.", Head: []string{"finished", "failed", "deadlocked", "all at rest after"},
		Rows: [][]string{{number(i.Finished), number(i.Failed), number(i.Deadlocked), "-"}}}
	if s.Resting == s.Runs {
		t.Rows[0][3] = duration(i.Rest)
	}
	return t
}

// places is the table of the places in which tokens wait, those that hold most first.
func (s *Summary) places() Table {
	var shown []*Row
	others, about := 0, "Where tokens wait."
	for k := range s.Places {
		p := &s.Places[k]
		switch {
		case p.Role != "work" || p.Final:
		case p.Held.Mean >= shownFrom || p.Left.Mean >= shownFrom:
			shown = append(shown, p)
		default:
			others++
		}
	}
	slices.SortStableFunc(shown, func(a, b *Row) int { return cmp.Compare(b.Held.Mean, a.Held.Mean) })
	if others > 0 {
		about += fmt.Sprintf(" In %d others they hardly do.", others)
	}
	if more := len(shown) - mostPlaces; more > 0 {
		shown = shown[:mostPlaces]
		about += fmt.Sprintf(" %d more are left out.", more)
	}
	t := Table{Title: "Places", About: about, Head: []string{"place", "in an hour", "held", "stay", "p95", "over " + span(s.StuckAfter), "at the end", "oldest", ""}}
	for _, p := range shown {
		t.Rows = append(t.Rows, []string{p.ID, number(p.In), number(p.Held), p.stay(), p.high(), percent(p.Stuck), number(p.Left), duration(p.Oldest), grows(&p.Flow, p.Growing)})
	}
	return t
}

// Table returns a row for each size.
func (v *Varied) Table() Table {
	t := Table{Title: "Sizes of " + v.Pool, About: "Each row is a study of its own, with the same arrivals.", Head: []string{v.Pool, "busy", "waiting", "wait", "p95", "at once", "at the end", "queue"}}
	for k := range v.Sizes {
		s := &v.Sizes[k]
		p := s.pool(v.Pool)
		if p == nil {
			t.Rows = append(t.Rows, []string{strconv.Itoa(s.Size), "-", "-", "-", "-", "-", "-", "stopped: " + s.Limit})
			continue
		}
		state := "does not grow"
		switch {
		case p.Growing:
			state = grows(&p.Flow, true)
		case p.Gone():
			state = "gone"
		}
		t.Rows = append(t.Rows, append(p.cells()[1:], state))
	}
	return t
}

func (p *PoolRow) cells() []string {
	return []string{p.Name, strconv.Itoa(p.Size), percent(p.Busy), number(p.Held), unlessGrowing(p.Growing, duration(p.Stay)), unlessGrowing(p.Growing, duration(p.High)), percent(p.AtOnce), number(p.Left)}
}

func (r *Row) stay() string { return unlessGrowing(r.Growing, duration(r.Stay)) }

// high shows the p95, with a mark if it may be longer.
func (r *Row) high() string {
	if r.AtLeast {
		return unlessGrowing(r.Growing, "≥ "+duration(r.High))
	}
	return unlessGrowing(r.Growing, duration(r.High))
}

// unlessGrowing hides a mean that depends on how long a run is.
func unlessGrowing(growing bool, text string) string {
	if growing {
		return "-"
	}
	return text
}

func grows(f *Flow[Estimate], growing bool) string {
	if !growing {
		return ""
	}
	return "grows by " + number(f.Growth) + " a day"
}

func number(e Estimate) string  { return e.in(1, "") }
func percent(e Estimate) string { return e.in(0.01, " %") }

// duration shows an estimate of seconds.
func duration(e Estimate) string {
	by, name := unitOf(e.Mean)
	return e.in(by, " "+name)
}

// in shows an estimate in a unit, to the digits that its interval leaves; "-" is unknown.
func (e Estimate) in(by float64, unit string) string {
	half := e.Half() / by
	switch {
	case math.IsNaN(e.Mean):
		return "-"
	case math.IsNaN(half):
		return strconv.FormatFloat(e.Mean/by, 'g', 3, 64) + unit
	case e.Mean == 0 && half == 0:
		return "0" + unit
	}
	digits := 2
	if half > 0 {
		digits = max(0, min(4, 1-int(math.Floor(math.Log10(half)))))
	}
	return fmt.Sprintf("%.*f ± %.*f%s", digits, e.Mean/by, digits, half, unit)
}

// unitOf returns the unit for a number of seconds.
func unitOf(v float64) (by float64, name string) {
	switch {
	case v < 1 && v > 0:
		return 0.001, "ms"
	case v < 120 || math.IsNaN(v):
		return 1, "s"
	case v < 2*3600:
		return 60, "min"
	case v < 2*86400:
		return 3600, "h"
	}
	return 86400, "d"
}

// span shows a number of seconds that is known.
func span(v float64) string {
	by, name := unitOf(v)
	return strconv.FormatFloat(v/by, 'g', 3, 64) + " " + name
}
