// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"
	"slices"
)

// phase is the progress of the sidecars of a pair with an alarm. It only grows.
type phase uint8

const (
	raising  phase = 1 + iota // it has an index; its raise may not have been sent
	raised                    // its raise was sent, or suppressed
	unsent                    // it is over; neither notification may have been sent
	clearing                  // it is over; its clear may not have been sent
	cleared                   // its clear was sent
)

// open reports whether the alarm is active.
func (p phase) open() bool { return p == raising || p == raised }

// maxCleared is the number of indices of cleared alarms that a book keeps, so that a
// sidecar that was cut off does not restore them.
const maxCleared = 4096

// entry is an alarm with an index.
type entry struct {
	Alarm
	phase phase
}

// book has every alarm with an index whose clear was not sent yet. The sidecars of a pair
// merge their books: the larger phase of an alarm counts. So merging is idempotent and
// commutative.
type book struct {
	last    uint32 // the largest index that was ever used
	skip    uint32 // indices that the next alarm leaves out, see Duty
	entries map[uint32]*entry
	cleared []uint32 // the newest last
	gone    map[uint32]bool
	sum     uint64          // of entries, see digest
	dirty   map[uint32]bool // changes not shared yet
	ended   []Alarm         // those that were active, or in another book, and are over; see takeEnded
}

func newBook(last uint32) *book {
	return &book{last: last, entries: map[uint32]*entry{}, gone: map[uint32]bool{}, dirty: map[uint32]bool{}}
}

// digest returns a text that is equal for books with the same entries and largest index.
func (b *book) digest() string { return fmt.Sprintf("%d-%d-%016x", b.last, len(b.entries), b.sum) }

// entryHash returns the hash of an entry for the sum: the steps of SplitMix64.
func entryHash(index uint32, p phase) uint64 {
	z := (uint64(index)<<8 | uint64(p)) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// number gives an alarm the next index, and reports whether one was left.
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
		b.sum ^= entryHash(e.Index, old.phase)
	}
	b.entries[e.Index] = e
	b.sum ^= entryHash(e.Index, e.phase)
	b.last = max(b.last, e.Index)
}

// advance moves an alarm to a later phase, with the content of its notification.
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
		b.remove(a.Index)
		return
	}
	if old.phase.open() && !p.open() {
		b.ended = append(b.ended, a)
	}
	b.put(&entry{a, p})
}

// remove removes an alarm, and keeps its index as cleared.
func (b *book) remove(index uint32) {
	if old := b.entries[index]; old != nil {
		b.sum ^= entryHash(index, old.phase)
		if old.phase.open() {
			b.ended = append(b.ended, old.Alarm)
		}
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

// merge merges an entry of another book, and reports whether it changed this one. An
// index that two alarms have stays with the alarm in this book.
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
	if !e.phase.open() && (old == nil || old.phase.open()) {
		b.ended = append(b.ended, e.Alarm)
	}
	b.put(&e)
	return true
}

// takeEnded returns the alarms that are over since the last call.
func (b *book) takeEnded() []Alarm {
	ended := b.ended
	b.ended = nil
	return ended
}

// active reports whether an alarm is active.
func (b *book) active(index uint32) bool {
	e := b.entries[index]
	return e != nil && e.phase.open()
}

func (a *Alarm) key() key { return key{a.Kind, a.Net, a.Subject} }

// saved returns the part of the book with these indices; an index without an entry is cleared.
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
