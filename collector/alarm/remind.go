// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"slices"
	"time"
)

// Recipient is a sink that chooses which alarms it gets, and is reminded of those that are not
// acknowledged.
type Recipient struct {
	Name     string
	Severity Severity      // of the least serious alarms that it gets; 0 for all
	Net      string        // pattern of the nets whose alarms it gets; "" for all alarms
	Repeat   time.Duration // between two reminders; 0 for none
	// EscalateTo is the recipient that gets an alarm that is not acknowledged EscalateAfter after
	// this one got it. A recipient that others escalate to gets nothing else.
	EscalateTo    string
	EscalateAfter time.Duration
}

// wants reports whether a recipient gets alarms such as this one.
func (r *Recipient) wants(a *Alarm, severity Severity) bool {
	return (r.Severity == 0 || severity <= r.Severity) && (r.Net == "" || a.Net != "" && Match(r.Net, a.Net))
}

// Reminder describes a notification about an alarm that its recipients know, or that is new to one
// to which it is escalated. The zero Reminder is none.
type Reminder struct {
	Due int64 // when it was due, in microseconds since the Unix epoch
	// Escalated is true for the first notification of a recipient to which others escalate.
	Escalated bool
}

// reminders decides which recipients are reminded of what. Everything is counted from when an alarm
// was raised, or was not held back any more. So the processes of a pair come to the same
// result: one that stands by notes what is due as sent by the other.
type reminders struct {
	to     []Recipient
	start  []int64 // of to: microseconds from the raise to the first notification
	alarms map[uint32]*reminded
	next   int64 // when pass has something to do; 0 for never

	version, followed uint64 // of the notes and the Machine at the last pass
	changed           int64  // Machine.lastChange, then
}

// reminded is an active alarm.
type reminded struct {
	since int64   // when it was raised or released; 0 while it is held back
	sent  []int64 // of reminders.to: notifications that were due and are sent, with the raise
	got   []bool  // of reminders.to: it is known that the escalation was taken, or given up
}

func newReminders(to []Recipient) reminders {
	r := reminders{to: to, start: make([]int64, len(to)), alarms: map[uint32]*reminded{}}
	for range to { // a chain has at most as many links
		for i := range to {
			r.start[i] = r.startOf(i)
		}
	}
	return r
}

// with returns reminders for other recipients. What one of the same name got remains; another one gets
// nothing that was due before now, as if it had been sent.
func (r *reminders) with(to []Recipient, now int64) reminders {
	out := newReminders(to)
	for index, e := range r.alarms {
		o := &reminded{since: e.since, sent: make([]int64, len(to)), got: make([]bool, len(to))}
		for i := range to {
			was := slices.IndexFunc(r.to, func(old Recipient) bool { return old.Name == to[i].Name })
			switch {
			case was >= 0 && r.to[was] == to[i] && r.start[was] == out.start[i]:
				o.sent[i], o.got[i] = e.sent[was], e.got[was]
			case e.since != 0:
				o.sent[i] = out.count(i, now-e.since)
			case was >= 0:
				o.sent[i] = min(e.sent[was], 1)
			}
		}
		out.alarms[index] = o
	}
	return out
}

// startOf returns how long after a raise a recipient gets it.
func (r *reminders) startOf(i int) (start int64) {
	for j := range r.to {
		if by := &r.to[j]; by.EscalateTo == r.to[i].Name {
			at := r.start[j] + by.EscalateAfter.Microseconds()
			if start == 0 || at < start {
				start = at
			}
		}
	}
	return start
}

// count returns how many notifications of an alarm are due after a time.
func (r *reminders) count(i int, after int64) int64 {
	after -= r.start[i]
	repeat := r.to[i].Repeat.Microseconds()
	switch {
	case after < 0:
		return 0
	case repeat == 0:
		return 1
	}
	return 1 + after/repeat
}

// recipients returns the names of those that get a raise, a clear, or the number of suppressed notifications.
func (r *reminders) recipients(n *Notification, now int64) (names []string) {
	for i := range r.to {
		gets := r.start[i] == 0
		switch e := r.alarms[n.Alarm.Index]; {
		case n.Suppressed != 0:
		case !n.Raise && e != nil:
			gets = e.sent[i] > 0
		case !n.Raise: // another process may have sent the raise
			gets = r.to[i].wants(&n.Alarm, n.Alarm.Severity) && now-n.Alarm.Raised >= r.start[i]
		default:
			gets = gets && r.to[i].wants(&n.Alarm, n.Alarm.Severity)
		}
		if gets {
			names = append(names, r.to[i].Name)
		}
	}
	return names
}

// know returns the entry of an alarm.
func (r *reminders) know(a *Alarm, severity Severity) *reminded {
	e := r.alarms[a.Index]
	if e == nil {
		e = &reminded{since: a.Raised, sent: make([]int64, len(r.to)), got: make([]bool, len(r.to))}
		for i := range r.to {
			if r.start[i] == 0 && r.to[i].wants(a, severity) {
				e.sent[i] = 1
			}
		}
		r.alarms[a.Index] = e
	}
	return e
}

// first is 1 for a recipient of raises, and 0 for one to which others escalate.
func (r *reminders) first(i int) int64 {
	if r.start[i] == 0 {
		return 1
	}
	return 0
}

// takeOver makes due again what became due from a time on: no other process may have sent it. An
// escalation is due again until it is known that its recipient got it: it may have waited at a process that ended.
func (r *reminders) takeOver(from int64) {
	r.next, r.changed = 0, -1
	for _, e := range r.alarms {
		for i := range e.sent {
			switch {
			case from == 0:
			case r.start[i] > 0 && !e.got[i]:
				e.sent[i] = 0
			case e.since != 0:
				e.sent[i] = min(e.sent[i], max(r.count(i, from-e.since), 1))
			}
		}
	}
}

// Escalated is that a recipient took the escalation of an alarm, or that it was given up.
type Escalated struct {
	Index uint32 `json:"index"`
	To    string `json:"to"`
}

// confirm notes that an escalation was taken, and reports whether that is news.
func (r *reminders) confirm(c Escalated) bool {
	e := r.alarms[c.Index]
	i := slices.IndexFunc(r.to, func(to Recipient) bool { return to.Name == c.To })
	if e == nil || i < 0 || e.got[i] {
		return false
	}
	e.got[i] = true
	return true
}

// confirmed returns the escalations that were taken.
func (r *reminders) confirmed() (all []Escalated) {
	for _, index := range sortedKeys(r.alarms) {
		for i, got := range r.alarms[index].got {
			if got {
				all = append(all, Escalated{index, r.to[i].Name})
			}
		}
	}
	return all
}

// pass returns the reminders that are due, as many as the limiter lets pass. Without one, this
// process stands by.
func (r *reminders) pass(m *Machine, n *notes, limit *limiter, now int64) (out []Notification) {
	same := r.version == n.version && r.followed == m.followed && r.changed == m.lastChange
	if len(r.to) == 0 || m.settling() || same && (r.next == 0 || now < r.next) {
		return nil
	}
	r.version, r.followed, r.changed, r.next = n.version, m.followed, m.lastChange, 0
	for _, h := range m.active {
		if h.Index == 0 {
			continue
		}
		e := r.know(&h.Alarm, m.ruleOfHeld(h).Severity)
		if h.Follows != "" || n.silencedUntil(&h.Alarm) != 0 {
			e.hold()
			continue
		}
		if e.since == 0 {
			e.since = now
		}
		out = append(out, r.remind(e, m, h, n.ack(&h.Alarm) != nil, limit, now)...)
	}
	for index := range r.alarms {
		if m.book.entries[index] == nil {
			delete(r.alarms, index)
		}
	}
	return out
}

// hold notes that an alarm is held back. What is escalated stays so.
func (e *reminded) hold() {
	e.since = 0
	for i := range e.sent {
		e.sent[i] = min(e.sent[i], 1)
	}
}

// remind returns the reminders of one alarm that are due now, and notes when the next ones are.
func (r *reminders) remind(e *reminded, m *Machine, h *held, acked bool, limit *limiter, now int64) (out []Notification) {
	for i := range r.to {
		if acked || !r.to[i].wants(&h.Alarm, m.ruleOfHeld(h).Severity) {
			continue
		}
		e.sent[i] = max(e.sent[i], r.first(i))
		due := r.count(i, now-e.since)
		switch {
		case due <= e.sent[i]:
		case limit == nil:
			e.sent[i] = due
		case limit.level < reserve+token:
			r.wake(now + 1e6)
			continue
		default:
			limit.level -= token
			at := e.since + r.start[i] + (due-1)*r.to[i].Repeat.Microseconds()
			first := e.sent[i] == 0
			out = append(out, Notification{Change: Change{m.rated(h), true}, At: now, To: []string{r.to[i].Name}, Reminder: Reminder{Due: at, Escalated: first}})
			e.sent[i] = due
		}
		if repeat := r.to[i].Repeat.Microseconds(); repeat > 0 || e.sent[i] == 0 {
			r.wake(e.since + r.start[i] + e.sent[i]*repeat)
		}
	}
	return out
}

func (r *reminders) wake(at int64) {
	if r.next == 0 || at < r.next {
		r.next = at
	}
}
