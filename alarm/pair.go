// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"cmp"
	"slices"
)

// brief is an alarm that was over before a process gave it an index.
type brief struct {
	alarm Alarm
	over  string // the text of its end
	at    int64  // when it ended
}

// bookOf is the book of a process that goes on where saved stopped.
func bookOf(saved *Saved) *book {
	b := newBook(saved.Last)
	for _, e := range saved.entries() {
		b.put(&e)
	}
	for _, index := range saved.Cleared {
		b.bury(index)
	}
	b.dirty = map[uint32]bool{}
	return b
}

// entries are the alarms with their phases, by Index.
func (s *Saved) entries() []entry {
	out := make([]entry, 0, len(s.Active)+len(s.Clearing))
	for _, a := range s.Active {
		p := raised
		if _, is := slices.BinarySearch(s.Raising, a.Index); is {
			p = raising
		}
		out = append(out, entry{a, p})
	}
	for _, a := range s.Clearing {
		p := clearing
		if _, is := slices.BinarySearch(s.Unsent, a.Index); is {
			p = unsent
		}
		out = append(out, entry{a, p})
	}
	slices.SortStableFunc(out, func(a, b entry) int { return cmp.Compare(a.Index, b.Index) })
	return out
}

// Follow has another process give the indices from now on: Step then returns no
// changes. An alarm that is raised here has no index, and is not in State, until
// Fold brings one, and an alarm that has one stays until Fold ends it.
func (m *Machine) Follow() { m.follows = true }

// Lead has this process give the indices again. It returns what was not notified
// as of now: what is wrong and has no index yet, and, of what was raised since from
// (microseconds since the Unix epoch) and cleared while no process gave indices,
// both. Notifications that another process had begun and does not confirm come with
// a later Step.
func (m *Machine) Lead(from, now int64) []Change {
	m.now, m.follows, m.changes = now, false, nil
	for index, e := range m.book.entries {
		m.await(index, e.phase)
	}
	for _, b := range m.brief {
		if b.alarm.Raised < from || m.now-b.at > keepFor || !m.book.number(&b.alarm) {
			continue
		}
		m.changes = append(m.changes, Change{b.alarm, true})
		b.alarm.Text = b.over
		m.book.advance(b.alarm, clearing)
		m.changes = append(m.changes, Change{b.alarm, false})
		m.tally.Raised[b.alarm.Kind]++
		m.tally.Cleared[b.alarm.Kind]++
	}
	m.brief = nil
	m.numberAll()
	m.compact()
	return m.changes
}

// confirmWithin is how long another process may take to confirm a notification that
// it had begun, in microseconds.
const confirmWithin = 1e6

// await waits for the process that had begun the notification of an alarm.
func (m *Machine) await(index uint32, p phase) {
	if p != raised {
		m.awaited[index] = m.now
	}
}

// retell notifies again of what the process that had begun to has not confirmed:
// it may have ended before.
func (m *Machine) retell() {
	for _, index := range sortedKeys(m.awaited) {
		e, at := m.book.entries[index], m.awaited[index]
		switch {
		case e == nil || e.phase == raised:
			delete(m.awaited, index)
		case m.now-at >= confirmWithin || at > m.now:
			delete(m.awaited, index)
			if e.phase != clearing {
				m.changes = append(m.changes, Change{e.Alarm, true})
			}
			if e.phase != raising {
				m.changes = append(m.changes, Change{e.Alarm, false})
			}
		}
	}
}

// Fold takes what another process of the pair knows: alarms with their indices,
// and those that are over. It returns what is to be notified of that, if this
// process leads, and how many alarms began or ended here by it.
func (m *Machine) Fold(s *Saved, now int64) (changes []Change, folded int) {
	m.now, m.changes = now, nil
	m.book.last = max(m.book.last, s.Last)
	for _, e := range s.entries() {
		if !m.book.merge(e) {
			continue
		}
		if !m.follows {
			m.await(e.Index, e.phase)
		}
		if e.phase.open() {
			folded += m.adopt(&e.Alarm)
		} else {
			folded += m.end(e.Index)
		}
	}
	for _, index := range s.Cleared {
		m.book.bury(index)
		folded += m.end(index)
	}
	if folded > 0 {
		m.lastChange = now
		m.sort()
	}
	m.compact()
	return m.changes, folded
}

// adopt takes the index that another process gave to an alarm. One that was not
// raised here is like one from before the start: it ends if it is not seen. Of
// two indices the smaller one stays.
func (m *Machine) adopt(a *Alarm) int {
	h := m.byKey[a.key()]
	switch {
	case h == nil:
		h = &held{Alarm: *a, restored: true}
		m.byKey[a.key()] = h
		m.active = append(m.active, h)
		m.linked = true
	case h.Index == 0:
		h.Index, h.Raised = a.Index, a.Raised
		m.tally.Raised[a.Kind]++
	case a.Index < h.Index:
		h.Index, h.Raised = a.Index, a.Raised
		m.twins[a.key()] = true
	default:
		m.twins[a.key()] = true
		return 0
	}
	return 1
}

// end ends an alarm that another process has cleared. Where it is still so here,
// it goes on without an index, as one that was raised now.
func (m *Machine) end(index uint32) int {
	i := slices.IndexFunc(m.active, func(h *held) bool { return h.Index == index && !h.cleared })
	if i < 0 {
		return 0
	}
	h := m.active[i]
	m.tally.Cleared[h.Kind]++
	if h.over == 0 && !h.restored {
		h.Index, h.Raised = 0, m.now
	} else {
		m.drop(h)
	}
	if m.twins[h.key()] {
		m.adoptTwin(h.key())
	}
	return 1
}

// adoptTwin takes another index of an alarm, if there is one.
func (m *Machine) adoptTwin(k key) {
	for _, index := range sortedKeys(m.book.entries) {
		if e := m.book.entries[index]; e.phase.open() && e.key() == k {
			m.adopt(&e.Alarm)
			return
		}
	}
	delete(m.twins, k)
}

// unify clears all indices of an alarm but the one that it has: two processes
// that did not hear each other both gave one.
func (m *Machine) unify() {
	clear(m.twins)
	for _, index := range sortedKeys(m.book.entries) {
		e := m.book.entries[index]
		h := m.byKey[e.key()]
		if !e.phase.open() || h != nil && h.Index == index {
			continue
		}
		if _, is := m.awaited[index]; is {
			m.twins[e.key()] = true // first the station is told of it
			continue
		}
		a := e.Alarm
		if a.Text = "over: the alarm goes on under another index"; h == nil {
			a.Text = "over under this index too: sidecars that did not hear each other gave it two"
		}
		m.book.advance(a, clearing)
		m.changes = append(m.changes, Change{a, false})
	}
}

// Confirm says that a notification was sent, or is held back for good.
func (m *Machine) Confirm(index uint32, raise bool) {
	e := m.book.entries[index]
	switch {
	case e == nil:
	case raise && e.phase == unsent:
		m.book.advance(e.Alarm, clearing)
	case raise:
		m.book.advance(e.Alarm, raised)
	case !e.phase.open():
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
	m.tally.Raised[h.Kind]++
	m.changes = append(m.changes, Change{h.Alarm, true})
}

// numberAll gives an index to every alarm that has none.
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

// drop takes an alarm out of the list, with the next compact.
func (m *Machine) drop(h *held) {
	delete(m.byKey, h.key())
	h.cleared = true
}

// keepBrief keeps an alarm that is over, so that it can be notified if no process
// was there to do so.
func (m *Machine) keepBrief(a Alarm, over string) {
	m.brief = slices.DeleteFunc(m.brief, func(b brief) bool { return m.now-b.at > keepFor })
	if len(m.brief) < keepMax {
		m.brief = append(m.brief, brief{a, over, m.now})
	}
}

// link finds the alarm of what is watched where a Step did not raise it, and
// lets go of one that was ended by Fold.
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

// compact takes what was dropped out of the list.
func (m *Machine) compact() {
	if len(m.changes) > 0 {
		m.lastChange = m.now
	}
	m.active = slices.DeleteFunc(m.active, func(h *held) bool { return h.cleared })
}

// Saved returns what to give to the next process's NewMachine.
func (m *Machine) Saved() Saved {
	s := m.part(sortedKeys(m.book.entries))
	s.LastChange, s.Cleared = m.lastChange, slices.Clone(m.book.cleared)
	return s
}

// part is what is saved or shared of these indices.
func (m *Machine) part(indices []uint32) Saved {
	s := m.book.saved(indices)
	for i := range s.Active {
		if h := m.byKey[s.Active[i].key()]; h != nil && h.Index == s.Active[i].Index {
			s.Active[i] = h.Alarm
		}
	}
	return s
}
