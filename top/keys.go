// SPDX-License-Identifier: Apache-2.0

package top

import (
	"time"
	"unicode/utf8"
)

// maxFilter is the largest filter, in bytes.
const maxFilter = 100

// Press handles a key: a character as itself, or a name as "enter", "esc", "up",
// "pgdown", "ctrl+c". Other keys change nothing.
func (m *Model) Press(key string) {
	switch {
	case key == "ctrl+c":
		m.done = true
	case m.typing:
		m.typed(key)
	case m.help:
		m.pressInHelp(key)
	case m.general(key):
	case m.open != nil:
		m.pressInPage(key)
	default:
		m.pressInTable(key)
	}
}

// general handles the keys that tables and pages share.
func (m *Model) general(key string) bool {
	switch key {
	case "q":
		m.done = true
	case "?", "h", "f1":
		m.help, m.scroll = true, 0
	case "p", "space", " ":
		m.pause()
	case "1", "2", "3", "4", "5":
		m.switchTo(Tab(key[0] - '1'))
	case "tab", "right":
		m.switchTo((m.tab + 1) % tabs)
	case "shift+tab", "left":
		m.switchTo((m.tab + tabs - 1) % tabs)
	default:
		return false
	}
	return true
}

func (m *Model) switchTo(t Tab) {
	m.tab, m.open, m.scroll, m.cached = t, nil, 0, nil
}

func (m *Model) pause() {
	if m.paused.IsZero() {
		m.paused = m.now
		return
	}
	m.paused, m.shown, m.cached = time.Time{}, m.newest, nil
}

// typed handles a key while a filter is typed.
func (m *Model) typed(key string) {
	switch key {
	case "enter":
		m.typing = false
	case "esc":
		m.typing, m.filter = false, m.before
	case "backspace":
		_, size := utf8.DecodeLastRuneInString(m.filter)
		m.filter = m.filter[:len(m.filter)-size]
	case "ctrl+u":
		m.filter = ""
	case "space":
		m.filter += " "
	case "up", "down", "pgup", "pgdown":
		m.pressInTable(key)
		return
	default:
		if utf8.RuneCountInString(key) == 1 && len(m.filter)+len(key) <= maxFilter && clean(key) == key {
			m.filter += key
		}
	}
	m.cached = nil
}

func (m *Model) pressInHelp(key string) {
	switch key {
	case "q", "esc", "?", "h", "f1", "enter":
		m.help, m.scroll = false, 0
	default:
		m.scrollBy(key)
	}
}

func (m *Model) pressInPage(key string) {
	switch key {
	case "esc", "backspace":
		m.open, m.scroll = nil, 0
	case "enter":
		if next, ok := m.aboutAlarm(); ok {
			m.open, m.scroll = &next, 0
		}
	default:
		m.scrollBy(key)
	}
}

// aboutAlarm returns the place or transition that the opened alarm is about.
func (m *Model) aboutAlarm() (subject, bool) {
	a := m.shown.alarm(*m.open)
	switch {
	case a == nil:
		return subject{}, false
	case a.Place != "":
		return subject{Places, a.Net, a.Place}, true
	case a.Transition != "":
		return subject{Transitions, a.Net, a.Transition}, true
	}
	return subject{}, false
}

// scrollBy moves the lines of a page; Frame keeps them within it.
func (m *Model) scrollBy(key string) {
	m.scroll = min(max(moved(key, m.scroll, max(m.height-4, 1), maxLines), 0), maxLines)
}

// moved returns where a key leads from line at, with page lines on the screen. It
// may be before the first line or after the last.
func moved(key string, at, page, last int) int {
	switch key {
	case "j", "down":
		return at + 1
	case "k", "up":
		return at - 1
	case "pgdown", "ctrl+f", "ctrl+d":
		return at + page
	case "pgup", "ctrl+b", "ctrl+u":
		return at - page
	case "g", "home":
		return 0
	case "G", "end":
		return last
	}
	return at
}

func (m *Model) pressInTable(key string) {
	switch key {
	case "/":
		m.typing, m.before = true, m.filter
	case "esc":
		m.escape()
	case "s", "S":
		m.sortBy(key == "s")
	case "r":
		m.orders[m.tab].reverse = !m.orders[m.tab].reverse
		m.cached = nil
	case "n":
		m.limit()
	case "enter":
		m.enter()
	default:
		m.walk(key)
	}
}

// escape removes the last filter that hides rows.
func (m *Model) escape() {
	if m.filter != "" {
		m.filter = ""
	} else {
		m.net = ""
	}
	m.cached = nil
}

// sortBy sorts by the next column, or by the previous one.
func (m *Model) sortBy(next bool) {
	if m.shown == nil {
		return
	}
	columns := m.table().columns
	o := &m.orders[m.tab]
	step := 1
	if !next {
		step = len(columns) - 1
	}
	for *o = (order{column: (o.column + step) % len(columns)}); columns[o.column].kind == kindWaits; {
		o.column = (o.column + step) % len(columns)
	}
	m.cached = nil
}

// limit shows only the net of the selected row, or all nets again.
func (m *Model) limit() {
	if m.net != "" {
		m.net = ""
	} else if r, ok := m.selected(); ok {
		m.net = r.net
	}
	m.cached = nil
}

// enter opens the selected row: the places of a net, or a page.
func (m *Model) enter() {
	r, ok := m.selected()
	switch {
	case !ok:
	case r.tab == Nets:
		m.net, m.filter = r.net, ""
		m.switchTo(Places)
	default:
		m.open, m.scroll = &r.subject, 0
	}
}

// walk moves the cursor.
func (m *Model) walk(key string) {
	if m.shown != nil {
		last := len(m.table().rows) - 1
		m.moveTo(moved(key, m.lists[m.tab].row, max(m.height-chrome-1, 1), last))
	}
}
