// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"
	"math"
	"time"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/stats"
)

const (
	// early is how long before its time by a cron expression a firing may be that of this time: a
	// source whose clock differs by more is reported. It is at most half of the time to the next one.
	early = int64(time.Minute / time.Microsecond)
	// sameTime is by how much two times may differ that the engine has for one firing: its clock is
	// compared with that of this process all the time.
	sameTime = int64(time.Second / time.Microsecond)
	// mostMissed is the largest number of missed firings that is counted.
	mostMissed = 10_000
)

// notReported is why it is not known whether a transition fired.
const notReported = "no source reports when it fired or is due"

// schedule is what is known of the firings of one transition, over Views.
type schedule struct {
	from int64 // since when it is watched: that it did not fire before is not known

	rule   *Rule  // by which due is
	fired  int64  // the last firing, after which due is; 0 if none is known
	due    int64  // the first time at which it was to fire, and did not as far as is known; 0 for none
	missed uint64 // times from due on that are over, or that the engine passed over
	next   int64  // by the rule the first time that is not in missed; 0 for none
	told   int64  // what the engine said last of when it is due

	firings uint64 // of a source that does not say when it fired
	counted bool   // firings are known
	seen    int64  // when firings last rose
}

// begin begins to wait for the firing of a time.
func (s *schedule) begin(due int64) { s.due, s.next, s.missed = due, due, 0 }

// scheduled reports whether the rule says when a transition is to fire. Otherwise its engine does.
func (r *Rule) scheduled() bool { return r.Every > 0 || r.Cron != nil }

// next returns the time after one at which a transition is to fire; 0 for never.
func (r *Rule) next(after int64) int64 {
	if r.Cron != nil {
		return r.Cron.Next(after)
	}
	return after + r.Every.Microseconds()
}

// dueAfter returns when a transition is to fire that fired at a time. A firing shortly before a time
// of a cron expression is that of this time.
func (r *Rule) dueAfter(fired int64) int64 {
	due := r.next(fired)
	if r.Cron == nil || due == 0 {
		return due
	}
	if after := r.next(due); after != 0 && due-fired <= min(early, (after-due)/2) {
		return after
	}
	return due
}

// expected judges whether a firing of a transition is overdue.
func (w *netWatch) expected(m *Machine, s *subject, n *merge.NetView) {
	row := &n.Rows.Transitions[s.at]
	if s.alarm == nil && !s.rule.scheduled() && row.NextDue == 0 {
		s.schedule = nil
		return
	}
	if s.schedule == nil {
		s.schedule = &schedule{from: m.now}
	}
	d := s.schedule
	fired, known := d.lastFiring(row, w.columns, m.now)
	var f finding
	if s.rule.scheduled() {
		f = s.byRule(m.now, fired, known)
	} else {
		f = s.byEngine(m.now, row.NextDue, w.columns.Has(stats.ColNextDue), fired, known)
	}
	if s.alarm != nil && len(s.alarm.Lost.All()) > 0 {
		f.wrong = false // a source that left the sums may have fired it since
	}
	f.trace = w.traces.fired[s.at]
	f.elsewhere = f.trace == nil || len(f.trace.silent) == 0
	f.wrong = f.wrong && s.rule.On
	if due := d.awaited(s.rule, f.wrong); due != 0 {
		m.wake(due + s.rule.After.Microseconds() + 1)
	}
	if !f.wrong && s.idle() {
		return
	}
	id := w.def.Transitions[s.at].ID
	m.judge(&s.watch, keyOf(FiringMissed, w.name, id), s.rule, f, func(since int64, wrong bool) string {
		if wrong {
			return missedText(w.transition(s.at), since, fired, f.affected)
		}
		return why(s.rule, firedText(w.transition(s.at), fired, d.due))
	})
}

// lastFiring returns when the transition fired last, or was first seen to have; 0 if it is not known
// to have. known reports whether a firing would be.
func (s *schedule) lastFiring(row *stats.Transition, columns stats.Columns, now int64) (at int64, known bool) {
	switch {
	case columns.Has(stats.ColLastFiring):
		return row.LastFiring, true
	case !columns.Has(stats.ColFirings):
		return 0, false
	case s.counted && row.Firings > s.firings:
		s.seen = now
	}
	s.firings, s.counted = row.Firings, true
	return s.seen, true
}

// byRule judges by the rule. A transition that is not known to have fired has the time of one
// interval. One of an alarm of an earlier process has been due since then.
func (s *subject) byRule(now, fired int64, known bool) finding {
	d := s.schedule
	if !known {
		return finding{unknown: notReported}
	}
	if d.rule != s.rule || d.fired != fired || d.due == 0 {
		d.rule, d.fired = s.rule, fired
		switch {
		case fired != 0:
			d.begin(s.rule.dueAfter(fired))
		case s.alarm != nil:
			d.begin(s.alarm.Since)
		default:
			d.begin(s.rule.dueAfter(d.from))
		}
	}
	for d.next != 0 && now-d.next > s.rule.After.Microseconds() && d.missed < mostMissed {
		d.missed++
		d.next = s.rule.next(d.next)
	}
	return finding{wrong: d.missed > 0, since: d.due, affected: d.missed, also: float64(fired), proved: fired != 0 && d.missed == 0}
}

// byEngine judges by what the engine says: a time that is past has not fired. Another time instead of
// it is evidence of a firing, unless the last firing is known to be earlier.
func (s *subject) byEngine(now, next int64, told bool, fired int64, known bool) finding {
	d := s.schedule
	if d.due == 0 && s.alarm != nil {
		d.begin(s.alarm.Since)
	}
	over := fired != 0 && fired >= d.due-sameTime
	switch {
	case !told:
		return finding{unknown: notReported}
	case next == 0 && !over:
		return finding{unknown: "its engine has no time at which it is due"}
	case next == 0:
		d.due, d.told = 0, 0
		return finding{proved: true}
	case max(next-d.due, d.due-next) < sameTime:
		d.due = next
	case d.due == 0 || d.due > now || next < d.due || over || !known:
		d.begin(next)
	case max(next-d.told, d.told-next) >= sameTime && d.told <= now && d.told != 0 && d.told != d.due:
		d.missed++ // the engine passed over that time, too
	}
	d.told = next
	wrong := now-d.due > s.rule.After.Microseconds()
	return finding{wrong: wrong, since: d.due, affected: min(d.missed+1, mostMissed), also: float64(fired), proved: !wrong}
}

// awaited returns the time of which the end of the grace changes something; 0 for none.
func (s *schedule) awaited(r *Rule, wrong bool) int64 {
	switch {
	case r.scheduled():
		return s.next
	case wrong:
		return 0
	}
	return s.due
}

func missedText(transition string, due, fired int64, missed uint64) string {
	last := "none is known before"
	if fired != 0 {
		last = "the last one was at " + date(fired)
	}
	return fmt.Sprintf("%s was due at %s and that firing is missing; %s; missed: %d", transition, date(due), last, missed)
}

func firedText(transition string, fired, due int64) string {
	text := transition
	if fired != 0 {
		text += " fired at " + date(fired)
	}
	if due != 0 && due < math.MaxInt64 {
		text += " and is due at " + date(due)
	}
	return text
}
