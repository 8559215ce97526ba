// SPDX-License-Identifier: Apache-2.0

package top

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/web/api"
)

// maxLines bounds the lines of a page.
const maxLines = 10_000

// page returns the lines of the open page.
func (m *Model) page() []line {
	s := *m.open
	switch s.tab {
	case Sources:
		for i := range m.shown.view.Sources {
			if o := &m.shown.view.Sources[i]; o.Name == s.id && o.Net == s.net {
				return m.sourcePage(o)
			}
		}
	case AlarmList:
		if a := m.shown.alarm(s); a != nil {
			return m.alarmPage(a)
		}
		return []line{plainLine("This alarm is no longer active.")}
	}
	n := m.netOf(s.net)
	if n == nil {
		return []line{plainLine("The sidecar no longer shows this.")}
	}
	for i := range n.Places {
		if s.tab == Places && n.Places[i].ID == s.id {
			return m.placePage(n, &n.Places[i])
		}
	}
	for i := range n.Transitions {
		if s.tab == Transitions && n.Transitions[i].ID == s.id {
			return m.transitionPage(n, &n.Transitions[i])
		}
	}
	return []line{plainLine("The sidecar no longer shows this.")}
}

// alarm returns the alarm of a subject, or nil.
func (s *sample) alarm(about subject) *api.Alarm {
	if s == nil || s.alarms == nil || about.tab != AlarmList {
		return nil
	}
	for i := range s.alarms.Active {
		if a := &s.alarms.Active[i]; strconv.FormatUint(uint64(a.Index), 10) == about.id {
			return a
		}
	}
	return nil
}

// labelWidth is the width of the names of figures on a page.
const labelWidth = 15

// field returns a line with a name and its value.
func field(name string, spans ...span) line {
	return append(line{{fit(name, labelWidth, false), faint}}, spans...)
}

// heading returns the first line of a page: what it is about, in words, with its id and its net.
func heading(kind string, called *api.Called, id, name, net string) line {
	if called != nil {
		kind, id, name = called.Kind, called.Name, id
	}
	l := line{{clean(kind) + " ", faint}, {clean(id), bold}}
	if name != "" && name != id {
		l = append(l, span{"  " + clean(name), normal})
	}
	if net != "" {
		l = append(l, span{"  of net ", faint}, span{clean(net), normal})
	}
	return l
}

func (m *Model) placePage(n *api.Net, p *api.Place) []line {
	oldest, aged, finished := age(p.OldestAge, p.Tokens), m.aged, span{}
	if p.Final {
		aged = func(c cell) span { return span{m.aged(c).text, normal} }
		finished = span{"  finished work: no transition takes tokens from here", faint}
	}
	lines := []line{heading("place", p.Called, p.ID, p.Name, n.ID), {},
		field("tokens", span{show(kindCount, count(p.Tokens)), normal}, span{"  in instances  ", faint}, span{show(kindCount, count(p.Instances)), normal}),
		field("oldest", aged(oldest), span{"  mean  ", faint}, aged(age(p.MeanAge, p.Tokens)), finished),
		field("last in", span{formatLast(p.LastInjection, m.clock().now), normal}),
		field("in", flow(p.Arrivals, p.ArrivalRate)...),
		field("out", flow(p.Departures, p.DepartureRate)...),
		dwell("dwell", p.Dwell), {}}
	lines = append(lines, m.ladder(p)...)
	if p.Final {
		return lines
	}
	return append(append(lines, m.reasons(p)...), m.tokens(p)...)
}

func flow(n *uint64, r *float64) []span {
	return []span{{show(kindCount, count(n)), normal}, {"  at  ", faint}, {show(kindRate, figure(r)), normal}, {"  a second", faint}}
}

func show(k kind, c cell) string { return column{kind: k}.show(c, clock{}) }

// aged returns an age with its colour.
func (m *Model) aged(c cell) span {
	now := m.clock()
	return span{column{kind: kindAge}.show(c, now), heat(c.num + now.drift)}
}

// dwell returns a line of percentiles.
func dwell(name string, h *api.Histogram) line {
	switch {
	case h == nil:
		return field(name, span{unknown, normal})
	case h.Count == 0 || h.P50 == nil || h.P95 == nil || h.P99 == nil || h.Mean == nil:
		return field(name, span{nothing + " none yet", normal})
	}
	var l []span
	for _, q := range []struct {
		name  string
		value float64
	}{{"p50", *h.P50}, {"p95", *h.P95}, {"p99", *h.P99}, {"mean", *h.Mean}} {
		l = append(l, span{q.name + " ", faint}, span{formatDuration(q.value) + "  ", normal})
	}
	return field(name, append(l, span{"of ", faint}, span{formatCount(float64(h.Count)), normal})...)
}

// formatLast returns when something last happened; both times are by the sidecar's
// clock.
func formatLast(t api.Time, now time.Time) string {
	if t == 0 {
		return nothing
	}
	return formatTime(t.Time()) + ", " + formatAge(now.Sub(t.Time()).Seconds()) + " ago"
}

// formatDue shows when a transition is to fire next.
func formatDue(t api.Time, now time.Time) string {
	if t.Time().After(now) {
		return formatTime(t.Time()) + ", in " + formatAge(t.Time().Sub(now).Seconds())
	}
	return formatLast(t, now)
}

// tall is the least height of a screen with bars above the tokens.
const tall = 32

// ladder shows how many tokens are older than each age.
func (m *Model) ladder(p *api.Place) []line {
	if p.OlderThan == nil {
		return []line{field("older than", span{unknown, normal}), nil}
	}
	most, older := uint64(1), p.OlderThan.Steps()
	for _, n := range older {
		most = max(most, n)
	}
	var bars []line
	steps, counts := field("older than"), field("tokens")
	for i, step := range stats.AgeSteps() {
		n, st := older[i], heat(float64(step.Age)/1e6)
		if p.Final {
			st = normal
		}
		count := fit(formatCount(float64(n)), 8, true)
		bars = append(bars, field("", span{fit(step.Label, 4, true) + count + "  ", normal}, span{bar(n, most), st}))
		steps, counts = append(steps, span{fit(step.Label, 8, true), faint}), append(counts, span{count, st})
	}
	if m.height < tall {
		return []line{steps, counts, nil}
	}
	bars[0][0] = field("older than")[0]
	return append(bars, nil)
}

// bar returns a bar of n of most in 24 cells, with at least one mark if n is 1 or
// more.
func bar(n, most uint64) string {
	const eighths = 24 * 8
	k := int(float64(n) / float64(most) * eighths)
	if n > 0 {
		k = max(k, 1)
	}
	whole, part := strings.Repeat("█", k/8), ""
	if k%8 > 0 {
		part = string(rune('█' + 8 - k%8))
	}
	return whole + part
}

// reasons lists how many tokens of a place wait for each reason, with the oldest one, if they wait for several.
func (m *Model) reasons(p *api.Place) []line {
	if p.Reasons == nil || len(*p.Reasons) < 2 {
		return nil
	}
	lines := []line{{{fit("AGE", 6, true) + "  " + fit("TOKENS", 8, true) + "  REASON", bold}}}
	for i := range *p.Reasons {
		r := &(*p.Reasons)[i]
		age := m.aged(num(r.Oldest.Age))
		why := clean(r.Reason + ": " + r.Oldest.Instance)
		if texts := formatWaits(r.Oldest.Waits, m.clock().now); len(texts) > 0 {
			why += " " + texts[0]
		}
		lines = append(lines, line{{fit(age.text, 6, true), age.style}, {"  " + fit(formatCount(float64(r.Tokens)), 8, true) + "  " + fit(why, max(m.width-18, 8), false), normal}})
	}
	return append(lines, nil)
}

// tokens lists a place's oldest tokens and what each waits for.
func (m *Model) tokens(p *api.Place) []line {
	switch {
	case p.Stuck == nil:
		return []line{field("oldest tokens", span{unknown, normal})}
	case len(*p.Stuck) == 0:
		return []line{field("oldest tokens", span{nothing, normal})}
	}
	instance := width("INSTANCE")
	for i := range *p.Stuck {
		instance = max(instance, min(width(clean((*p.Stuck)[i].Instance)), max(m.width/3, 8)))
	}
	lines := []line{{{fit("AGE", 6, true) + "  " + fit("INSTANCE", instance, false) + "  WAITS FOR", bold}}}
	for i := range *p.Stuck {
		t := &(*p.Stuck)[i]
		waits := []string{unknown}
		if len(t.Waits) > 0 {
			waits = nil
		}
		for _, text := range formatWaits(t.Waits, m.clock().now) {
			waits = append(waits, wrap(text, m.width-8-instance-3)...)
		}
		a := m.aged(num(t.Age))
		for j, w := range waits {
			lead := []span{{fit(a.text, 6, true), a.style}, {"  " + fit(clean(t.Instance), instance, false), normal}}
			if j > 0 {
				lead = []span{{strings.Repeat(" ", 8+instance), normal}}
			}
			lines = append(lines, append(lead, span{"  " + w, normal}))
		}
	}
	return lines
}

func (m *Model) transitionPage(n *api.Net, x *api.Transition) []line {
	lines := []line{heading("transition", x.Called, x.ID, x.Name, n.ID), {},
		field("fired", flow(x.Firings, x.Rate)...),
		field("last fired", span{formatLast(x.LastFiring, m.clock().now), normal}),
		field("enabled", span{show(kindCount, count(x.Enabled)), normal}, span{"  longest  ", faint}, m.aged(age(x.EnabledAge, x.Enabled))),
		field("running", span{show(kindCount, count(x.Running)), normal}, span{"  longest  ", faint}, m.aged(age(x.RunningAge, x.Running))),
		field("failed", span{show(kindCount, count(x.Failures)), normal}, span{"  retried  ", faint}, span{show(kindCount, count(x.Retries)), normal},
			span{"  cancelled  ", faint}, span{show(kindCount, count(x.Cancels)), normal},
			span{"  timed out  ", faint}, span{show(kindCount, count(x.Timeouts)), normal}),
		dwell("duration", x.Duration)}
	if x.NextDue != 0 {
		lines = append(lines, field("next due", span{formatDue(x.NextDue, m.clock().now), normal}))
	}
	lines = append(lines, line{})
	return append(lines, blockers(n, x.ID)...)
}

// blockers lists what blocks a transition, and in how many instances.
func blockers(n *api.Net, id string) []line {
	if n.Blocks == nil {
		return []line{field("blocked by", span{unknown, normal})}
	}
	var own []api.Block
	for _, b := range *n.Blocks {
		if b.Transition == id {
			own = append(own, b)
		}
	}
	if len(own) == 0 {
		return []line{field("blocked by", span{nothing, normal})}
	}
	slices.SortStableFunc(own, func(a, b api.Block) int { return cmp.Compare(b.Instances, a.Instances) })
	lines := []line{{{fit("INSTANCES", 9, true) + "  HELD BACK BY", bold}}}
	for _, b := range own {
		lines = append(lines, line{{fit(formatCount(float64(b.Instances)), 9, true), normal},
			{"  " + formatReason(api.Wait{Reason: b.Reason, Place: b.Place}, time.Time{}), normal}})
	}
	return lines
}

// affected returns how many things an alarm is about, as text.
func affected(a *api.Alarm) string {
	if a.Affected == nil {
		return nothing
	}
	return strconv.FormatUint(*a.Affected, 10)
}

func (m *Model) sourcePage(o *api.Source) []line {
	skew := formatDuration(o.Skew)
	if o.SkewBeyond {
		skew += ", too much to be used"
	}
	lines := []line{heading("source", nil, o.Name, "", o.Net), {},
		field("state", span{clean(o.State), stateStyle(o.State)}, span{reasonOf(o), red}),
		field("last message", m.aged(silence(o)), span{"  ago, every  ", faint}, span{formatDuration(o.Interval), normal}),
		field("clock ahead by", span{skew, normal}),
		field("region", span{cmp.Or(clean(o.Region), nothing), normal}),
		field("sequence", span{strconv.FormatUint(o.Seq, 10), normal}),
		field("gaps", span{strconv.FormatUint(o.Gaps, 10), normal}),
		field("duplicates", span{strconv.FormatUint(o.Duplicates, 10), normal}),
		field("restarts", span{strconv.FormatUint(o.Restarts, 10), normal})}
	return append(lines, regionLines(o)...)
}

// reasonOf returns why a source is refused, after a colon.
func reasonOf(o *api.Source) string {
	if o.Reason == "" {
		return ""
	}
	return ": " + clean(o.Reason)
}

// regionLines returns what the owner of a region reports about it.
func regionLines(o *api.Source) []line {
	if o.Region == "" {
		return nil
	}
	var lines []line
	if o.Fence > 0 {
		lines = append(lines, field("owner", span{"number ", faint}, span{strconv.FormatUint(o.Fence, 10), normal}))
	}
	if o.Position != nil {
		lines = append(lines, field("log", span{strconv.FormatUint(*o.Position, 10), normal}, span{"  commits", faint}))
	}
	if o.Standbys != nil {
		standbys := line{{strconv.FormatUint(*o.Standbys, 10), normal}}
		if o.Lag != nil {
			standbys = append(standbys, span{"  the nearest is behind by  ", faint}, span{strconv.FormatUint(*o.Lag, 10), normal})
		}
		lines = append(lines, field("standbys", standbys...))
	}
	if o.RegionStopped != "" {
		lines = append(lines, field("stopped", span{clean(o.RegionStopped), normal}))
	}
	if o.Setbacks > 0 {
		lines = append(lines, field("setbacks", span{strconv.FormatUint(o.Setbacks, 10), normal}))
	}
	return lines
}

func (m *Model) alarmPage(a *api.Alarm) []line {
	lines := []line{heading("alarm", nil, a.Alarm, "", a.Net), {},
		field("severity", span{clean(a.Severity), normal}),
		field("about", span{cmp.Or(clean(a.Called.Or(a.About())), "the net"), normal}),
		field("since", m.aged(figure(a.Age))),
		field("raised", span{formatTime(a.Raised.Time()), normal}),
		field("affected", span{affected(a), normal}),
		field("number", span{fmt.Sprint(a.Index), normal})}
	if a.Reason != "" {
		lines = append(lines, field("reason", span{clean(a.Reason), normal}, span{"  of the oldest, instance  ", faint}, span{clean(a.Instance), normal}))
	}
	if ack := a.Acknowledged; ack != nil {
		lines = append(lines, field("acknowledged", span{formatTime(ack.At.Time()), normal}, span{"  by ", faint}, span{clean(ack.By), normal}))
		for _, text := range wrap(clean(ack.Comment), m.width-labelWidth) {
			if text != "" {
				lines = append(lines, field("", span{text, normal}))
			}
		}
	}
	if a.SilencedUntil != 0 {
		lines = append(lines, field("silenced until", span{formatTime(a.SilencedUntil.Time()), normal}))
	}
	if a.Follows != "" {
		lines = append(lines, field("follows from", span{"lost source ", faint}, span{clean(a.Follows), normal}))
	}
	if a.Unknown != "" {
		lines = append(lines, field("ends", span{"once its source reports again or stops cleanly", normal}),
			field("", span{"or by  ", faint}, span{fmt.Sprintf("pnagent alarms close %d", a.Index), normal}))
	}
	lines = append(lines, line{})
	for _, text := range wrap(clean(a.Text), m.width) {
		lines = append(lines, plainLine(text))
	}
	if _, ok := m.aboutAlarm(); ok {
		lines = append(lines, line{}, line{{"enter shows what it is about", faint}})
	}
	return lines
}
