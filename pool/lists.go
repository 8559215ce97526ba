// SPDX-License-Identifier: Apache-2.0

package pool

// none ends a chain of indexes.
const none = -1

// list is the ready channels of one priority, chained through their slots, so
// that one can leave from the middle.
type list struct {
	first, last int32
	size        int
	pieces      uint64 // of work, served
	begun       int64  // when the list was last empty and no longer was
	served      int64  // when it was last served
}

// link puts a channel at the end of its ready list.
func (p *Pool[W]) link(i int32, s *slot, now int64) {
	l := &p.ready[s.list&7]
	s.prev, s.next, s.since = l.last, none, now
	if l.last == none {
		l.first, l.begun = i, now
		p.turns.present |= 1 << s.list
	} else {
		p.slots[l.last].next = i
	}
	l.last = i
	l.size++
	p.enter(s, Ready)
}

// unlink takes a channel out of its ready list. The caller enters its next
// state.
func (p *Pool[W]) unlink(s *slot) {
	l := &p.ready[s.list&7]
	if s.prev == none {
		l.first = s.next
	} else {
		p.slots[s.prev].next = s.next
	}
	if s.next == none {
		l.last = s.prev
	} else {
		p.slots[s.next].prev = s.prev
	}
	if l.size--; l.size == 0 {
		p.turns.present &^= 1 << s.list
	}
}

// fifo is the waiting work of one channel, chained through works.
type fifo struct{ first, last, size int32 }

// works holds the work of all channels in one array, whose free places are
// chained too: many channels with little work need little memory.
type works[W any] struct {
	all  []piece[W]
	free int32
	used int
}

type piece[W any] struct {
	work W
	next int32
}

func (ws *works[W]) add(f *fifo, work W) {
	i := ws.free
	if i == none {
		i = int32(len(ws.all))
		ws.all = append(ws.all, piece[W]{work, none})
	} else {
		w := &ws.all[i]
		ws.free = w.next
		w.work, w.next = work, none
	}
	if f.size == 0 {
		f.first = i
	} else {
		ws.all[f.last].next = i
	}
	f.last = i
	f.size++
	ws.used++
}

// take appends the n oldest pieces to buf. So many are there.
func (ws *works[W]) take(f *fifo, n int, buf []W) []W {
	var zero W
	for range n {
		i := f.first
		w := &ws.all[i]
		buf = append(buf, w.work)
		f.first = w.next
		w.work, w.next = zero, ws.free
		ws.free = i
	}
	f.size -= int32(n)
	ws.used -= n
	return buf
}
