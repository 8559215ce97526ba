// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"
	"slices"
)

// phase is how far the sidecars of a pair have come with an alarm. It only grows.
type phase uint8

const (
	raising  phase = 1 + iota // it has an index; the notification of it may not have been sent
	raised                    // the notification was sent, or held back by the storm
	unsent                    // it is over, and neither notification may have been sent
	clearing                  // it is over; the notification of that may not have been sent
	cleared                   // that was sent, too
)

// open reports whether the alarm is active.
func (p phase) open() bool { return p == raising || p == raised }

// maxCleared is how many indices of cleared alarms are remembered, so that a
// sidecar that was away does not bring them back.
const maxCleared = 4096

// entry is an alarm with an index.
type entry struct {
	Alarm
	phase phase
}

// book has every alarm that was given an index and whose end was not notified
// yet. The sidecars of a pair merge their books: of an alarm that two of them
// know, the larger phase counts. So merging twice, or in any order, changes
// nothing more.
type book struct {
	last    uint32 // the largest index that was ever used
	skip    uint32 // how many indices the next alarm leaves out, see Duty
	entries map[uint32]*entry
	cleared []uint32 // the newest last
	gone    map[uint32]bool
	sum     uint64          // of entries, see digest
	dirty   map[uint32]bool // what changed here and was not shared yet
}

func newBook(last uint32) *book {
	return &book{last: last, entries: map[uint32]*entry{}, gone: map[uint32]bool{}, dirty: map[uint32]bool{}}
}

// digest is equal for books with the same entries and the same largest index.
func (b *book) digest() string { return fmt.Sprintf("%d-%d-%016x", b.last, len(b.entries), b.sum) }

// mark is what an entry adds to the sum: the steps of SplitMix64.
func mark(index uint32, p phase) uint64 {
	z := (uint64(index)<<8 | uint64(p)) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// number gives an alarm the next index. It reports false where none is left.
func (b *book) number(a *Alarm) bool {
	if b.skip < maxIndex-b.last {
		b.last += b.skip
	}
	b.skip = 0
	if b.last >= maxIndex {
		return false
	}
	b.last++
	a.Index = b.last
	b.put(&entry{*a, raising})
	b.dirty[a.Index] = true
	return true
}

func (b *book) put(e *entry) {
	if old := b.entries[e.Index]; old != nil {
		b.sum ^= mark(e.Index, old.phase)
	}
	b.entries[e.Index] = e
	b.sum ^= mark(e.Index, e.phase)
	b.last = max(b.last, e.Index)
}

// advance takes an alarm one phase further; a is what is notified of it.
func (b *book) advance(a Alarm, p phase) {
	old := b.entries[a.Index]
	if old == nil || old.phase >= p {
		return
	}
	if p == clearing && old.phase == raising {
		p = unsent
	}
	b.dirty[a.Index] = true
	if p == cleared {
		b.bury(a.Index)
		return
	}
	b.put(&entry{a, p})
}

// bury forgets an alarm but for its index.
func (b *book) bury(index uint32) {
	if old := b.entries[index]; old != nil {
		b.sum ^= mark(index, old.phase)
		delete(b.entries, index)
	}
	if b.gone[index] {
		return
	}
	b.gone[index] = true
	b.cleared = append(b.cleared, index)
	if over := len(b.cleared) - maxCleared; over > 0 {
		for _, old := range b.cleared[:over] {
			delete(b.gone, old)
		}
		b.cleared = slices.Delete(b.cleared, 0, over)
	}
}

// merge takes what another book has of an alarm, and reports whether that is new
// here. An index that two alarms have stays with the one that is here.
func (b *book) merge(e entry) bool {
	old := b.entries[e.Index]
	switch {
	case b.gone[e.Index]:
		return false
	case old == nil && len(b.entries) >= MaxActive:
		return false
	case old != nil && (old.phase >= e.phase || old.key() != e.key()):
		return false
	}
	b.put(&e)
	return true
}

func (a *Alarm) key() key { return key{a.Kind, a.Net, a.Subject} }

// saved is the part of the book with these indices; those without an entry were
// cleared.
func (b *book) saved(indices []uint32) Saved {
	s := Saved{Last: b.last}
	for _, index := range indices {
		switch e := b.entries[index]; {
		case e == nil:
			s.Cleared = append(s.Cleared, index)
		case !e.phase.open():
			s.Clearing = append(s.Clearing, e.Alarm)
			if e.phase == unsent {
				s.Unsent = append(s.Unsent, index)
			}
		default:
			s.Active = append(s.Active, e.Alarm)
			if e.phase == raising {
				s.Raising = append(s.Raising, index)
			}
		}
	}
	return s
}
