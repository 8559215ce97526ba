// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"cmp"
	"iter"
	"slices"
	"sort"

	"github.com/pnagent/pnagent/engine/internal/shard"
)

// none is the index of no note.
const none int32 = -1

// noteKind is the kind of a note.
type noteKind uint8

const (
	noteClock    noteKind = iota // since when a delayed or manual transition is enabled; due at a time, if delayed
	noteNo                       // its guard rejected; asked again when due
	noteWait                     // it failed or was delayed, and is tried again when due
	noteFailed                   // it failed, and may be tried again
	noteAwaits                   // its action waits for an event
	noteIncident                 // it waits for a call of Fire
	noteRun                      // its action runs, until due
)

// note is what an instance remembers about a transition.
type note struct {
	kind       noteKind
	ripe       bool // clock, failed: its time has come
	stale      bool // clock: its guard has to be asked again
	reported   bool // no: it is an incident, and a Ready has it
	again      bool // incident: tried again when a place of the transition changes
	transition uint16
	instance   int32
	frame      uint32 // the number of the one in which the transition acts
	prev, next int32  // notes of the same frame; of a run, those of the same instance
	ref        int32  // of an incident: the place that overflowed; stats.NoPlace if there is none
	failures   int32
	since, due int64  // of a run: started, deadline; of a wait: when it began; of a clock by Until: due is 0 until it is determined
	token      uint64 // of a failure: the first token that was taken, 0 for none; of a run: its RunID; of a clock with a due time by Until: see identities
	run        *run   // of a run
	why        string // of a failure: the reason, for people
}

// notes holds all notes of a shard.
type notes struct {
	all  []note
	free int32 // the first unused note; next links them
	due  shard.Due

	scopes *scopes
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

// remove removes a note from its list and from the due times, and frees it.
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

// addNote puts a note about a transition in a frame at the head of the list.
func (k *notes) addNote(in *instance, f *frame, n note) int32 {
	n.instance, n.frame = in.index, f.number
	k.counts(&n, 1)
	return k.add(&f.notes, n)
}

// counts counts a note that is added or removed, if the net has scopes.
func (k *notes) counts(n *note, by int32) {
	if k.scopes.frames == nil {
		return
	}
	all := &k.scopes.frames[n.instance]
	all.noted += by
	if n.kind != noteClock || n.ripe {
		all.loud += by
	}
}

// each yields the notes of an instance. The one that it has yielded may be dropped.
func (k *notes) each(in *instance) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for f := range k.scopes.each(in) {
			for id := range k.of(f) {
				if !yield(id) {
					return
				}
			}
		}
	}
}

// of is each for the notes of one frame.
func (k *notes) of(f *frame) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for id := f.notes; id != none; {
			next := k.all[id].next
			if !yield(id) {
				return
			}
			id = next
		}
	}
}

// quiet reports whether all notes of an instance are clocks that run; if the net has no scopes,
// whether there are none.
func (k *notes) quiet(in *instance) bool {
	if k.scopes.frames == nil {
		return in.notes == none
	}
	return k.scopes.frames[in.index].loud == 0
}

// setRipe sets whether the time of a transition that is held has come.
func (k *notes) setRipe(id int32, ripe bool) {
	n := &k.all[id]
	if n.ripe == ripe {
		return
	}
	k.counts(n, -1)
	n.ripe = ripe
	k.counts(n, 1)
	if k.scopes.frames == nil {
		return
	}
	all := &k.scopes.frames[n.instance]
	if !ripe && all.ripe[0] == id {
		all.ripe = all.ripe[1:]
	} else if !ripe {
		all.ripe = slices.DeleteFunc(all.ripe, func(other int32) bool { return other == id })
	} else {
		at := sort.Search(len(all.ripe), func(at int) bool { return k.before(id, all.ripe[at]) })
		all.ripe = slices.Insert(all.ripe, at, id)
	}
}

// dropNote removes a note that addNote added.
func (k *notes) dropNote(in *instance, id int32) {
	n := &k.all[id]
	f := k.scopes.frame(in, n.frame)
	k.setRipe(id, false)
	k.counts(n, -1)
	k.scopes.unsettle(in, f)
	k.remove(&f.notes, id)
}

// plan sets a note's due time.
func (k *notes) plan(id int32, due int64) {
	k.all[id].due = due
	k.due.Plan(id, k.all[id].instance, due)
}

// before orders notes of an instance by their due times, and those of one time so that a run can be repeated.
func (k *notes) before(i, j int32) bool {
	a, b := &k.all[i], &k.all[j]
	return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.transition, b.transition), cmp.Compare(a.frame, b.frame),
		cmp.Compare(a.kind, b.kind), cmp.Compare(a.token, b.token)) < 0
}

// failure reports whether a note is about a failure.
func (n *note) failure() bool { return n.kind >= noteWait && n.kind <= noteIncident }

// find returns the first note about a transition in a frame of an instance for which a function
// holds, or none.
func (k *notes) find(f *frame, t int, holds func(*note) bool) int32 {
	id := f.notes
	for id != none && (int(k.all[id].transition) != t || !holds(&k.all[id])) {
		id = k.all[id].next
	}
	return id
}

// clock returns the clock of a transition in a frame of an instance, or none.
func (k *notes) clock(f *frame, t int) int32 {
	return k.find(f, t, func(n *note) bool { return n.kind == noteClock })
}

// trouble returns the note about a failure of a transition with some first token, or none.
func (k *notes) trouble(f *frame, t int, token uint64) int32 {
	return k.find(f, t, func(n *note) bool { return n.failure() && n.token == token })
}

// blocked reports whether a note keeps a transition from being tried without a call of Fire.
func (k *notes) blocked(f *frame, t int) bool {
	return k.find(f, t, func(n *note) bool { return n.kind != noteClock && n.kind != noteFailed }) != none
}

// clear removes the notes that block a transition, because Fire names it.
func (k *notes) clear(in *instance, f *frame, t int) {
	for id := range k.of(f) {
		if n := &k.all[id]; int(n.transition) == t && n.kind != noteClock {
			k.dropNote(in, id)
		}
	}
}

// forget removes the notes of a frame about failures with tokens that are gone.
func (k *notes) forget(in *instance, f *frame, id uint64, n uint32) {
	for at := range k.of(f) {
		if note := &k.all[at]; note.token >= id && note.token-id < uint64(n) && note.failure() {
			k.dropNote(in, at)
		}
	}
}

// changed updates the notes of an instance after the tokens of the spots in
// touched have changed, and the variables of the frames in rewritten: a guard is asked again, a
// clock stops. It closes frames that hold nothing any more.
func (x *change) changed() {
	if x.s.frames == nil {
		x.review(&x.in.frame)
	} else if !x.related(x.review) {
		for f := range x.s.each(x.in) {
			x.review(f)
		}
	}
	x.touched, x.rewritten = x.touched[:0], x.rewritten[:0]
	for _, f := range x.emptied {
		x.s.leave(x.in, f)
	}
	x.emptied = x.emptied[:0]
}

// review updates the notes of a frame, and has choose and settle look at it.
func (x *change) review(f *frame) {
	x.s.unsettle(x.in, f)
	for id := range x.s.notes.of(f) {
		x.reviewNote(f, id, &x.s.notes.all[id])
	}
}

func (x *change) reviewNote(f *frame, id int32, n *note) {
	r, gone := &x.s.rules[n.transition], false
	touched := func(looks func(place int32) bool) bool {
		return slices.ContainsFunc(x.touched, func(at spot) bool { return looks(at.place) && x.s.sees(x.in, f, at) })
	}
	rewritten := slices.ContainsFunc(x.rewritten, func(w rewrite) bool { return f.within(w.f) })
	switch n.kind {
	case noteNo:
		gone = rewritten || touched(r.looksAt)
	case noteIncident:
		full := func(place int32) bool { return place == n.ref && n.token == 0 }
		gone = n.again && (rewritten || touched(r.looksAt)) || touched(full)
	case noteClock:
		changed := touched(r.looksAt)
		n.stale = n.stale || rewritten || changed
		gone = changed && !x.s.holds(x.in, f, int(n.transition))
	}
	if gone {
		x.s.notes.dropNote(x.in, id)
	}
}
