// SPDX-License-Identifier: Apache-2.0

package coloured

import "github.com/pnagent/pnagent/engine/internal/shard"

// none is no note.
const none int32 = -1

// noteKind is what a note remembers.
type noteKind uint8

const (
	noteClock    noteKind = iota // a transition that does not fire by itself is enabled since a time; due at one, if delayed
	noteNo                       // its guard rejected; asked again when due
	noteWait                     // it failed or was put off, and is tried again when due
	noteFailed                   // it failed, and may be tried again
	noteAwaits                   // its action waits for an event
	noteIncident                 // waits for a call from outside
	noteRun                      // it runs, till due
)

// note is what is remembered of a transition in an instance.
type note struct {
	kind       noteKind
	ripe       bool // clock, failed: its time has come
	stale      bool // clock: its guard has to be asked again
	transition uint16
	instance   int32
	prev, next int32 // of the same instance
	// Of a guard the place that it waits for, of an incident the place that was
	// too full, or stats.NoPlace; of a run its load.
	ref        int32
	failures   int32
	since, due int64  // run: started, deadline
	token      uint64 // of a failure, the first token that was taken, 0 for none; of a run its RunID
}

// load is what a run carries.
type load struct {
	taken     []Placed
	read      []Placed // what it tests, as it was when it started
	data      []byte   // that Fire gave
	contested bool     // it was chosen before a rival
	attempt   int
	era       uint64
}

// notes are all of a shard.
type notes struct {
	all  []note
	free int32 // list of unused ones, by next
	due  shard.Due
}

// add puts a note at the head of a list.
func (k *notes) add(first *int32, n note) int32 {
	id := k.free
	if id == none {
		id = int32(len(k.all))
		k.all = append(k.all, note{})
	} else {
		k.free = k.all[id].next
	}
	n.prev, n.next = none, *first
	if n.next != none {
		k.all[n.next].prev = id
	}
	*first = id
	k.all[id] = n
	return id
}

// remove takes a note out of everything.
func (k *notes) remove(first *int32, id int32) {
	k.due.Drop(id)
	n := &k.all[id]
	if n.prev == none {
		*first = n.next
	} else {
		k.all[n.prev].next = n.next
	}
	if n.next != none {
		k.all[n.next].prev = n.prev
	}
	*n = note{next: k.free}
	k.free = id
}

// plan has a note wait for its due time.
func (k *notes) plan(id int32, due int64) {
	k.all[id].due = due
	k.due.Plan(id, due)
}

// before orders notes that are due at one time, so that a run can be repeated.
func (k *notes) before(i, j int32) bool {
	a, b := &k.all[i], &k.all[j]
	switch {
	case a.instance != b.instance:
		return a.instance < b.instance
	case a.transition != b.transition:
		return a.transition < b.transition
	case a.kind != b.kind:
		return a.kind < b.kind
	}
	return a.token < b.token
}

// clock returns the clock of a transition in an instance, or none.
func (s *Shard) clock(in *instance, t int) int32 {
	id := in.notes
	for id != none && (int(s.notes.all[id].transition) != t || s.notes.all[id].kind != noteClock) {
		id = s.notes.all[id].next
	}
	return id
}

// trouble returns what is remembered of a failure of a transition with some
// first token, or none.
func (s *Shard) trouble(in *instance, t int, token uint64) int32 {
	for id := in.notes; id != none; id = s.notes.all[id].next {
		if n := &s.notes.all[id]; int(n.transition) == t && n.token == token && n.kind >= noteWait && n.kind <= noteIncident {
			return id
		}
	}
	return none
}

// blocked reports whether something that is remembered keeps a transition from
// being tried by itself.
func (s *Shard) blocked(in *instance, t int) bool {
	for id := in.notes; id != none; id = s.notes.all[id].next {
		if n := &s.notes.all[id]; int(n.transition) == t && n.kind != noteClock && n.kind != noteFailed {
			return true
		}
	}
	return false
}

// clear forgets what blocks a transition, because a call names it.
func (s *Shard) clear(in *instance, t int) {
	for id := in.notes; id != none; {
		n := &s.notes.all[id]
		next := n.next
		if int(n.transition) == t && n.kind != noteClock {
			s.notes.remove(&in.notes, id)
		}
		id = next
	}
}

// forget drops the failures with tokens that are gone.
func (s *Shard) forget(in *instance, id uint64, n uint32) {
	for k := in.notes; k != none; {
		note := &s.notes.all[k]
		next := note.next
		if note.token >= id && note.token-id < uint64(n) && note.kind >= noteWait && note.kind <= noteIncident {
			s.notes.remove(&in.notes, k)
		}
		k = next
	}
}

// changed looks at what is remembered of an instance after tokens of the places
// in s.touched came, went or flew: a guard is asked again, a clock stops.
func (s *Shard) changed(in *instance) {
	if in.notes != none {
		for id := in.notes; id != none; {
			n := &s.notes.all[id]
			next := n.next
			s.review(in, id, n)
			id = next
		}
	}
	s.touched = s.touched[:0]
}

func (s *Shard) review(in *instance, id int32, n *note) {
	r := &s.rules[n.transition]
	for _, p := range s.touched {
		switch n.kind {
		case noteNo:
			if n.ref == p || r.looksAt(p) {
				s.notes.remove(&in.notes, id)
				return
			}
		case noteIncident:
			if n.ref == p && n.token == 0 {
				s.notes.remove(&in.notes, id)
				return
			}
		case noteClock:
			n.stale = n.stale || r.looksAt(p)
		}
	}
	if n.kind == noteClock && !s.holds(in, int(n.transition)) {
		s.notes.remove(&in.notes, id)
	}
}
