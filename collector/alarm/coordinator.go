// SPDX-License-Identifier: Apache-2.0

package alarm

// Duty is the role of this process in its pair.
type Duty struct {
	On bool // this process notifies
	// From is the time from which changes may not have been notified by another
	// process, in microseconds since the Unix epoch. It counts when On becomes true.
	From int64
	// Shared reports, if On is false, whether the process on duty shares its alarms and
	// their indices. If not, each process has its own.
	Shared bool
	// Skip is the number of indices to leave out once, because another process that is
	// cut off may be on duty too and give the next ones; else 0.
	Skip uint32
	// Unsync identifies the outage that Skip is for, by the time of its start.
	Unsync int64
}

// coordinator is the pure part of a Watcher: it makes a Machine follow or lead, and decides
// what to notify and share.
type coordinator struct {
	machine *Machine
	gate    gate
	notes   *notes
	hush    hush
	limiter limiter
	duty    Duty
	begun   bool
	closed  []Change // by Close, to notify
	aloneAt int64    // since when this process stands by for one that does not share its alarms
}

// alone reports whether this process stands by for one that does not share its indices.
func (d *coordinator) alone() bool { return !d.duty.On && !d.duty.Shared }

// turn applies a duty, and returns the changes to notify because of it.
func (d *coordinator) turn(duty Duty, now int64) []Change {
	was, m := d.duty, d.machine
	if d.duty = duty; !d.alone() {
		d.aloneAt = 0
	} else if d.aloneAt == 0 {
		d.aloneAt = now
	}
	if (duty.Skip == 0) != (was.Skip == 0) || duty.Unsync != was.Unsync {
		m.book.skip = duty.Skip
	}
	follow := !duty.On && duty.Shared
	if !duty.On {
		d.hush.held = nil
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

// unannounced returns the number of active alarms that this process raised AnnounceWithin
// ago or earlier while it stood by, and that the process on duty has not announced. A
// process on duty that does not share its alarms announces none.
func (d *coordinator) unannounced(now int64) (n int) {
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

// fold merges a page of another process, and counts as skipped what that one notifies.
func (d *coordinator) fold(s *Saved, now int64) []Change {
	changes, folded := d.machine.Fold(s, now)
	if d.machine.follows {
		d.gate.skipped.Standby += uint64(folded)
	}
	return changes
}

// notify returns the notifications that are due for these changes. It confirms the
// others: another process sends them, or the limiter suppresses them. Clears that wait are
// neither; the next process that notifies has them as clearing.
func (d *coordinator) notify(changes []Change, now int64) []Notification {
	if d.alone() {
		for _, c := range changes {
			d.machine.Confirm(c.Alarm.Index, c.Raise)
		}
	}
	changes = d.gate.pass(changes, now, d.duty.On, d.duty.From)
	if !d.duty.On {
		return nil
	}
	d.machine.noteFollows(changes)
	changes, quiet := d.hush.pass(changes, func(a *Alarm) bool { return a.Follows != "" || d.notes.silencedUntil(a) != 0 },
		func(a *Alarm) bool { return a.Follows == "" && d.machine.resent[a.Index] && !d.notes.raisedDuring(a) })
	for _, c := range quiet {
		d.machine.Confirm(c.Alarm.Index, false)
	}
	changes = append(changes, d.hush.release(d.notes, d.machine)...)
	due := d.limiter.pass(changes, now)
	for _, c := range d.limiter.dropped {
		d.machine.Confirm(c.Alarm.Index, c.Raise)
	}
	return due
}

// due returns when there is something to notify although no View arrives, in microseconds
// since the Unix epoch; 0 for never.
func (d *coordinator) due(now int64) int64 {
	due := d.notes.due()
	if next := d.limiter.due(now); d.duty.On && next != 0 && (due == 0 || next < due) {
		due = next
	}
	return due
}

// skipped counts notifications that were due and not sent.
func (d *coordinator) skipped() Skipped {
	s := d.gate.skipped
	s.Silenced, s.Follows = d.hush.skipped, d.hush.caused
	return s
}

// record notes the alarms that are over.
func (d *coordinator) record(now int64) {
	ended := d.machine.book.takeEnded()
	for i := range ended {
		ended[i].Severity = d.machine.ruleOf(&ended[i]).Severity
	}
	d.notes.record(ended, now)
}

// news returns pages of the changes since the last call.
func (d *coordinator) news() [][]byte {
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

// all returns pages of all alarms.
func (d *coordinator) all() [][]byte {
	if d.alone() {
		return nil
	}
	b := d.machine.book
	return d.machine.pages(append(sortedKeys(b.entries), b.cleared...))
}
