// SPDX-License-Identifier: Apache-2.0

package top

import (
	"slices"
	"time"
)

// Options are what a Model is told once.
type Options struct {
	URL    string // where the sidecar is, for the header
	Tab    Tab    // which table is shown first
	Colour bool   // whether ages are coloured
	Now    time.Time
}

// Model is what the screen shows and what keys change. Make one with New.
type Model struct {
	opts          Options
	width, height int
	now           time.Time

	history history
	newest  *sample   // nil before the first View
	shown   *sample   // older than newest while paused
	advance time.Time // when the newest generation was first heard
	away    time.Time // since when the sidecar does not answer; zero while it does
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

	cached *table // the shown tab's rows, nil where they must be made again
}

// cursor is the selected row of a table. At the top it stays at the top
// whatever comes there; elsewhere it follows its row.
type cursor struct {
	row int
	on  subject
	top int // first row on the screen
}

// New returns a Model of 80 by 24 that has heard nothing.
func New(o Options) *Model {
	return &Model{opts: o, width: 80, height: 24, now: o.Now, tab: o.Tab, orders: firstOrder()}
}

// Resize sets the screen's size in cells.
func (m *Model) Resize(width, height int) {
	m.width, m.height = min(max(width, 1), 2000), min(max(height, 1), 2000)
}

// Tick says what time it is.
func (m *Model) Tick(now time.Time) { m.now = now }

// Done tells whether the user has quit.
func (m *Model) Done() bool { return m.done }

// Hear takes what the sidecar answered; alarms may be nil where it did not say.
func (m *Model) Hear(v *View, alarms *Alarms, now time.Time) {
	if m.newest == nil || v.Generation != m.newest.view.Generation {
		m.advance = now
	}
	m.newest = &sample{view: v, alarms: alarms, rates: m.history.add(v), heard: now}
	m.now, m.err, m.away = now, nil, time.Time{}
	if m.paused.IsZero() {
		m.shown, m.cached = m.newest, nil
	}
}

// Fail says that the sidecar did not answer. Ages stop: whether a token has
// left since is not known.
func (m *Model) Fail(err error, now time.Time) {
	m.now, m.err = now, err
	if m.away.IsZero() {
		m.away = now
	}
}

// clock returns the time at which the screen shows its View. It stops while
// paused, and while the sidecar is away.
func (m *Model) clock() clock {
	until := m.now
	for _, stop := range []time.Time{m.away, m.paused} {
		if !stop.IsZero() && stop.Before(until) {
			until = stop
		}
	}
	drift := max(until.Sub(m.shown.heard), 0)
	return clock{m.shown.view.At.Add(drift), drift.Seconds()}
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

// settle puts the cursor on its row where that has moved.
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

// netOf returns a net of the shown View with its rates; nil for none.
func (m *Model) netOf(id string) (*Net, netRates) {
	for i := range m.shown.view.Nets {
		if n := &m.shown.view.Nets[i]; n.ID == id {
			return n, m.shown.rates.nets[i]
		}
	}
	return nil, netRates{}
}
