// SPDX-License-Identifier: Apache-2.0

package alarm

import "github.com/pnagent/pnagent/collector/merge"

// rest is what a Machine knows of its last Step that judged everything. While a View
// reports what that one did, nothing is judged again before the next moment at which time
// alone changes a condition. So an alarm that stays costs nothing.
type rest struct {
	view  *merge.View // of that Step
	moves uint64      // changes of alarms, rules and duty so far
	after uint64      // moves at the end of that Step
	still bool        // that Step changed nothing
	due   int64       // when time alone changes a condition; 0 for never
}

// moved notes that an alarm, or what decides over alarms, has changed.
func (m *Machine) moved() { m.rest.moves++ }

// wake notes a time at which a condition must be judged again. One that is past means the
// next Step.
func (m *Machine) wake(at int64) {
	at = max(at, m.now+1)
	if m.rest.due == 0 || at < m.rest.due {
		m.rest.due = at
	}
}

// rests reports whether a Step would change nothing.
func (m *Machine) rests(view *merge.View, now int64) bool {
	r := &m.rest
	return r.still && r.moves == r.after && now >= m.now && (r.due == 0 || now < r.due) && merge.SameReport(r.view, view)
}

// judged ends a Step that judged everything. moves is as of its beginning.
func (m *Machine) judged(view *merge.View, moves uint64) {
	r := &m.rest
	r.view, r.after, r.still = view, r.moves, r.moves == moves && !view.Interrupted
	if settled := m.began + m.rules.Settle.Microseconds(); m.now < settled {
		m.wake(settled)
	}
	if len(m.awaited) > 0 || len(m.twins) > 0 {
		m.wake(m.now)
	}
}

// Due returns when a View is to be judged although nothing new is reported, in
// microseconds since the Unix epoch; 0 for never.
func (m *Machine) Due() int64 { return m.rest.due }

// wakeForStuck notes when tokens are too old that count since a time, 0 for none, or that those
// which are too old become more.
func (m *Machine) wakeForStuck(s *subject, since int64, more bool) {
	switch {
	case !s.rule.On:
	case since != 0:
		m.wake(since + s.rule.After.Microseconds() + 1)
	case more:
		m.wake(m.now)
	}
}
