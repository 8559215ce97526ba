// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pnagent/pnagent/dashboards/report/plot"
	"github.com/pnagent/pnagent/internal/promquery"
	"github.com/pnagent/pnagent/metrics"
)

// alarm is one that was active in the span, or several of the same kind at the
// same place one after the other.
type alarm struct {
	labels map[string]string // net, place, transition, source, region, alarm, for_reason, severity
	when   []stretch
	active bool   // now
	note   string // of operators, if it is active

	unknown string // why it is not known whether it still holds; empty if it is known
	follows string // the lost source from which it follows; empty for none

	title, netTitle string // names of what it is about and of its net, if they are known
}

// stretch is a time in which an alarm was active.
type stretch struct {
	from, to time.Time
	early    bool // it was when the span began; since when is not known
	before   bool // it was when the span began; from is since when
}

func (a *alarm) subject() string {
	whole := "the whole net"
	if a.labels["alarm"] == "natsDisconnected" {
		whole = "the sidecar"
	}
	return cmp.Or(a.title, a.labels["place"], a.labels["transition"], a.labels["source"], a.labels["region"], a.labels["subject"], whole)
}

func (a *alarm) name() string {
	name := a.labels["alarm"] + " · " + a.subject()
	if net := a.net(); net != "" {
		name += " · " + net
	}
	return name
}

// net is the name of its net, or the id.
func (a *alarm) net() string { return cmp.Or(a.netTitle, a.labels["net"]) }

// last is when it was last raised; the zero Time if it never was.
func (a *alarm) last() time.Time {
	if len(a.when) == 0 {
		return time.Time{}
	}
	return a.when[len(a.when)-1].from
}

// own reports whether it is active, known to hold, and follows from no lost source.
func (a *alarm) own() bool { return a.active && a.unknown == "" && a.follows == "" }

// spot is the key of an alarm. The severity is none of it: a reload of the rules changes that.
func (a *alarm) spot() string {
	return strings.Join([]string{a.labels["net"], a.labels["alarm"], a.labels["place"], a.labels["transition"], a.labels["source"], a.labels["region"], a.labels["for_reason"]}, "\x00")
}

// activeAlarms asks when alarms were active. What is shorter than a step of the
// picture is found, too: each value is the largest of the step before it.
func (d *drawing) activeAlarms(ctx context.Context) ([]alarm, error) {
	d.o.progress(0, 0, "asking for alarms")
	step := d.step(2000)
	vars := d.vars("", "", step)
	vars["net"] = d.anyNet()
	expr := vars.Expand(d.boards[0].Alarms())
	over := expr
	if step > d.scrape {
		over = fmt.Sprintf("max_over_time((%s)[%s:%s])", expr, promquery.Duration(step), promquery.Duration(d.scrape))
	}
	was, err := d.over(ctx, over, d.from, d.o.Now, step)
	if err != nil {
		return nil, fmt.Errorf("which alarms were active: %w", err)
	}
	is, err := d.at(ctx, expr, d.o.Now)
	if err != nil {
		return nil, fmt.Errorf("which alarms are active: %w", err)
	}
	now := map[string]*alarm{}
	for _, s := range is.series {
		a := alarm{labels: s.labels, active: true}
		now[a.spot()] = &a
	}
	if err := d.alarmNotes(ctx, now); err != nil {
		return nil, err
	}
	all := ofSpots(was.series, now, d.from, step)
	sortAlarms(all)
	return all, nil
}

// ofSpots returns one alarm for all series that differ in the severity only. now has those that
// are active.
func ofSpots(was []series, now map[string]*alarm, from time.Time, step time.Duration) []alarm {
	points := map[string][]plot.Point{}
	var all []alarm
	at := map[string]int{}
	for _, s := range was {
		if len(s.points) == 0 {
			continue
		}
		a := alarm{labels: s.labels}
		spot := a.spot()
		i, known := at[spot]
		switch last := s.points[len(s.points)-1].At; {
		case !known:
			at[spot], all = len(all), append(all, a)
		case last.After(points[spot][len(points[spot])-1].At):
			all[i].labels = s.labels
		}
		points[spot] = append(points[spot], s.points...)
		slices.SortStableFunc(points[spot], func(a, b plot.Point) int { return a.At.Compare(b.At) })
	}
	for i := range all {
		spot := all[i].spot()
		if active := now[spot]; active != nil {
			all[i] = *active
		}
		all[i].when = stretches(points[spot], from, step)
	}
	return all
}

// alarmNotes asks which active alarms are acknowledged, silenced or unknown, and which follow
// from a lost source. active has them by their spot.
func (d *drawing) alarmNotes(ctx context.Context, active map[string]*alarm) error {
	note := func(words string) func(*alarm, series) {
		return func(a *alarm, _ series) { a.note = strings.TrimPrefix(a.note+", "+words, ", ") }
	}
	for _, n := range []struct {
		metric string
		set    func(*alarm, series)
	}{
		{metrics.AlarmAcknowledged, note("acknowledged")},
		{metrics.AlarmSilenced, note("silenced")},
		{metrics.AlarmUnknown, func(a *alarm, _ series) { a.unknown = "no source reports it any more; pnagent alarms has the reason" }},
		{metrics.AlarmFollows, func(a *alarm, s series) { a.follows = s.labels["follows"] }},
	} {
		is, err := d.at(ctx, n.metric, d.o.Now)
		if err != nil {
			return fmt.Errorf("which alarms have %s: %w", n.metric, err)
		}
		for _, s := range is.series {
			if a := active[(&alarm{labels: s.labels}).spot()]; a != nil {
				n.set(a, s)
			}
		}
	}
	return nil
}

// stretches joins points that are a step apart.
func stretches(points []plot.Point, begin time.Time, step time.Duration) []stretch {
	var all []stretch
	for _, p := range points {
		if n := len(all); n > 0 && p.At.Sub(all[n-1].to) <= step*3/2 {
			all[n-1].to = p.At
			continue
		}
		s := stretch{from: p.At.Add(-step), to: p.At, early: !p.At.After(begin)}
		if s.from.Before(begin) {
			s.from = begin
		}
		all = append(all, s)
	}
	return all
}

// sortAlarms puts active ones first, those active for longest on top.
func sortAlarms(all []alarm) {
	slices.SortStableFunc(all, func(a, b alarm) int {
		if a.active != b.active {
			if a.active {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.long(), a.long()), cmp.Compare(a.spot(), b.spot()))
	})
}

// long is for how long an alarm was active in the span.
func (a *alarm) long() time.Duration {
	var sum time.Duration
	for _, s := range a.when {
		sum += s.to.Sub(s.from)
	}
	return sum
}

// tally counts what became of alarms in the span. Those that follow from a lost source are not
// counted, and active ones only if they are known to hold.
func tally(all []alarm) (raised, cleared, active int) {
	for _, a := range all {
		if a.follows != "" {
			continue
		}
		for i, s := range a.when {
			if !s.early && !s.before {
				raised++
			}
			if i+1 < len(a.when) || !a.active {
				cleared++
			}
		}
		if a.own() {
			active++
		}
	}
	return raised, cleared, active
}

// others returns how many alarms are unknown, and how many follow from a lost source, as text.
func others(all []alarm) string {
	var unknown, following int
	for _, a := range all {
		switch {
		case a.follows != "":
			following++
		case a.unknown != "":
			unknown++
		}
	}
	return besides(unknown, following)
}

// besides is the end of a text with the number of active alarms.
func besides(unknown, following int) (text string) {
	if unknown > 0 {
		text += fmt.Sprintf(", %d unknown", unknown)
	}
	if following > 0 {
		text += fmt.Sprintf(", %d following from a lost source", following)
	}
	return text
}

// alarmFigure draws when alarms were active, a lane each, with a row each below.
func alarmFigure(all []alarm, from, to time.Time) *Figure {
	f := &Figure{Title: "Alarms of this span", Size: "whole", About: "A bar is a time in which an alarm was active; those that still are come first, in red, and unknown ones in yellow."}
	if len(all) == 0 {
		f.Empty = "No alarm was active."
		return f
	}
	var lanes []plot.Lane
	f.Table = &Table{Head: words("Alarm", "Severity", "Where", "Net", "First raised", "Last cleared", "Times", "Active in all", "Longest")}
	for i := range f.Table.Head[6:] {
		f.Table.Head[6+i].Class = "num"
	}
	for _, a := range all[:min(len(all), maxAlarms)] {
		if len(a.when) == 0 {
			continue
		}
		lane := plot.Lane{Name: a.name(), Class: "over-then"}
		switch {
		case a.unknown != "":
			lane.Class = "over-unknown"
		case a.active:
			lane.Class = "over-now"
		}
		for i, s := range a.when {
			raised, cleared, long := a.says(i, from, to)
			lane.When = append(lane.When, plot.Stretch{From: s.from, To: s.to, Says: raised + " – " + cleared + ", " + long})
		}
		lanes = append(lanes, lane)
		f.Table.Rows = append(f.Table.Rows, a.cells(from, to))
	}
	if len(all) > maxAlarms {
		f.note("%d of %d, active ones first, then those that were active for longest.", maxAlarms, len(all))
	}
	f.Picture = template.HTML(plot.Frame{Width: 1200, From: from, To: to, Title: f.Title}.Lanes(lanes)) //nolint:gosec // report/plot escapes
	return f
}

// says is when a stretch began and ended, and how long it was.
func (a *alarm) says(i int, from, to time.Time) (raised, cleared, long string) {
	s := a.when[i]
	raised, cleared = plot.Clock(s.from, to), plot.Clock(s.to, to)
	long = plot.Format("s", s.to.Sub(s.from).Round(time.Second).Seconds())
	if s.early {
		raised, long = "before "+plot.Clock(from, to), "> "+long
	}
	if a.active && i+1 == len(a.when) {
		cleared = "active"
		if a.unknown != "" {
			cleared = "unknown"
		}
	}
	return raised, cleared, long
}

// cells are the row of an alarm.
func (a *alarm) cells(from, to time.Time) []Cell {
	raised, _, _ := a.says(0, from, to)
	_, cleared, _ := a.says(len(a.when)-1, from, to)
	longest := slices.MaxFunc(a.when, func(a, b stretch) int { return cmp.Compare(a.to.Sub(a.from), b.to.Sub(b.from)) })
	more := ""
	if a.when[0].early {
		more = "> "
	}
	row := append(words(a.labels["alarm"], a.labels["severity"], a.subject(), a.net(), raised, cleared),
		Cell{Text: plot.Format("short", float64(len(a.when))), Class: "num"},
		Cell{Text: more + plot.Format("s", a.long().Round(time.Second).Seconds()), Class: "num"},
		Cell{Text: plot.Format("s", longest.to.Sub(longest.from).Round(time.Second).Seconds()), Class: "num"})
	switch {
	case a.unknown != "":
		row[5].Class = "warm"
	case a.active:
		row[5].Class = "burnt"
	}
	return row
}

// wrongNow lists the alarms that are active and known to hold, and counts those that follow from
// a lost source.
func wrongNow(all []alarm, nets []netState, from, to time.Time) *Figure {
	f := &Figure{Title: "Wrong now", Size: "half", About: "Alarms that are active, by the sidecar's thresholds; those that are active for longest come first."}
	f.standing(all, nets, from, to, "Note", (*alarm).own, func(a *alarm) Cell { return Cell{Text: a.note} })
	following := map[string]int{}
	for _, a := range all {
		if a.follows != "" {
			following[a.follows]++
		}
	}
	for i, source := range slices.Sorted(maps.Keys(following)) {
		if i == maxStats {
			f.note("More sources are lost, from which others follow: %d.", len(following)-maxStats)
			break
		}
		f.note("%s following from lost source %s: not listed here.", count(following[source], "alarm"), source)
	}
	switch {
	case f.Table != nil:
	case others(all) != "":
		f.Empty = "Nothing is known to be wrong."
	default:
		f.Empty = "Nothing: no alarm is active."
	}
	return f
}

// unknownNow lists the alarms of which it is not known whether they hold; nil for none.
func unknownNow(all []alarm, nets []netState, from, to time.Time) *Figure {
	f := &Figure{Title: "Unknown alarms", Size: "half", About: "Alarms of which it is not known whether they still hold. They end once their source reports again or stops cleanly, or by pnagent alarms close."}
	f.standing(all, nets, from, to, "Why", func(a *alarm) bool { return a.unknown != "" && a.follows == "" },
		func(a *alarm) Cell { return Cell{Text: strings.TrimPrefix(a.note+"; "+a.unknown, "; ")} })
	if f.Table == nil {
		return nil
	}
	return f
}

// standing makes a table of the active alarms that are selected. last is the title of its last
// column, whose cells note returns.
func (f *Figure) standing(all []alarm, nets []netState, from, to time.Time, last string, selected func(*alarm) bool, note func(*alarm) Cell) {
	byAge := slices.Clone(all)
	slices.SortStableFunc(byAge, func(a, b alarm) int { return a.last().Compare(b.last()) })
	byAge = slices.DeleteFunc(byAge, func(a alarm) bool { return !selected(&a) || len(a.when) == 0 })
	for _, a := range byAge {
		if f.Table == nil {
			f.Table = &Table{Head: []Cell{{Text: "Alarm"}, {Text: "Severity"}, {Text: "Where"}, {Text: "Net"}, {Text: "Since"}, {Text: "For", Class: "num"}, {Text: last}}}
		}
		if len(f.Table.Rows) == maxRows {
			f.note("%d of %d.", maxRows, len(byAge))
			break
		}
		begun, _, long := a.says(len(a.when)-1, from, to)
		class := "burnt"
		if a.unknown != "" {
			class = "warm"
		}
		f.Table.Rows = append(f.Table.Rows, []Cell{{Text: a.labels["alarm"], Class: class}, {Text: a.labels["severity"]}, {Text: a.subject()},
			{Text: a.net(), Link: linkTo(a.labels["net"], nets)}, {Text: begun, Class: "time"}, {Text: long, Class: "num"}, note(&a)})
	}
}

// summarise writes the head of the page.
func summarise(r *Report, nets []netState, alarms []alarm, oldest *Figure) {
	wrong, doubtful := 0, 0
	for _, n := range nets {
		switch {
		case n.alarms > 0 || n.deadlocked > 0:
			wrong++
		case n.unknown+n.following > 0:
			doubtful++
		}
	}
	raised, cleared, active := tally(alarms)
	var states []string
	if wrong > 0 {
		states = append(states, plural(wrong, "has", "have")+" something wrong now")
	}
	if doubtful > 0 {
		states = append(states, plural(doubtful, "has", "have")+" alarms that are unknown or follow from a lost source")
	}
	state := cmp.Or(strings.Join(states, ", "), "all of them are well")
	r.Headline = append(r.Headline, fmt.Sprintf("%s: %s.", count(len(nets), "net"), state),
		fmt.Sprintf("%s raised and %d cleared in this span; %d active now%s.", count(raised, "alarm"), cleared, active, others(alarms)))
	if len(nets) == 0 {
		r.Headline[0] = "There is no net."
	}
	now := []*Figure{wrongNow(alarms, nets, r.From, r.To), oldest}
	if f := unknownNow(alarms, nets, r.From, r.To); f != nil {
		now = append(now, f)
	}
	r.Summary = append(r.Summary, Part{"Now", now},
		Part{"Alarms", []*Figure{alarmFigure(alarms, r.From, r.To)}})
}
