// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"cmp"
	"slices"
)

// unnumbered is an alarm that was over before a process gave it an index.
type unnumbered struct {
	alarm Alarm
	over  string // the text of its clear
	at    int64  // the end of its condition
}

// bookOf returns a book with the saved alarms.
func bookOf(saved *Saved) *book {
	b := newBook(saved.Last)
	for _, e := range saved.Alarms {
		b.put(&e)
	}
	for _, index := range saved.Cleared {
		b.remove(index)
	}
	b.dirty, b.ended = map[uint32]bool{}, nil
	return b
}

// Follow makes the Machine leave indices to another process: Step then returns no
// changes. An alarm raised here has no index, and is not in State, until Fold brings one.
// An alarm with an index stays until Fold ends it.
func (m *Machine) Follow() {
	m.moved()
	m.follows = true
}

// Lead makes the Machine give the indices again. It returns the changes that were not
// notified: raises of alarms without an index, and the raise and the clear of those
// raised since from (microseconds since the Unix epoch) and over while no process led. A
// later Step returns notifications that another process had begun and does not confirm.
func (m *Machine) Lead(from, now int64) []Change {
	m.moved()
	m.now, m.follows, m.changes = now, false, nil
	for index, e := range m.book.entries {
		m.await(index, e.Phase)
	}
	for _, b := range m.unnumbered {
		if b.alarm.Raised < from || m.now-b.at > keepFor || !m.book.number(&b.alarm) {
			continue
		}
		m.changes = append(m.changes, Change{b.alarm, true})
		b.alarm.Text = b.over
		m.book.advance(b.alarm, Clearing)
		m.changes = append(m.changes, Change{b.alarm, false})
		m.tally.Raised[b.alarm.Kind]++
		m.tally.Cleared[b.alarm.Kind]++
	}
	m.unnumbered = nil
	m.numberAll()
	m.compact()
	return m.changes
}

// confirmWithin is how long another process may take to confirm a notification,
// in microseconds.
const confirmWithin = 1e6

// await awaits the confirmation of a notification that another process had begun.
func (m *Machine) await(index uint32, p Phase) {
	if p != Raised {
		m.awaited[index] = m.now
	}
}

// resend sends the notifications again that another process had begun and not confirmed:
// it may have ended before. A Machine without NATS leaves that for later: the other process may continue,
// and has perhaps ended the alarm, or holds its raise back.
func (m *Machine) resend() {
	for _, index := range sortedKeys(m.awaited) {
		e, at := m.book.entries[index], m.awaited[index]
		switch {
		case e == nil || e.Phase == Raised:
			delete(m.awaited, index)
		case m.interrupted && !e.Kind.own():
		case m.now-at >= confirmWithin || at > m.now:
			delete(m.awaited, index)
			if m.resent == nil {
				m.resent = map[uint32]bool{}
			}
			m.resent[index] = true
			if e.Phase != Clearing {
				m.changes = append(m.changes, Change{e.Alarm, true})
			}
			if e.Phase != Raising {
				m.changes = append(m.changes, Change{e.Alarm, false})
			}
		}
	}
}

// Fold merges the alarms of another process of the pair. It returns the changes to
// notify, if this process leads, and the number of alarms that began or ended here.
func (m *Machine) Fold(s *Saved, now int64) (changes []Change, folded int) {
	m.moved()
	m.now, m.changes = now, nil
	m.book.last = max(m.book.last, s.Last)
	for _, e := range s.Alarms {
		folded += m.yield(&e)
		m.clearQuiet(&e)
		if !m.book.merge(e) {
			if h := m.heldBy(e.Index); h != nil && h.key() == e.key() && e.Phase.open() {
				m.join(h, e.Lost.All())
			}
			continue
		}
		if !m.follows {
			m.await(e.Index, e.Phase)
		}
		if e.Phase.open() {
			folded += m.takeIndex(&e.Alarm)
		} else {
			folded += m.end(e.Index)
		}
	}
	for _, index := range s.Cleared {
		m.clearTold(index)
		m.book.remove(index)
		folded += m.end(index)
	}
	if folded > 0 {
		m.lastChange = now
		m.sort()
	}
	m.compact()
	return m.changes, folded
}

// yield gives up an index that the process on duty has given to another alarm, unless that is behind: this one had
// saved it, and ended before it shared it.
func (m *Machine) yield(e *Entry) int {
	old := m.book.entries[e.Index]
	if !m.follows || old == nil || old.key() == e.key() || old.Phase > e.Phase {
		return 0
	}
	if h := m.byIndex[e.Index]; h != nil {
		m.reindex(h, 0)
		m.changedLost(h.Kind)
	}
	m.book.forget(e.Index)
	return 1
}

// clearQuiet notifies the end of an alarm that was ended here without a word, if another process has sent its
// raise meanwhile.
func (m *Machine) clearQuiet(e *Entry) {
	if m.follows || !m.book.quiet[e.Index] || e.Phase != Raised {
		return
	}
	delete(m.book.quiet, e.Index)
	a := e.Alarm
	a.Text = "over: it had ended before it was sent"
	m.changes = append(m.changes, Change{a, false})
}

// clearTold notifies the end of an alarm that another process has ended, if this one has sent its raise while it
// could not reach the other one. That may have been after the clear of the other one, or without one.
func (m *Machine) clearTold(index uint32) {
	e, told := m.book.entries[index], m.told[index]
	delete(m.told, index)
	if e == nil || !told {
		return
	}
	m.changes = append(m.changes, endedElsewhere(e.Alarm))
}

// endedElsewhere returns the clear of an alarm that another process has ended.
func endedElsewhere(a Alarm) Change {
	a.Text = "over: another sidecar has ended it"
	return Change{a, false}
}

// takeIndex takes the index that another process gave to an alarm. An alarm that was not
// raised here ends like a restored one if its condition does not hold. Of two indices
// the smaller one stays.
func (m *Machine) takeIndex(a *Alarm) int {
	h := m.byKey[a.key()]
	switch {
	case h == nil:
		h = &held{Alarm: *a, restored: true}
		m.byKey[a.key()], m.byIndex[a.Index] = h, h
		m.active = append(m.active, h)
		m.linked = true
		m.want(h.Lost.All())
	case h.Index == 0:
		m.reindex(h, a.Index)
		h.Raised = a.Raised
		m.tally.Raised[a.Kind]++
		m.join(h, a.Lost.All())
	case a.Index < h.Index:
		m.reindex(h, a.Index)
		h.Raised = a.Raised
		m.twins[a.key()] = true
		m.join(h, a.Lost.All())
	default:
		m.twins[a.key()] = true
		return 0
	}
	m.changedLost(a.Kind)
	return 1
}

// join adds what another process knows of the origins of an alarm.
func (m *Machine) join(h *held, lost []Origin) {
	for _, o := range lost {
		m.lose(h, o)
	}
}

// end ends an alarm that another process has cleared. If its condition holds here, it
// stays without an index, as if it was raised now.
func (m *Machine) end(index uint32) int {
	h := m.byIndex[index]
	if h == nil {
		return 0
	}
	m.tally.Cleared[h.Kind]++
	if h.over == 0 && !h.restored && h.says != unknown {
		m.reindex(h, 0)
		h.Raised = m.now
		m.changedLost(h.Kind)
	} else {
		m.drop(h)
	}
	if m.twins[h.key()] {
		m.adoptOther(h.key())
	}
	return 1
}

// adoptOther takes another index of an alarm, if it has one.
func (m *Machine) adoptOther(k key) {
	for _, index := range sortedKeys(m.book.entries) {
		if e := m.book.entries[index]; e.Phase.open() && e.key() == k {
			m.takeIndex(&e.Alarm)
			return
		}
	}
	delete(m.twins, k)
}

// unify clears every other index of an alarm: two processes that were cut off from each
// other both gave one.
func (m *Machine) unify() {
	clear(m.twins)
	for _, index := range sortedKeys(m.book.entries) {
		e := m.book.entries[index]
		h := m.byKey[e.key()]
		if !e.Phase.open() || h != nil && h.Index == index {
			continue
		}
		if _, is := m.awaited[index]; is {
			m.twins[e.key()] = true // its raise is sent first
			continue
		}
		a := e.Alarm
		a.Text = "over: the alarm continues under another index"
		if h == nil {
			a.Text = "over: two sidecars that were cut off from each other gave this alarm two indices"
		}
		m.book.advance(a, Clearing)
		m.changes = append(m.changes, Change{a, false})
	}
}

// Confirm records that a notification was sent or suppressed.
func (m *Machine) Confirm(index uint32, raise bool) {
	e := m.book.entries[index]
	switch {
	case e == nil:
	case raise && e.Phase == Unsent:
		m.book.advance(e.Alarm, Clearing)
	case raise:
		m.book.advance(e.Alarm, Raised)
	case !e.Phase.open():
		m.book.advance(e.Alarm, cleared)
	}
}

// number gives an alarm its index.
func (m *Machine) number(h *held) {
	if !m.book.number(&h.Alarm) {
		m.drop(h)
		m.tally.Dropped++
		return
	}
	m.byIndex[h.Index] = h
	m.tally.Raised[h.Kind]++
	m.changes = append(m.changes, Change{h.Alarm, true})
}

// reindex gives a held alarm another index; 0 for none.
func (m *Machine) reindex(h *held, index uint32) {
	delete(m.byIndex, h.Index)
	h.Index = index
	if index != 0 {
		m.byIndex[index] = h
	}
}

// numberAll gives an index to every alarm without one.
func (m *Machine) numberAll() {
	n := 0
	for _, h := range m.active {
		if h.Index == 0 && !h.cleared {
			m.number(h)
			n++
		}
	}
	if n > 0 {
		m.sort()
	}
}

// drop marks an alarm for removal by the next compact.
func (m *Machine) drop(h *held) {
	m.moved()
	delete(m.byKey, h.key())
	delete(m.byIndex, h.Index)
	h.cleared = true
	m.changedLost(h.Kind)
}

// keep keeps an alarm that is over without an index, for a later Lead.
func (m *Machine) keep(a Alarm, over string) {
	m.unnumbered = slices.DeleteFunc(m.unnumbered, func(u unnumbered) bool { return m.now-u.at > keepFor })
	if len(m.unnumbered) < keepMax {
		m.unnumbered = append(m.unnumbered, unnumbered{a, over, m.now})
	}
}

// link finds the alarm of a watch that a Step did not raise, and removes one that Fold ended.
func (m *Machine) link(w *watch, k key, wrong bool) {
	if w.alarm != nil && w.alarm.cleared {
		*w = watch{}
	}
	if w.alarm == nil && (wrong || m.linked) {
		w.alarm = m.byKey[k]
	}
}

func (m *Machine) sort() {
	slices.SortStableFunc(m.active, func(a, b *held) int { return cmp.Compare(a.Index, b.Index) })
}

// compact removes the dropped alarms from the list.
func (m *Machine) compact() {
	if len(m.changes) > 0 {
		m.lastChange = m.now
		m.rate(m.changes)
	}
	m.active = slices.DeleteFunc(m.active, func(h *held) bool { return h.cleared })
}

// Saved returns the state for NewMachine of the next process.
func (m *Machine) Saved() Saved {
	s := m.part(sortedKeys(m.book.entries))
	s.LastChange, s.Cleared = m.lastChange, slices.Clone(m.book.cleared)
	return s
}

// part returns the alarms of these indices, to save or share.
func (m *Machine) part(indices []uint32) Saved {
	s := m.book.saved(indices)
	for i := range s.Alarms {
		e := &s.Alarms[i]
		if h := m.byKey[e.key()]; h != nil && h.Index == e.Index && e.Phase.open() {
			e.Alarm = h.Alarm
		}
	}
	return s
}
