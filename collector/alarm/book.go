// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"
	"slices"
)

// Phase is the progress of the sidecars of a pair with an alarm. It only grows.
type Phase uint8

// The phases of an alarm with an index.
const (
	Raising  Phase = 1 + iota // its raise may not have been sent
	Raised                    // its raise was sent, or suppressed
	Unsent                    // it is over; neither notification may have been sent
	Clearing                  // it is over; its clear may not have been sent
	cleared                   // its clear was sent
)

// open reports whether the alarm is active.
func (p Phase) open() bool { return p == Raising || p == Raised }

// maxCleared is the number of indices of cleared alarms that a book keeps, so that a
// sidecar that was cut off does not restore them.
const maxCleared = 4096

// Entry is an alarm with an index.
type Entry struct {
	Alarm
	Phase Phase
}

// book has every alarm with an index whose clear was not sent yet. The sidecars of a pair
// merge their books: the larger phase of an alarm counts. So merging is idempotent and
// commutative.
type book struct {
	last    uint32 // the largest index that was ever used
	skip    uint32 // indices that the next alarm leaves out, see Duty
	entries map[uint32]*Entry
	cleared []uint32 // the newest last
	gone    map[uint32]bool
	quiet   map[uint32]bool // those of cleared that this process ended without a word
	sum     uint64          // of entries, see digest
	dirty   map[uint32]bool // changes not shared yet
	ended   []Alarm         // those that were active, or in another book, and are over; see takeEnded
}

func newBook(last uint32) *book {
	return &book{last: last, entries: map[uint32]*Entry{}, gone: map[uint32]bool{}, quiet: map[uint32]bool{}, dirty: map[uint32]bool{}}
}

// digest returns a text that is equal for books with the same entries and largest index.
func (b *book) digest() string { return fmt.Sprintf("%d-%d-%016x", b.last, len(b.entries), b.sum) }

// entryHash returns the hash of an entry for the sum: the steps of SplitMix64.
func entryHash(index uint32, p Phase) uint64 {
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
	b.put(&Entry{*a, Raising})
	b.dirty[a.Index] = true
	return true
}

func (b *book) put(e *Entry) {
	if old := b.entries[e.Index]; old != nil {
		b.sum ^= entryHash(e.Index, old.Phase)
	}
	b.entries[e.Index] = e
	b.sum ^= entryHash(e.Index, e.Phase)
	b.last = max(b.last, e.Index)
}

// advance moves an alarm to a later phase, with the content of its notification.
func (b *book) advance(a Alarm, p Phase) {
	old := b.entries[a.Index]
	if old == nil || old.Phase >= p {
		return
	}
	if p == Clearing && old.Phase == Raising {
		p = Unsent
	}
	b.dirty[a.Index] = true
	if p == cleared {
		b.remove(a.Index)
		return
	}
	if old.Phase.open() && !p.open() {
		b.ended = append(b.ended, a)
	}
	b.put(&Entry{a, p})
}

// remove removes an alarm, and keeps its index as cleared.
func (b *book) remove(index uint32) {
	if old := b.entries[index]; old != nil {
		b.sum ^= entryHash(index, old.Phase)
		if old.Phase.open() {
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
			delete(b.quiet, old)
		}
		b.cleared = slices.Delete(b.cleared, 0, over)
	}
}

// forget removes an alarm whose index is that of another one.
func (b *book) forget(index uint32) {
	b.sum ^= entryHash(index, b.entries[index].Phase)
	delete(b.entries, index)
}

// merge merges an entry of another book, and reports whether it changed this one. An
// index that two alarms have stays with the alarm in this book; see also Machine.yield.
func (b *book) merge(e Entry) bool {
	old := b.entries[e.Index]
	switch {
	case b.gone[e.Index]:
		return false
	case old == nil && len(b.entries) >= MaxActive:
		return false
	case old != nil && (old.Phase >= e.Phase || old.key() != e.key()):
		return false
	}
	if !e.Phase.open() && (old == nil || old.Phase.open()) {
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
	return e != nil && e.Phase.open()
}

func (a *Alarm) key() key { return key{a.Kind, a.Net, a.Subject, a.Selects} }

// saved returns the part of the book with these indices; an index without an entry is cleared.
func (b *book) saved(indices []uint32) Saved {
	s := Saved{Last: b.last}
	for _, index := range indices {
		if e := b.entries[index]; e != nil {
			s.Alarms = append(s.Alarms, *e)
		} else {
			s.Cleared = append(s.Cleared, index)
		}
	}
	return s
}
