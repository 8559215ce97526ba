// SPDX-License-Identifier: Apache-2.0

package top

import (
	"cmp"
	_ "embed"
	"fmt"
	"strings"

	"github.com/pnagent/pnagent/web/api"
)

// chrome is the number of lines on a table's screen besides its rows.
const chrome = 4

// Frame returns the screen: its lines, separated by "\n", none wider than the
// screen. The only control characters are these, and SGR sequences for attributes
// and colours.
func (m *Model) Frame() string {
	lines := []line{m.header(), m.tabLine()}
	for _, l := range m.body(max(m.height-len(lines)-1, 0)) {
		if m.shown != nil && (m.err != nil || cutOff(m.shown.view)) {
			l = l.grey()
		}
		lines = append(lines, l)
	}
	for len(lines) < m.height-1 {
		lines = append(lines, nil)
	}
	lines = append(lines, m.footer())
	var b strings.Builder
	for i, l := range lines[:m.height] {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.paint(m.width, m.opts.Colour))
	}
	return b.String()
}

// unchanged is the age from which a View is not current, in seconds.
const unchanged = 5

// header returns the first line, which shows how current the figures are.
func (m *Model) header() line {
	l := line{{"pnagent top", bold}}
	switch {
	case m.shown == nil && m.err != nil:
		return append(l, span{"  no answer: " + clean(m.err.Error()), red | bold})
	case m.shown == nil:
		return append(l, span{"  asking " + clean(m.opts.URL), faint})
	case m.err != nil:
		return append(l, span{fmt.Sprintf("  no answer; figures are %s old: ", formatAge(m.now.Sub(m.newest.receivedAt).Seconds())), red | bold},
			span{clean(m.err.Error()), red})
	}
	if !m.paused.IsZero() {
		l = append(l, span{"  PAUSED " + formatAge(m.now.Sub(m.paused).Seconds()) + " ago", yellow | bold})
	}
	if n := m.shown.view.NATS; cutOff(m.shown.view) {
		since := m.shown.view.At.Time().Sub(n.Since.Time()) + m.now.Sub(m.shown.receivedAt)
		return append(l, span{fmt.Sprintf("  no connection to NATS; figures are %s old: ", formatAge(since.Seconds())), red | bold},
			span{clean(n.Reason), red})
	}
	l = append(l, span{"  ", normal})
	l = append(l, sourceCounts(m.shown.view)...)
	if up := m.shown.view.Up; up != nil && !up.Connected {
		since := m.shown.view.At.Time().Sub(up.Since.Time()) + m.now.Sub(m.shown.receivedAt)
		l = append(l, span{fmt.Sprintf("  no connection to the sidecar above for %s: ", formatAge(since.Seconds())), red | bold},
			span{clean(up.Reason), red})
	}
	if x := m.shown.view.AgentX; x != nil && !x.Connected {
		since := m.shown.view.At.Time().Sub(x.Since.Time()) + m.now.Sub(m.shown.receivedAt)
		l = append(l, span{fmt.Sprintf("  no AgentX session for %s: ", formatAge(since.Seconds())), red | bold}, span{clean(x.Reason), red})
	}
	age := m.now.Sub(m.advance).Seconds()
	fresh := faint
	if age >= unchanged {
		fresh = red | bold // it answers, but its View does not change
	}
	if pace := m.shown.view.Pace; pace > 0 {
		l = append(l, span{fmt.Sprintf("  too much work: engines publish each %s", formatAge(pace)), red})
	}
	return append(l, span{"  " + show(kindRate, figure(m.shown.view.Traffic.MessageRate)) + " msg/s", faint},
		span{fmt.Sprintf("  generation %d, %s old", m.shown.view.Generation, formatAge(age)), fresh},
		span{"  " + clean(m.opts.URL), faint})
}

// Doubts returns the reasons why the figures are not current, or do not reach
// the clients of the sidecar. There is none if every source is up.
func (m *Model) Doubts() (why []string) {
	if m.shown == nil {
		return nil
	}
	v := m.shown.view
	if cutOff(v) {
		why = append(why, fmt.Sprintf("no connection to NATS for %s: %s", formatAge(v.At.Time().Sub(v.NATS.Since.Time()).Seconds()), clean(v.NATS.Reason)))
	}
	if v.Age >= unchanged {
		why = append(why, fmt.Sprintf("the sidecar made its last View %s ago", formatAge(v.Age)))
	}
	if n := v.States.Stale; n > 0 {
		why = append(why, fmt.Sprintf("%d stale and %d up among the sources; the rows of stale ones are those of their last snapshot", n, v.States.Up))
	}
	if v.States.Up == 0 && v.States.Stale == 0 {
		why = append(why, "no source is up")
	}
	lost := func(c *api.Connection, to, so string) {
		if c != nil && !c.Connected {
			why = append(why, fmt.Sprintf("%s for %s, so %s: %s", to, formatAge(v.At.Time().Sub(c.Since.Time()).Seconds()), so, clean(c.Reason)))
		}
	}
	lost(v.Up, "no connection to the sidecar above", "it gets nothing")
	lost(v.AgentX, "no AgentX session", "SNMP managers get nothing")
	return why
}

// cutOff reports whether the sidecar has no connection to NATS and so receives
// nothing.
func cutOff(v *api.View) bool { return v.NATS != nil && !v.NATS.Connected }

// sourceCounts returns how many sources are in each state, without gone ones.
func sourceCounts(v *api.View) line {
	n := v.States
	if n == (api.States{Gone: n.Gone}) {
		return line{{"no sources", yellow}}
	}
	l := line{{fmt.Sprintf("sources %d up", n.Up), normal}}
	for _, other := range []struct {
		state string
		n     int
	}{{"stale", n.Stale}, {"undefined", n.Undefined}, {"refused", n.Refused}} {
		if other.n > 0 {
			l = append(l, span{fmt.Sprintf(", %d %s", other.n, other.state), stateStyle(other.state) | bold})
		}
	}
	return l
}

// tabLine shows the tabs; on a narrow screen only the shown one by name.
func (m *Model) tabLine() line {
	const whole = 66
	var l line
	for i, title := range Titles() {
		name := fmt.Sprintf("%d %s", i+1, title)
		if m.width < whole && Tab(i) != m.tab {
			name = fmt.Sprint(i + 1)
		}
		s := span{" " + name + " ", faint}
		if Tab(i) == m.tab {
			s = span{"[" + name + "]", bold}
		}
		l = append(l, s)
		if Tab(i) == AlarmList {
			l = append(l, m.alarmCounts()...)
		}
	}
	return l
}

// alarmCounts returns how many alarms are active, how many are unknown, and how many follow
// from a lost source: each alarm is in one of these numbers.
func (m *Model) alarmCounts() line {
	if m.shown == nil || m.shown.alarms == nil {
		return nil
	}
	var active, doubts, follow int
	for i := range m.shown.alarms.Active {
		switch a := &m.shown.alarms.Active[i]; {
		case a.Follows != "":
			follow++
		case a.Unknown != "":
			doubts++
		default:
			active++
		}
	}
	var l line
	for _, n := range []struct {
		n     int
		what  string
		style style
	}{{active, "active", red | bold}, {doubts, "unknown", yellow | bold}, {follow, "following", faint}} {
		if n.n > 0 {
			l = append(l, span{fmt.Sprintf("%d %s", n.n, n.what), n.style}, span{" ", normal})
		}
	}
	return l
}

// body returns at most n lines: help, a page or a table.
func (m *Model) body(n int) []line {
	switch {
	case m.help:
		return m.window(helpLines(), n)
	case m.shown == nil && m.err != nil && n > 1:
		return []line{nil, plainLine("No sidecar answers at " + clean(m.opts.URL) + "; retrying every second."),
			plainLine("pnagent serve runs one, pnagent demo one with example nets, and --url says where it is.")}[:min(n, 3)]
	case m.shown == nil:
		return nil
	case m.open != nil:
		return m.window(m.page(), n)
	}
	return m.tableBody(n)
}

// window returns the visible lines of a page.
func (m *Model) window(lines []line, n int) []line {
	lines = lines[:min(len(lines), maxLines)]
	m.scroll = max(min(m.scroll, len(lines)-n), 0)
	end := min(m.scroll+n, len(lines))
	if end < len(lines) && n > 0 {
		more := line{{fmt.Sprintf("… %d more lines, j or the down arrow", len(lines)-end+1), faint}}
		return append(lines[m.scroll:end-1:end-1], more)
	}
	return lines[m.scroll:end]
}

func (m *Model) tableBody(n int) []line {
	if n == 0 {
		return nil
	}
	t := m.table()
	gap := 1
	if m.width >= 100 {
		gap = 2
	}
	o := m.orders[m.tab]
	slots := t.layout(m.width-1, gap, o.column)
	lines := []line{heads(t, slots, gap, o)}
	if len(t.rows) == 0 {
		return append(lines, line{{" " + m.empty(), faint}})
	}
	c := &m.lists[m.tab]
	c.top = max(min(c.top, c.row, len(t.rows)-n+1), c.row-n+2, 0)
	for i := c.top; i < min(c.top+n-1, len(t.rows)); i++ {
		l := m.rowLine(t, &t.rows[i], slots, gap)
		if i == c.row {
			l[0].text = "›"
			l = l.with(reverse)
		}
		lines = append(lines, l)
	}
	return lines
}

// heads returns the line with the columns' titles.
func heads(t *table, slots []slot, gap int, o order) line {
	l := line{{" ", normal}}
	for i, s := range slots {
		c := t.columns[s.column]
		title, st := c.title, faint
		if s.column == o.column {
			st = bold
			if c.down != o.reverse {
				title += "▼"
			} else {
				title += "▲"
			}
		}
		l = append(l, span{spaces(i, gap) + fit(title, s.width, !c.flexible()), st})
	}
	return l
}

func spaces(i, gap int) string {
	if i == 0 {
		return ""
	}
	return strings.Repeat(" ", gap)
}

// rowLine returns a row; its first span is for the cursor.
func (m *Model) rowLine(t *table, r *row, slots []slot, gap int) line {
	l, now := line{{" ", normal}}, m.clock()
	for i, s := range slots {
		c, v := t.columns[s.column], r.cells[s.column]
		st := normal
		switch {
		case c.kind == kindAge && r.tab != Sources:
			st = heat(v.num + now.drift)
		case r.tab == Sources && s.column == 2:
			st = stateStyle(v.text)
		case r.tab == AlarmList && c.title == noteColumn && strings.HasPrefix(v.text, "unknown"):
			st = yellow
		}
		l = append(l, span{spaces(i, gap) + c.fit(c.show(v, now), s.width), st})
	}
	return l
}

// empty returns why a table has no rows.
func (m *Model) empty() string {
	switch {
	case m.filter != "":
		return `nothing matches "` + m.filter + `"; esc shows all`
	case m.net != "":
		return "nothing of net " + clean(m.net) + "; esc shows all"
	case m.tab == AlarmList && m.shown.alarms == nil:
		return "the sidecar does not report which alarms are active"
	case m.tab == AlarmList:
		return "no alarm is active"
	}
	return "nothing yet; does an engine publish?"
}

// footer returns the last line: the filters of the table, and the keys.
func (m *Model) footer() line {
	if m.typing {
		return line{{"/", bold}, {m.filter, normal}, {" ", reverse}, {"  enter keeps it, esc leaves it", faint}}
	}
	var l line
	if m.net != "" {
		l = append(l, span{"net " + clean(m.net) + "  ", yellow})
	}
	if m.filter != "" {
		l = append(l, span{`filter "` + m.filter + `"  `, yellow})
	}
	keys := []string{"q", "quit", "?", "help", "enter", "open", "s", "sort", "r", "reverse", "/", "filter", "n", "net", "p", "pause"}
	switch {
	case m.shown == nil && !m.help:
		keys = keys[:4]
	case m.help, m.open != nil:
		l, keys = nil, []string{"esc", "back", "q", "quit", "?", "help", "j/k", "scroll", "p", "pause"}
	default:
		rows := len(m.table().rows)
		l = append(l, span{fmt.Sprintf("%d/%d  ", min(m.lists[m.tab].row+1, rows), rows), normal})
	}
	for i := 0; i < len(keys); i += 2 {
		l = append(l, span{keys[i] + " ", bold}, span{keys[i+1] + "  ", faint})
	}
	return l
}

// help has keys and words, each with what it is about after a tab.
//
//go:embed help.txt
var help string

func helpLines() []line {
	lines := []line{plainLine("Places: tokens that wait, the oldest first. Transitions: how fast."), nil}
	for text := range strings.Lines(help) {
		key, about, _ := strings.Cut(strings.TrimSuffix(text, "\n"), "\t")
		lines = append(lines, line{{fit(key, 15, false), bold}, {about, normal}})
	}
	return lines
}

// Plain returns the whole shown table as text: aligned columns, one line per row,
// without cursor movements or colours. It is empty before the first View.
func (m *Model) Plain() string {
	if m.shown == nil {
		return ""
	}
	t := m.table()
	widths := make([]int, len(t.columns))
	lines := make([][]string, len(t.rows)+1)
	for i, c := range t.columns {
		lines[0] = append(lines[0], c.title)
		for j := range t.rows {
			lines[j+1] = append(lines[j+1], cmp.Or(c.show(t.rows[j].cells[i], m.clock()), nothing))
		}
		for j := range lines {
			widths[i] = max(widths[i], width(lines[j][i]))
		}
	}
	var b strings.Builder
	for _, texts := range lines {
		var cells []string
		for i, text := range texts {
			cells = append(cells, fit(text, widths[i], !t.columns[i].flexible()))
		}
		b.WriteString(strings.TrimRight(strings.Join(cells, "  "), " ") + "\n")
	}
	return b.String()
}
