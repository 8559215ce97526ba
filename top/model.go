// SPDX-License-Identifier: Apache-2.0

package top

import (
	"slices"
	"time"

	"github.com/pnagent/pnagent/web/api"
)

// Options are the settings of a Model.
type Options struct {
	URL    string // where the sidecar is, for the header
	Tab    Tab    // which table is shown first
	Colour bool   // whether ages are coloured
	Now    time.Time
}

// Model is the state of the screen. Make one with New.
type Model struct {
	opts          Options
	width, height int
	now           time.Time

	newest  *sample   // nil before the first View
	shown   *sample   // older than newest while paused
	advance time.Time // when the newest generation first arrived
	away    time.Time // since when the sidecar does not answer; zero if it does
	err     error     // why it is away

	tab    Tab
	orders [tabs]order
	lists  [tabs]cursor
	net    string // "" for all
	filter string
	typing bool // a filter
	before string
	paused time.Time // since when; zero while not
	help   bool
	open   *subject // whose page is shown; nil for a table
	scroll int      // lines of the page or of help
	done   bool

	cached *table // the shown tab's rows, nil if they must be made again
}

// cursor is the selected row of a table. At the top it stays at the top, whichever
// row that is; elsewhere it follows its row.
type cursor struct {
	row int
	on  subject
	top int // first row on the screen
}

// New returns a Model of 80 by 24 without a View.
func New(o Options) *Model {
	return &Model{opts: o, width: 80, height: 24, now: o.Now, tab: o.Tab, orders: firstOrder()}
}

// Resize sets the screen's size in cells.
func (m *Model) Resize(width, height int) {
	m.width, m.height = min(max(width, 1), 2000), min(max(height, 1), 2000)
}

// Tick sets the time.
func (m *Model) Tick(now time.Time) { m.now = now }

// Done reports whether the user has quit.
func (m *Model) Done() bool { return m.done }

// Update takes an answer of the sidecar, which it changes; alarms may be nil if they are not known.
func (m *Model) Update(v *api.View, alarms *api.Alarms, now time.Time) {
	if m.newest == nil || v.Generation != m.newest.view.Generation {
		m.advance = now
	}
	inWords(v)
	m.newest = &sample{view: v, alarms: alarms, receivedAt: now}
	m.now, m.err, m.away = now, nil, time.Time{}
	if m.paused.IsZero() {
		m.shown, m.cached = m.newest, nil
	}
}

// Fail records that the sidecar did not answer. Ages stop: the tokens may have
// left.
func (m *Model) Fail(err error, now time.Time) {
	m.now, m.err = now, err
	if m.away.IsZero() {
		m.away = now
	}
}

// clock returns the time for which the screen shows its View. It stops while the
// Model is paused, and while the sidecar does not answer.
func (m *Model) clock() clock {
	until := m.now
	for _, stop := range []time.Time{m.away, m.paused} {
		if !stop.IsZero() && stop.Before(until) {
			until = stop
		}
	}
	drift := max(until.Sub(m.shown.receivedAt), 0)
	return clock{m.shown.view.At.Time().Add(drift), drift.Seconds()}
}

// table returns the rows of the shown tab.
func (m *Model) table() *table {
	if m.cached == nil {
		m.cached = m.shown.table(m.tab)
		m.cached.at = m.clock()
		m.cached.narrow(m.net, m.filter)
		m.cached.sort(m.orders[m.tab])
		m.settle()
	}
	return m.cached
}

// settle moves the cursor to its row after the rows changed.
func (m *Model) settle() {
	c, rows := &m.lists[m.tab], m.cached.rows
	if c.row > 0 {
		if i := slices.IndexFunc(rows, func(r row) bool { return r.subject == c.on }); i >= 0 {
			c.row = i
		}
	}
	m.moveTo(c.row)
}

// moveTo selects a row of the cached table.
func (m *Model) moveTo(i int) {
	c, rows := &m.lists[m.tab], m.cached.rows
	c.row = max(min(i, len(rows)-1), 0)
	if len(rows) > 0 {
		c.on = rows[c.row].subject
	}
}

// selected returns the row under the cursor.
func (m *Model) selected() (row, bool) {
	if m.shown == nil {
		return row{}, false
	}
	rows := m.table().rows
	if len(rows) == 0 {
		return row{}, false
	}
	return rows[m.lists[m.tab].row], true
}

// netOf returns a net of the shown View, or nil.
func (m *Model) netOf(id string) *api.Net {
	for i := range m.shown.view.Nets {
		if n := &m.shown.view.Nets[i]; n.ID == id {
			return n
		}
	}
	return nil
}
