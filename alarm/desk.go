// SPDX-License-Identifier: Apache-2.0

package alarm

// Duty says which process of a pair notifies.
type Duty struct {
	On bool // this one
	// From is from when on changes may not have been notified by another process,
	// in microseconds since the Unix epoch. It counts when On becomes true.
	From int64
	// Shared says of a process that is not on duty that the one on duty shares its
	// alarms and their indices. Where it does not, each has its own.
	Shared bool
	// Skip is not 0 while another process may be on duty too, because the two do not
	// hear each other: how many indices this one leaves out then, so that no index
	// is given twice.
	Skip uint32
	// Deaf is since when Skip is so, in any unit: indices are left out once.
	Deaf int64
}

// desk is the pure part of a Watcher: it has a Machine follow or lead, and says
// what is to be notified and shared.
type desk struct {
	machine *Machine
	gate    gate
	storm   storm
	duty    Duty
	begun   bool
}

// alone reports whether this process gives its own indices beside one on duty
// that does not share those that it gives.
func (d *desk) alone() bool { return !d.duty.On && !d.duty.Shared }

// turn takes up a duty, and returns what is to be notified because of that.
func (d *desk) turn(duty Duty, now int64) []Change {
	was, m := d.duty, d.machine
	d.duty = duty
	if (duty.Skip == 0) != (was.Skip == 0) || duty.Deaf != was.Deaf {
		m.book.skip = duty.Skip
	}
	follow := !duty.On && duty.Shared
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

// fold takes what another process shares. What that one notifies is counted as
// skipped here.
func (d *desk) fold(s *Saved, now int64) []Change {
	changes, folded := d.machine.Fold(s, now)
	if d.machine.follows {
		d.gate.skipped.StandBy += uint64(folded)
	}
	return changes
}

// notify returns the notifications that are due of these changes. The others are
// confirmed: another process sends them, or the storm holds them back.
func (d *desk) notify(changes []Change, now int64) []Notification {
	if d.alone() {
		for _, c := range changes {
			d.machine.Confirm(c.Alarm.Index, c.Raise)
		}
	}
	changes = d.gate.pass(changes, now, d.duty.On, d.duty.From)
	if !d.duty.On {
		return nil
	}
	due := d.storm.pass(changes, now)
	for _, c := range d.storm.heldBack {
		d.machine.Confirm(c.Alarm.Index, c.Raise)
	}
	return due
}

// news returns the pages of what changed here since the last call, for the other
// processes.
func (d *desk) news() [][]byte {
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

// all returns the pages of everything.
func (d *desk) all() [][]byte {
	if d.alone() {
		return nil
	}
	b := d.machine.book
	return d.machine.pages(append(sortedKeys(b.entries), b.cleared...))
}
