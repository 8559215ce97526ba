// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/pnagent/pnagent/dashboards/report/plot"
	"github.com/pnagent/pnagent/metrics"
)

// alarm is one that was active in the span, or several of the same kind at the
// same place one after the other.
type alarm struct {
	labels map[string]string // net, place, transition, source, region, alarm, severity
	when   []stretch
	active bool   // now
	note   string // of operators, if it is active

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

func (a *alarm) key() string { return a.spot() + "\x00" + a.labels["severity"] }

// last is when it was last raised; the zero Time if it never was.
func (a *alarm) last() time.Time {
	if len(a.when) == 0 {
		return time.Time{}
	}
	return a.when[len(a.when)-1].from
}

// spot is the key without the severity.
func (a *alarm) spot() string {
	return strings.Join([]string{a.labels["net"], a.labels["alarm"], a.labels["place"], a.labels["transition"], a.labels["source"], a.labels["region"]}, "\x00")
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
		over = fmt.Sprintf("max_over_time((%s)[%s:%s])", expr, promDuration(step), promDuration(d.scrape))
	}
	was, err := d.over(ctx, over, d.from, d.o.Now, step)
	if err != nil {
		return nil, fmt.Errorf("which alarms were active: %w", err)
	}
	is, err := d.at(ctx, expr, d.o.Now)
	if err != nil {
		return nil, fmt.Errorf("which alarms are active: %w", err)
	}
	notes, err := d.alarmNotes(ctx)
	if err != nil {
		return nil, err
	}
	now := map[string]bool{}
	for _, s := range is.series {
		now[(&alarm{labels: s.labels}).key()] = true
	}
	var all []alarm
	for _, s := range was.series {
		a := alarm{labels: s.labels, when: stretches(s.points, d.from, step)}
		if a.active = now[a.key()]; a.active {
			a.note = strings.Join(notes[a.spot()], ", ")
		}
		all = append(all, a)
	}
	sortAlarms(all)
	return all, nil
}

// alarmNotes asks which active alarms are acknowledged or silenced, by their spot.
func (d *drawing) alarmNotes(ctx context.Context) (map[string][]string, error) {
	notes := map[string][]string{}
	for _, n := range []struct{ metric, words string }{{metrics.AlarmAcknowledged, "acknowledged"}, {metrics.AlarmSilenced, "silenced"}} {
		is, err := d.at(ctx, n.metric, d.o.Now)
		if err != nil {
			return nil, fmt.Errorf("which alarms are %s: %w", n.words, err)
		}
		for _, s := range is.series {
			spot := (&alarm{labels: s.labels}).spot()
			notes[spot] = append(notes[spot], n.words)
		}
	}
	return notes, nil
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
		return cmp.Or(cmp.Compare(b.long(), a.long()), cmp.Compare(a.key(), b.key()))
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

// tally counts what became of alarms in the span.
func tally(all []alarm) (raised, cleared, active int) {
	for _, a := range all {
		for i, s := range a.when {
			if !s.early && !s.before {
				raised++
			}
			if i+1 < len(a.when) || !a.active {
				cleared++
			}
		}
		if a.active {
			active++
		}
	}
	return raised, cleared, active
}

// alarmFigure draws when alarms were active, a lane each, with a row each below.
func alarmFigure(all []alarm, from, to time.Time) *Figure {
	f := &Figure{Title: "Alarms of this span", Size: "whole", About: "A bar is a time in which an alarm was active; those that still are come first, in red."}
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
		if a.active {
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
	if cleared == "active" {
		row[5].Class = "burnt"
	}
	return row
}

// wrongNow lists the alarms that are active.
func wrongNow(all []alarm, nets []netState, from, to time.Time) *Figure {
	f := &Figure{Title: "Wrong now", Size: "half", About: "Alarms that are active, by the sidecar's thresholds; those that are active for longest come first."}
	byAge := slices.Clone(all)
	slices.SortStableFunc(byAge, func(a, b alarm) int { return a.last().Compare(b.last()) })
	for _, a := range byAge {
		if !a.active || len(a.when) == 0 {
			continue
		}
		if f.Table == nil {
			f.Table = &Table{Head: []Cell{{Text: "Alarm"}, {Text: "Severity"}, {Text: "Where"}, {Text: "Net"}, {Text: "Since"}, {Text: "For", Class: "num"}, {Text: "Note"}}}
		}
		if len(f.Table.Rows) == maxRows {
			_, _, active := tally(all)
			f.note("%d of %d.", maxRows, active)
			break
		}
		begun, _, long := a.says(len(a.when)-1, from, to)
		f.Table.Rows = append(f.Table.Rows, []Cell{{Text: a.labels["alarm"], Class: "burnt"}, {Text: a.labels["severity"]}, {Text: a.subject()},
			{Text: a.net(), Link: linkTo(a.labels["net"], nets)}, {Text: begun, Class: "time"}, {Text: long, Class: "num"}, {Text: a.note}})
	}
	if f.Table == nil {
		f.Empty = "Nothing: no alarm is active."
	}
	return f
}

// summarise writes the head of the page.
func summarise(r *Report, nets []netState, alarms []alarm, oldest *Figure) {
	wrong := 0
	for _, n := range nets {
		if n.alarms > 0 || n.deadlocked > 0 {
			wrong++
		}
	}
	raised, cleared, active := tally(alarms)
	state := "all of them are well"
	if wrong > 0 {
		state = plural(wrong, "has", "have") + " something wrong now"
	}
	r.Headline = append(r.Headline, fmt.Sprintf("%s: %s.", count(len(nets), "net"), state),
		fmt.Sprintf("%s raised and %d cleared in this span; %d active now.", count(raised, "alarm"), cleared, active))
	if len(nets) == 0 {
		r.Headline[0] = "There is no net."
	}
	r.Summary = append(r.Summary, Part{"Now", []*Figure{wrongNow(alarms, nets, r.From, r.To), oldest}},
		Part{"Alarms", []*Figure{alarmFigure(alarms, r.From, r.To)}})
}
