// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"time"

	"github.com/pnagent/pnagent/collector/merge"
)

// Duty is the role of this process in its pair.
type Duty struct {
	On bool // this process notifies
	// From is the time from which changes may not have been notified by another
	// process, in microseconds since the Unix epoch. It counts when On becomes true.
	From int64
	// Shared reports, if On is false, whether the process on duty shares its alarms and
	// their indices. If not, each process has its own.
	Shared bool
	// Elsewhere reports that another process is known to have the duty.
	Elsewhere bool
	// Skip is the number of indices to leave out once, because another process that is
	// cut off may be on duty too and give the next ones; else 0.
	Skip uint32
	// Unsync identifies the outage that Skip is for, by the time of its start.
	Unsync int64
}

// Coordinator has all that a process decides about alarms: it makes a Machine follow or lead,
// keeps the notes, and decides what to notify and share. It is not safe for concurrent use.
type Coordinator struct {
	machine *Machine
	gate    gate
	notes   *notes
	hush    hush
	limiter limiter
	reminds reminders
	duty    Duty
	begun   bool
	closed  []Change // by Close, to notify
	owes    []Change // to notify also without the duty, see owed
	aloneAt int64    // since when this process stands by for one that does not share its alarms
}

// Start is what a Coordinator starts with.
type Start struct {
	Rules       *Rules
	Saved       Saved // of the previous process
	Noted       Noted
	History     int           // cleared alarms to keep
	ForgetAfter time.Duration // after which the collector forgets a silent source
	Name        string        // of this sidecar, in the text of natsDisconnected; "" if there is only one
}

// NewCoordinator returns a Coordinator as of now, in microseconds since the Unix epoch. Until
// its first Turn it has no duty.
func NewCoordinator(s Start, now int64) *Coordinator {
	d := &Coordinator{machine: NewMachine(s.Rules, s.Saved, s.ForgetAfter), notes: newNotes(s.History), reminds: newReminders(s.Rules.Recipients())}
	d.notes.merge(s.Noted, now, d.machine.book.active)
	if s.Name != "" {
		d.machine.self = s.Name
	}
	return d
}

// Reload replaces the rules, see Machine.With, and their recipients.
func (d *Coordinator) Reload(rules *Rules, now int64) {
	d.machine = d.machine.With(rules)
	d.reminds = d.reminds.with(rules.Recipients(), now)
}

// Step judges a View, see Machine.Step.
func (d *Coordinator) Step(view *merge.View, now int64) []Change { return d.machine.Step(view, now) }

// alone reports whether this process stands by for one that does not share its indices.
func (d *Coordinator) alone() bool { return !d.duty.On && !d.duty.Shared }

// Turn applies a duty, and returns the changes to notify because of it and of Close.
func (d *Coordinator) Turn(duty Duty, now int64) []Change {
	changes := d.closed
	d.closed = nil
	return append(changes, d.turn(duty, now)...)
}

func (d *Coordinator) turn(duty Duty, now int64) []Change {
	was, m := d.duty, d.machine
	d.duty = duty
	if !d.alone() {
		d.aloneAt = 0
	} else if d.aloneAt == 0 {
		d.aloneAt = now
	}
	if (duty.Skip == 0) != (was.Skip == 0) || duty.Unsync != was.Unsync {
		m.book.skip = duty.Skip
		d.hush.doubt() // the other process had the duty as well
	}
	if duty.Skip == 0 {
		clear(m.told) // the other processes have the same alarms, and will clear them
	}
	follow := !duty.On && duty.Shared
	if !duty.On {
		d.hush.held = nil
	} else if !was.On {
		d.reminds.takeOver(duty.From)
	}
	if follow {
		d.limiter.leave()
	}
	defer func() { d.begun = true }()
	switch {
	case follow && (!m.follows || !d.begun):
		d.gate.drop()
		m.Follow()
	case !follow && (m.follows || !d.begun):
		return m.Lead(duty.From, now)
	}
	return nil
}

// AnnounceWithin is how long after this process raised an alarm the one on duty has to
// announce it, in microseconds: longer than two processes may differ.
const AnnounceWithin = 30e6

// Unannounced returns the number of active alarms that this process raised AnnounceWithin
// ago or earlier while it stood by, and that the process on duty has not announced. A
// process on duty that does not share its alarms announces none.
func (d *Coordinator) Unannounced(now int64) (n int) {
	if d.duty.On {
		return 0
	}
	for _, h := range d.machine.active {
		if (h.Index == 0 || d.aloneAt != 0 && h.Raised >= d.aloneAt) && now-h.Raised >= AnnounceWithin {
			n++
		}
	}
	return n
}

// Fold merges a page of another process, and counts as skipped what that one notifies.
func (d *Coordinator) Fold(s *Saved, now int64) []Change {
	for i := range s.Alarms {
		if e := &s.Alarms[i]; e.Phase == Raised {
			delete(d.hush.held, e.Index) // the other process has sent it
		}
	}
	changes, folded := d.machine.Fold(s, now)
	if d.machine.follows {
		d.owes = append(d.owes, changes...)
		d.gate.skipped.Standby += uint64(folded)
		return nil
	}
	return changes
}

// Notify returns the notifications that are due for these changes. It confirms the
// others: another process sends them, or the limiter suppresses them. Clears that wait are
// neither; the next process that notifies has them as clearing.
func (d *Coordinator) Notify(changes []Change, now int64) []Notification {
	if d.alone() {
		for _, c := range changes {
			d.machine.Confirm(c.Alarm.Index, c.Raise)
		}
	}
	changes = d.gate.pass(changes, now, d.duty.On, d.duty.From)
	if !d.duty.On {
		d.reminds.pass(d.machine, d.notes, nil, now)
		return d.owed(now)
	}
	changes, d.owes = append(changes, d.owes...), nil
	d.machine.noteFollows(changes)
	changes, quiet := d.hush.pass(changes, func(a *Alarm) bool { return a.Follows != "" || d.notes.silencedUntil(a) != 0 },
		func(a *Alarm) bool { return d.machine.resent[a.Index] && !d.notes.raisedDuring(a) })
	for _, c := range quiet {
		d.machine.book.quiet[c.Alarm.Index] = true
		d.machine.Confirm(c.Alarm.Index, false)
	}
	changes = append(changes, d.hush.release(d.notes, d.machine)...)
	due := d.limiter.pass(changes, now)
	for _, c := range d.limiter.dropped {
		d.machine.Confirm(c.Alarm.Index, c.Raise)
	}
	for i := range due {
		due[i].To = d.reminds.recipients(&due[i], now)
	}
	return append(due, d.reminds.pass(d.machine, d.notes, &d.limiter, now)...)
}

// owed returns the clears that this process owes although another one has the duty: see Machine.clearTold.
func (d *Coordinator) owed(now int64) (due []Notification) {
	for _, c := range d.owes {
		due = append(due, Notification{Change: c, At: now})
	}
	d.owes = nil
	return due
}

// Due returns when there is something to notify although no View arrives, in microseconds
// since the Unix epoch; 0 for never.
func (d *Coordinator) Due(now int64) int64 {
	due := d.notes.due()
	remind := d.reminds.next
	if d.machine.settling() {
		remind = 0 // the View after that
	}
	for _, next := range []int64{d.limiter.due(now), remind} {
		if d.duty.On && next != 0 && (due == 0 || next < due) {
			due = next
		}
	}
	return due
}

// NeedsView returns the time at which a View is needed although sources may report nothing
// new, see Machine.Due.
func (d *Coordinator) NeedsView() int64 { return d.machine.Due() }

// skipped counts notifications that were due and not sent.
func (d *Coordinator) skipped() Skipped {
	s := d.gate.skipped
	s.Silenced, s.Follows = d.hush.skipped, d.hush.caused
	return s
}

// ConfirmEscalation notes that a recipient took an escalation, here or at another process, and reports
// whether that is news.
func (d *Coordinator) ConfirmEscalation(c Escalated) bool { return d.reminds.confirm(c) }

// Escalations returns those of active alarms that recipients took.
func (d *Coordinator) Escalations() []Escalated { return d.reminds.confirmed() }

// Confirm notes that a notification was sent, or that another process sends it.
func (d *Coordinator) Confirm(c Change) {
	switch index := c.Alarm.Index; {
	case c.Raise && d.duty.Skip != 0 && d.machine.book.gone[index]: // since it was sent
		d.owes = append(d.owes, endedElsewhere(c.Alarm))
	case c.Raise && d.duty.Skip != 0:
		d.machine.told[index] = true
	default:
		delete(d.machine.told, index)
	}
	d.machine.Confirm(c.Alarm.Index, c.Raise)
}

// record notes the alarms that are over.
func (d *Coordinator) record(now int64) {
	ended := d.machine.book.takeEnded()
	for i := range ended {
		ended[i].Severity = d.machine.ruleOf(&ended[i]).Severity
	}
	d.notes.record(ended, now)
}

// News returns pages of the changes since the last call.
func (d *Coordinator) News() [][]byte {
	b := d.machine.book
	if len(b.dirty) == 0 {
		return nil
	}
	indices := sortedKeys(b.dirty)
	b.dirty = map[uint32]bool{}
	if d.alone() {
		return nil
	}
	return d.machine.pages(indices)
}

// All returns pages of all alarms.
func (d *Coordinator) All() [][]byte {
	if d.alone() {
		return nil
	}
	b := d.machine.book
	return d.machine.pages(append(sortedKeys(b.entries), b.cleared...))
}

// Saved returns what the next process needs of the alarms.
func (d *Coordinator) Saved() Saved { return d.machine.Saved() }

// TakeUnsaved reports whether what Saved returns has changed otherwise than by the changes that
// were returned since the last call.
func (d *Coordinator) TakeUnsaved() bool {
	unsaved := d.machine.unsaved
	d.machine.unsaved = false
	return unsaved
}

// Figures are the counters of a Coordinator since its start, and what else its ActiveSet
// depends on besides the changes and notes.
type Figures struct {
	Tally
	Suppressed uint64 // notifications
	Waiting    int    // clears that wait, because too many notifications were due at once
	Skipped    Skipped

	moves    uint64 // see rest
	settling bool
}

// Figures returns the counters.
func (d *Coordinator) Figures() Figures {
	m := d.machine
	return Figures{m.tally, d.limiter.suppressed, len(d.limiter.waiting), d.skipped(), m.rest.moves, m.settling()}
}

// State returns the active alarms with an index, and the notes.
func (d *Coordinator) State() *ActiveSet {
	s := d.machine.State(d.limiter.suppressed)
	d.notes.annotate(s)
	return s
}

// Digest returns a text that is equal for the same alarms, with the same indices and phases.
func (d *Coordinator) Digest() string { return d.machine.book.digest() }
