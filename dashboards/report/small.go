// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pnagent/pnagent/dashboards/report/plot"
	"github.com/pnagent/pnagent/web/api"
)

// lay makes the report of what a sidecar said.
func (s Sidecar) lay(over *overview, cleared *api.ClearedAlarms, nets []netState, docs []netDocs, o Options) *Report {
	now := over.At.Time().In(o.Now.Location())
	r := &Report{From: now.Add(-o.Since), To: now, Source: "the sidecar at " + s.Name}
	if over.History != nil && over.History.From.Time().After(r.From) {
		r.From = over.History.From.Time().In(now.Location())
		r.Notes = append(r.Notes, fmt.Sprintf("You asked for %s. The sidecar keeps one hour at most; its data starts at %s.",
			plot.Format("s", o.Since.Seconds()), plot.Clock(r.From, now)))
	}
	r.Notes = append(r.Notes, "Without --prometheus the report omits: the age ladder and percentiles over time, the sidecar itself, dispatch.")
	if over.AlarmsLeftOut > 0 {
		r.Notes = append(r.Notes, count(over.AlarmsLeftOut, "active alarm")+" are not listed.")
	}
	if len(nets) > maxNets {
		r.Notes = append(r.Notes, fmt.Sprintf("Only the %d worst of %d nets have plots; --net selects another.", maxNets, len(nets)))
	}
	var oldest []oldPlace
	for i := range docs {
		nets[i].place = docs[i].title("place", nets[i].place)
		section := nets[i].section(i)
		section.Parts = docs[i].parts(r.From, now)
		r.Sections = append(r.Sections, section)
		for _, p := range docs[i].places {
			if p.OldestAge != nil && *p.OldestAge > 0 && !p.Final && !p.Resting {
				oldest = append(oldest, oldPlace{nets[i].id, p.Called.Or(cmp.Or(p.Name, p.ID)), *p.OldestAge})
			}
		}
	}
	r.Sections = slices.Insert(r.Sections, 0, Section{ID: "s-nets", Title: "Overview", About: "All nets, the worst first.", Parts: []Part{{"Nets", []*Figure{over.table(nets)}}}})
	r.Sections = append(r.Sections, Section{ID: "s-sources", Title: "Sources", About: "Sources that the sidecar receives.", Parts: []Part{{"Now", []*Figure{over.sources()}}}})
	figure := &Figure{Title: "Oldest tokens now", Size: "half", About: aboutOldest}
	figure.list(oldest, nets, now)
	alarms := over.active(r.From, now)
	if cleared != nil {
		alarms = over.withCleared(alarms, cleared, nets, docs, r.From, now)
		if last := len(cleared.Cleared) - 1; last >= 0 && len(cleared.Cleared) >= keptCleared && cleared.Cleared[last].Cleared.Time().After(r.From) {
			r.Notes = append(r.Notes, fmt.Sprintf("The sidecar lists the last %d cleared alarms: those cleared before %s are not known.", len(cleared.Cleared), plot.Clock(cleared.Cleared[last].Cleared.Time().In(now.Location()), now)))
		}
	}
	sortAlarms(alarms)
	summarise(r, nets, alarms, figure)
	if cleared == nil {
		_, _, active := tally(alarms)
		r.Headline[1] = count(active, "alarm") + " active now" + others(alarms) + ". The sidecar does not list the alarms that were cleared in this span."
	}
	return r
}

// keptCleared is how many cleared alarms a sidecar keeps.
const keptCleared = 1000

// withCleared adds the alarms that were cleared in the span to the active ones. An alarm that was
// raised several times has a stretch for each.
func (d *overview) withCleared(all []alarm, cleared *api.ClearedAlarms, nets []netState, docs []netDocs, from, now time.Time) []alarm {
	at := map[string]int{}
	for i := range all {
		at[all[i].spot()] = i
	}
	for _, c := range cleared.Cleared { // the newest first
		if c.Cleared.Time().Before(from) || len(d.Nets) == 1 && c.Net != d.Nets[0].ID && c.Net != "" {
			continue
		}
		one := alarm{labels: labelsOf(c.Alarm, c.Severity, c.Net, c.Place, c.Transition, c.Source, c.Region)}
		for i := range docs {
			if nets[i].id == c.Net && c.Place+c.Transition != "" {
				one.title = cmp.Or(docs[i].names["place "+c.Place], docs[i].names["transition "+c.Transition])
			}
		}
		one.netTitle = titleOf(c.Net, nets)
		i, known := at[one.spot()]
		if !known {
			i = len(all)
			at[one.spot()], all = i, append(all, one)
		}
		begun := c.Since.Time().In(now.Location())
		all[i].when = slices.Insert(all[i].when, 0, stretch{from: begun, to: c.Cleared.Time().In(now.Location()), before: begun.Before(from)})
	}
	return all
}

// labelsOf are the labels of an alarm.
func labelsOf(kind, severity, net, place, transition, source, region string) map[string]string {
	return map[string]string{"alarm": kind, "severity": severity, "net": net, "place": place, "transition": transition, "source": source, "region": region}
}

// active are the alarms as the summary shows them.
func (d *overview) active(from, now time.Time) []alarm {
	var all []alarm
	for _, a := range d.Alarms {
		all = append(all, alarm{labels: labelsOf(a.Alarm, a.Severity, a.Net, a.Place, a.Transition, a.Source, a.Region), title: a.Called.Or(a.Name), netTitle: a.NetName, active: true, unknown: a.Unknown, follows: a.Follows, note: noteOf(&a, now.Location()),
			when: []stretch{{from: a.Since.Time().In(now.Location()), to: now, before: a.Since.Time().Before(from)}}})
	}
	return all
}

// noteOf is what operators noted about an alarm.
func noteOf(a *api.Alarm, at *time.Location) string {
	var notes []string
	if ack := a.Acknowledged; ack != nil {
		notes = append(notes, strings.TrimSuffix("acknowledged by "+ack.By+": "+ack.Comment, ": "))
	}
	if a.SilencedUntil != 0 {
		notes = append(notes, "silenced until "+a.SilencedUntil.Time().In(at).Format("2006-01-02 15:04:05"))
	}
	return strings.Join(notes, ", ")
}

func (d *overview) table(nets []netState) *Figure {
	f := &Figure{Title: "Nets", Size: "whole", Table: &Table{Head: []Cell{{Text: "Net"}, {Text: "Alarms", Class: "num"}, {Text: "Deadlocked", Class: "num"},
		{Text: "Oldest token", Class: "num"}, {Text: "In"}, {Text: "Tokens", Class: "num"}, {Text: "Instances", Class: "num"}, {Text: "Firings", Class: "num"}, {Text: "Sources up", Class: "num"}}}}
	byID := map[string]*api.NetOverview{}
	for i := range d.Nets {
		byID[d.Nets[i].ID] = &d.Nets[i]
	}
	for i, ranked := range nets {
		if i == maxAlarms {
			f.note("%d of %d nets.", maxAlarms, len(nets))
			break
		}
		n := byID[ranked.id]
		bad := func(some bool) string {
			if some {
				return "num burnt"
			}
			return "num"
		}
		up, deadlocked, active := fmt.Sprintf("%d of %d", n.Up, n.Up+n.Stale), plot.Format("short", math.NaN()), (*uint64)(nil)
		if n.Instances != nil {
			deadlocked, active = plot.Format("short", float64(n.Instances.Deadlocked)), &n.Instances.Active
		}
		f.Table.Rows = append(f.Table.Rows, []Cell{{Text: ranked.title(), Link: linkTo(n.ID, nets)}, {Text: fmt.Sprint(ranked.alarms) + besides(ranked.unknown, ranked.following), Class: bad(ranked.alarms > 0)},
			{Text: deadlocked, Class: bad(ranked.deadlocked > 0)}, numeric("s", n.OldestAge), {Text: ranked.place},
			numeric("short", n.Tokens), numeric("short", active), numeric("ops", n.Rate), {Text: up, Class: bad(n.Stale > 0)}})
	}
	return f
}

func numeric[T uint64 | float64](unit string, v *T) Cell {
	return Cell{Text: plot.Format(unit, orNaN(v)), Class: "num"}
}

func (d *overview) sources() *Figure {
	f := &Figure{Title: "Sources", Size: "whole", About: "Those that are not up come first.", Table: &Table{Head: []Cell{{Text: "Source"}, {Text: "Net"}, {Text: "Region"}, {Text: "State"},
		{Text: "Silent for", Class: "num"}, {Text: "Gaps", Class: "num"}, {Text: "Owner", Class: "num"}, {Text: "Standbys", Class: "num"}, {Text: "Behind", Class: "num"}}}}
	rank := func(s api.SourceState) int {
		if s.State == "up" {
			return 1
		}
		return 0
	}
	all := slices.Clone(d.Sources)
	slices.SortStableFunc(all, func(a, b api.SourceState) int { return rank(a) - rank(b) })
	if len(all) == 0 {
		f.Table, f.Empty = nil, "No source publishes."
		return f
	}
	for _, s := range all[:min(len(all), maxAlarms)] {
		class := ""
		if s.State != "up" {
			class = "burnt"
		}
		standbys := numeric("short", s.Standbys)
		if s.Standbys != nil && *s.Standbys == 0 {
			standbys.Class += " burnt"
		}
		f.Table.Rows = append(f.Table.Rows, []Cell{{Text: s.Name}, {Text: s.Net}, {Text: s.Region}, {Text: s.State, Class: class},
			numeric("s", s.LastMessageAge), numeric("short", &s.Gaps), ownerNumber(s.Fence), standbys, numeric("short", s.Lag)})
	}
	if more := len(all) - len(f.Table.Rows) + d.SourcesLeftOut; more > 0 {
		f.note("and %d more.", more)
	}
	return f
}

// ownerNumber is which owner of its region a source is; nothing where it has none.
func ownerNumber(fence uint64) Cell {
	if fence == 0 {
		return numeric[uint64]("short", nil)
	}
	return numeric("short", &fence)
}

// parts are the pictures of a net.
func (d *netDocs) parts(from, to time.Time) []Part {
	places, ages, tokens := d.placeTable(from, to)
	transitions, rates := d.transitionTable(from, to)
	parts := []Part{{"Places", []*Figure{ages, tokens, places}}, {"Transitions", []*Figure{rates, d.blockers(), transitions}}}
	if len(d.faults) > 0 {
		parts = append([]Part{{"Missing", []*Figure{{Title: "Missing data", Size: "whole", Fault: strings.Join(d.faults[:min(len(d.faults), maxStats)], "; ")}}}}, parts...)
	}
	return parts
}

func (d *netDocs) placeTable(from, to time.Time) (table, ages, tokens *Figure) {
	table = &Figure{Title: "Places by oldest token", Size: "whole", About: "What the oldest token waits for is in the last column.", Table: &Table{Head: []Cell{{Text: "Place"}, {Text: "Oldest token", Class: "num"},
		{Text: "Its age over time"}, {Text: "Since"}, {Text: "Tokens", Class: "num"}, {Text: "Mean age", Class: "num"}, {Text: "Dwell p50", Class: "num"}, {Text: "p99", Class: "num"}, {Text: "Waits for"}}}}
	var step time.Duration
	var old, many []plot.Series
	for i := range d.places {
		p := &d.places[i]
		step = max(step, gapStep(&p.Series))
		name := p.Called.Or(cmp.Or(p.Name, p.ID))
		age, oldest, came := column(&p.Series, name, 2), numeric("s", p.OldestAge), since(orNaN(p.OldestAge), to)
		many = append(many, column(&p.Series, name, 1))
		if p.Final {
			oldest, came = Cell{Text: "finished", Class: "num"}, ""
		} else {
			old = append(old, age)
		}
		spark := plot.Frame{Width: 120, Height: 22, From: from, To: to, Step: gapStep(&p.Series), Title: "Age of the oldest token in " + name}.Spark(age)
		var p50, p99 *float64
		if p.Dwell != nil {
			p50, p99 = p.Dwell.P50, p.Dwell.P99
		}
		table.Table.Rows = append(table.Table.Rows, []Cell{{Text: name}, oldest, {Spark: template.HTML(spark)}, //nolint:gosec // report/plot escapes
			{Text: came, Class: "time"}, numeric("short", p.Tokens), numeric("s", p.MeanAge), numeric("s", p50), numeric("s", p99), {Text: d.reasons(p)}})
	}
	if len(d.places) == 0 {
		table.Table, table.Empty = nil, noData
	}
	if d.left[0] > 0 {
		table.note("and %s with younger tokens or none.", count(d.left[0], "place"))
	}
	ages = &Figure{Title: "Oldest token by place", Size: "half", About: "A line that rises by one second a second is a token that does not move."}
	ages.lines(smallFrame("s", from, to, step, ages.Title), old, plot.Look{})
	tokens = &Figure{Title: "Tokens by place", Size: "half", About: "The same places. A rising line is a place that fills up."}
	tokens.lines(smallFrame("short", from, to, step, tokens.Title), many, plot.Look{})
	return table, ages, tokens
}

// reasons are what the oldest token of a place waits for.
func (d *netDocs) reasons(p *api.PlaceDetail) string {
	if p.Stuck == nil || len(*p.Stuck) == 0 {
		return ""
	}
	var all []string
	for _, w := range (*p.Stuck)[0].Waits {
		all = append(all, d.title("transition", w.Transition)+" "+w.Text)
	}
	if len(all) > maxStats {
		all = append(all[:maxStats], fmt.Sprintf("and %d more", len(all)-maxStats))
	}
	return (*p.Stuck)[0].Instance + ": " + strings.Join(all, "; ")
}

func (d *netDocs) transitionTable(from, to time.Time) (table, rates *Figure) {
	table = &Figure{Title: "Transitions by rate", Size: "whole", Table: &Table{Head: []Cell{{Text: "Transition"}, {Text: "Firings", Class: "num"}, {Text: "Over time"},
		{Text: "Total firings", Class: "num"}, {Text: "Failures in all", Class: "num"}, {Text: "Enabled in", Class: "num"}, {Text: "Enabled for", Class: "num"}}}}
	var step time.Duration
	var all []plot.Series
	for i := range d.transitions {
		t := &d.transitions[i]
		step = max(step, gapStep(&t.Series))
		name := t.Called.Or(cmp.Or(t.Name, t.ID))
		s := column(&t.Series, name, 1)
		all = append(all, s)
		spark := plot.Frame{Width: 120, Height: 22, From: from, To: to, Step: gapStep(&t.Series), Title: "Firings of " + name}.Spark(s)
		table.Table.Rows = append(table.Table.Rows, []Cell{{Text: name}, numeric("ops", t.Rate), {Spark: template.HTML(spark)}, //nolint:gosec // report/plot escapes
			numeric("short", t.Firings), numeric("short", t.Failures), numeric("short", t.Enabled), numeric("s", t.EnabledAge)})
	}
	if len(d.transitions) == 0 {
		table.Table, table.Empty = nil, noData
	}
	if d.left[1] > 0 {
		table.note("and %s that fire slower.", count(d.left[1], "transition"))
	}
	rates = &Figure{Title: "Firings by transition", Size: "half", About: "Firings a second."}
	rates.lines(smallFrame("ops", from, to, step, rates.Title), all, plot.Look{})
	return table, rates
}

// blockers is what holds the transitions back that are shown.
func (d *netDocs) blockers() *Figure {
	f := &Figure{Title: "Blocked transitions", Size: "half", About: "Instances in which a transition cannot fire, and why."}
	type block struct {
		cells []Cell
		n     uint64
	}
	var all []block
	for _, t := range d.transitions {
		if t.Blocks == nil {
			continue
		}
		for _, b := range *t.Blocks {
			all = append(all, block{[]Cell{{Text: t.Called.Or(cmp.Or(t.Name, t.ID))}, {Text: b.Text}, numeric("short", &b.Instances)}, b.Instances})
		}
	}
	if len(all) == 0 {
		f.Empty = "No transition is blocked."
		return f
	}
	slices.SortStableFunc(all, func(a, b block) int { return cmp.Compare(b.n, a.n) })
	f.Table = &Table{Head: []Cell{{Text: "Transition"}, {Text: "Why"}, {Text: "Instances", Class: "num"}}}
	for _, b := range all[:min(len(all), maxLines)] {
		f.Table.Rows = append(f.Table.Rows, b.cells)
	}
	if len(all) > maxLines {
		f.note("%d of %d, the most frequent.", maxLines, len(all))
	}
	return f
}

func smallFrame(unit string, from, to time.Time, step time.Duration, title string) plot.Frame {
	f := frameOf("half", from, to)
	f.Unit, f.Title, f.Step = unit, title, step
	return f
}

// gapStep is the step of a series that a sidecar kept, for pictures: twice the
// median time between its points, which are further apart than the sidecar's own
// step where it lists one of several, and no more even than its ticks.
func gapStep(d *api.Series) time.Duration {
	points := column(d, "", 0).Points
	var apart []time.Duration
	for i := 1; i < len(points); i++ {
		apart = append(apart, points[i].At.Sub(points[i-1].At))
	}
	if len(apart) == 0 {
		return 0
	}
	slices.Sort(apart)
	return max(2*apart[len(apart)/2], 0)
}

// column is one of what was kept.
func column(d *api.Series, name string, column int) plot.Series {
	s := plot.Series{Name: name}
	for _, p := range d.Points {
		if len(p) <= column || p[0] == nil || math.Abs(*p[0]) > 2e14 {
			continue
		}
		s.Points = append(s.Points, plot.Point{At: time.UnixMilli(int64(*p[0])), Value: orNaN(p[column])})
	}
	return s
}
