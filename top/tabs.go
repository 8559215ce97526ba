// SPDX-License-Identifier: Apache-2.0

package top

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pnagent/pnagent/web/api"
)

// Tab is one of the tables.
type Tab int

// The tables, in the order of their keys 1 to 5.
const (
	Nets Tab = iota
	Places
	Transitions
	Sources
	AlarmList
	tabs = iota
)

// Titles returns the names of the tables, in their order.
func Titles() []string { return []string{"Nets", "Places", "Transitions", "Sources", "Alarms"} }

// TabNamed returns the table with a name in upper or lower case.
func TabNamed(name string) (Tab, bool) {
	i := slices.IndexFunc(Titles(), func(t string) bool { return strings.EqualFold(t, name) })
	return Tab(i), i >= 0
}

// firstOrder returns the initial order of each table: rows that need attention
// come first.
func firstOrder() [tabs]order {
	return [tabs]order{Nets: {column: 2}, Places: {column: 3}, Transitions: {column: 2}, Sources: {column: 2}, AlarmList: {column: 4}}
}

// sample is a View with its alarms.
type sample struct {
	view       *api.View
	alarms     *api.Alarms // nil if they are not known
	receivedAt time.Time
}

func (s *sample) table(tab Tab) *table {
	return [tabs]func(*sample) *table{(*sample).nets, (*sample).places, (*sample).transitions, (*sample).sources, (*sample).alarmList}[tab](s)
}

func (s *sample) nets() *table {
	t := &table{columns: []column{
		{title: "NET", width: 10},
		{title: "TOKENS", kind: kindCount, width: 7, rank: 2, down: true},
		{title: "OLDEST", kind: kindAge, width: 7, down: true},
		{title: "FIRED/S", kind: kindRate, width: 8, rank: 1, down: true},
		{title: "ACTIVE", kind: kindCount, width: 7, rank: 3, down: true},
		{title: "DEADLOCK", kind: kindCount, width: 9, rank: 2, down: true},
		{title: "DONE/S", kind: kindRate, width: 7, rank: 4, down: true},
		{title: "FAILED", kind: kindCount, width: 7, rank: 5, down: true},
		{title: "UP", kind: kindCount, width: 4, rank: 6, down: true},
		{title: "STALE", kind: kindCount, width: 6, rank: 5, down: true},
		{title: "WAITING", kind: kindCount, width: 8, rank: 8, down: true},
		{title: "NAME", width: 8, rank: 9},
	}}
	for i := range s.view.Nets {
		n := &s.view.Nets[i]
		active, deadlocked, failed := math.NaN(), math.NaN(), math.NaN()
		if n.Instances != nil {
			active, deadlocked, failed = float64(n.Instances.Active), float64(n.Instances.Deadlocked), float64(n.Instances.Failed)
		}
		t.add(subject{Nets, n.ID, ""}, text(n.ID), count(n.Tokens), oldestOf(n), figure(n.Rate), num(active), num(deadlocked),
			figure(n.FinishedRate), num(failed), num(float64(n.Up)), num(float64(n.Stale)), count(n.Waiting), text(n.Name))
	}
	return t
}

// oldestOf returns a cell for the age of a net's oldest token outside the places in
// which tokens stay on purpose.
func oldestOf(n *api.Net) cell {
	if n.OldestAge == nil && slices.ContainsFunc(n.Places, func(p api.Place) bool { return p.OldestAge != nil }) {
		return num(math.Inf(-1))
	}
	return figure(n.OldestAge)
}

func (s *sample) places() *table {
	t := &table{columns: []column{
		{title: "PLACE", width: 16},
		{title: "NET", width: 10, rank: 3},
		{title: "TOKENS", kind: kindCount, width: 7, rank: 1, down: true},
		{title: "OLDEST", kind: kindAge, width: 7, down: true},
		{title: "MEAN", kind: kindAge, width: 6, rank: 5, down: true},
		{title: "IN/S", kind: kindRate, width: 7, rank: 4, down: true},
		{title: "OUT/S", kind: kindRate, width: 7, rank: 3, down: true},
		{title: ">1m", kind: kindCount, width: 7, rank: 7, down: true},
		{title: ">1h", kind: kindCount, width: 7, rank: 8, down: true},
		{title: "P95", kind: kindDuration, width: 6, rank: 6, down: true},
		{title: "OLDEST WAITS FOR", kind: kindWaits, width: 22, rank: 2},
		{title: "NAME", width: 8, rank: 9},
	}}
	for i := range s.view.Nets {
		n := &s.view.Nets[i]
		for j := range n.Places {
			p, minutes, hours := &n.Places[j], num(math.NaN()), num(math.NaN())
			if p.OlderThan != nil {
				minutes, hours = count(&p.OlderThan.M1), count(&p.OlderThan.H1)
			}
			t.add(subject{Places, n.ID, p.ID}, text(p.Called.Or(p.ID)), text(n.ID), count(p.Tokens), oldestAge(p),
				meanAge(p), figure(p.ArrivalRate), figure(p.DepartureRate), minutes, hours, p95(p.Dwell), oldest(p), text(second(p.Called, p.ID, p.Name)))
		}
	}
	return t
}

// second returns the name of a place or transition, whose id is before it. Of one in a process of BPMN,
// whose words are before it, it is the id.
func second(called *api.Called, id, name string) string {
	if called != nil {
		return id
	}
	return name
}

// oldestAge returns a cell for the age of the oldest token. A final place has
// none: its tokens are finished work.
func oldestAge(p *api.Place) cell {
	if p.Final {
		return cell{num: math.Inf(-1), text: "end"}
	}
	return calm(p, age(p.OldestAge, p.Tokens))
}

// meanAge returns a cell for the mean age of the tokens.
func meanAge(p *api.Place) cell { return calm(p, age(p.MeanAge, p.Tokens)) }

// calm returns the cell of an age. That of a place in which tokens stay on purpose is no
// problem, so it has no colour and comes last.
func calm(p *api.Place, c cell) cell {
	if (p.Final || p.Resting) && c.num > 0 {
		return cell{num: math.Inf(-1), text: formatAge(c.num)}
	}
	return c
}

func oldest(p *api.Place) cell {
	switch {
	case p.Stuck == nil:
		return num(math.NaN())
	case len(*p.Stuck) == 0:
		return num(math.Inf(1))
	}
	return cell{token: &(*p.Stuck)[0]}
}

func p95(h *api.Histogram) cell {
	switch {
	case h == nil:
		return num(math.NaN())
	case h.P95 == nil:
		return num(math.Inf(1))
	}
	return num(*h.P95)
}

func (s *sample) transitions() *table {
	t := &table{columns: []column{
		{title: "TRANSITION", width: 16},
		{title: "NET", width: 10, rank: 3},
		{title: "FIRED/S", kind: kindRate, width: 8, down: true},
		{title: "FIRINGS", kind: kindCount, width: 8, rank: 1, down: true},
		{title: "ENABLED", kind: kindCount, width: 8, rank: 2, down: true},
		{title: "SINCE", kind: kindAge, width: 7, rank: 2, down: true},
		{title: "RUNNING", kind: kindCount, width: 8, rank: 4, down: true},
		{title: "LONGEST", kind: kindAge, width: 8, rank: 5, down: true},
		{title: "FAILED", kind: kindCount, width: 7, rank: 4, down: true},
		{title: "RETRIED", kind: kindCount, width: 8, rank: 7, down: true},
		{title: "P95", kind: kindDuration, width: 6, rank: 6, down: true},
		{title: "NAME", width: 8, rank: 9},
	}}
	for i := range s.view.Nets {
		n := &s.view.Nets[i]
		for j := range n.Transitions {
			x := &n.Transitions[j]
			t.add(subject{Transitions, n.ID, x.ID}, text(x.Called.Or(x.ID)), text(n.ID), figure(x.Rate), count(x.Firings),
				count(x.Enabled), age(x.EnabledAge, x.Enabled), count(x.Running), age(x.RunningAge, x.Running), count(x.Failures),
				count(x.Retries), p95(x.Duration), text(second(x.Called, x.ID, x.Name)))
		}
	}
	return t
}

func (s *sample) sources() *table {
	t := &table{columns: []column{
		{title: "SOURCE", width: 10},
		{title: "NET", width: 8, rank: 1},
		{title: "STATE", width: 9}, // gone, refused, stale and undefined come before up
		{title: "SILENT", kind: kindAge, width: 7, down: true},
		{title: "EVERY", kind: kindDuration, width: 6, rank: 6, down: true},
		{title: "SKEW", kind: kindDuration, width: 7, rank: 4, down: true},
		{title: "GAPS", kind: kindCount, width: 6, rank: 3, down: true},
		{title: "TWICE", kind: kindCount, width: 6, rank: 5, down: true},
		{title: "RESTARTS", kind: kindCount, width: 9, rank: 2, down: true},
		{title: "REGION", width: 7, rank: 7},
	}}
	for i := range s.view.Sources {
		o := &s.view.Sources[i]
		t.add(subject{Sources, o.Net, o.Name}, text(o.Name), text(o.Net), text(o.State), silence(o), num(o.Interval),
			num(o.Skew), num(float64(o.Gaps)), num(float64(o.Duplicates)), num(float64(o.Restarts)), text(o.Region))
	}
	return t
}

func (s *sample) alarmList() *table {
	t := &table{columns: []column{
		{title: "ALARM", width: 10},
		{title: "SEVERITY", width: 8, rank: 2}, // critical, major, minor and warning are in the order of the alphabet
		{title: "NET", width: 8, rank: 3},
		{title: "ABOUT", width: 8, rank: 1},
		{title: "SINCE", kind: kindAge, width: 7, down: true},
		{title: "AFFECTED", kind: kindCount, width: 9, rank: 5, down: true},
		{title: noteColumn, width: 10, rank: 4},
		{title: "TEXT", kind: kindSentence, width: 20, rank: 6},
	}}
	if s.alarms == nil {
		return t
	}
	for i := range s.alarms.Active {
		a := &s.alarms.Active[i]
		t.add(subject{AlarmList, a.Net, strconv.FormatUint(uint64(a.Index), 10)}, text(a.Alarm), text(a.Severity), text(a.Net), text(a.Called.Or(a.About())), figure(a.Age), count(a.Affected),
			text(noteOf(a)), text(a.Text))
	}
	return t
}

// noteColumn is the title of the column with what noteOf returns.
const noteColumn = "NOTE"

// noteOf returns whether it is known that an alarm holds, from which source it follows, who
// acknowledged it, and whether it is silenced.
func noteOf(a *api.Alarm) string {
	var notes []string
	if a.Unknown != "" {
		notes = append(notes, "unknown")
	}
	if a.Follows != "" {
		notes = append(notes, "follows from "+a.Follows)
	}
	if a.Acknowledged != nil {
		notes = append(notes, a.Acknowledged.By)
	}
	if a.SilencedUntil != 0 {
		notes = append(notes, "silenced")
	}
	return strings.Join(notes, ", ")
}

func (t *table) add(s subject, cells ...cell) {
	t.rows = append(t.rows, row{s, cells})
}

func text(s string) cell { return cell{text: s} }

func num(n float64) cell { return cell{num: n} }

// figure returns a cell for a value that may be unknown.
func figure(n *float64) cell {
	if n == nil {
		return num(math.NaN())
	}
	return num(*n)
}

func count(n *uint64) cell {
	if n == nil {
		return num(math.NaN())
	}
	return num(float64(*n))
}

// silence returns a cell for the time since the last message of a source.
func silence(o *api.Source) cell {
	if o.LastMessage == 0 {
		return num(math.NaN())
	}
	return figure(o.LastMessageAge)
}

// age returns a cell for the age of one of n things, where n may be 0.
func age(seconds *float64, n *uint64) cell {
	switch {
	case seconds == nil:
		return num(math.NaN())
	case *seconds == 0 && (n == nil || *n == 0):
		return num(math.Inf(-1))
	}
	return num(*seconds)
}
