// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// timer is a clock in the simplest form.
type timer struct {
	id, cell, transition int
	delayed, planned     bool
	due                  int64
}

// timers are clocks in a list.
type timers struct {
	list    []timer
	highest int // the largest number of clocks at one time
}

func (m *timers) find(cell, transition int) int {
	return slices.IndexFunc(m.list, func(c timer) bool { return c.cell == cell && c.transition == transition })
}

// first returns the clock that is due first among those for which only returns
// true, or -1.
func (m *timers) first(now int64, only func(timer) bool) int {
	list := slices.DeleteFunc(slices.Clone(m.list), func(c timer) bool { return !only(c) || c.due > now })
	if len(list) == 0 {
		return -1
	}
	return slices.MinFunc(list, func(a, b timer) int {
		return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.cell, b.cell), cmp.Compare(a.transition, b.transition))
	}).id
}

// change changes one clock in both forms.
func (m *timers) change(r *rand.Rand, k *clocks, cell, transition int) {
	at := m.find(cell, transition)
	switch what := r.IntN(8); {
	case at < 0 && what < 6:
		c := timer{cell: cell, transition: transition, delayed: r.IntN(4) > 0, due: r.Int64N(20)}
		c.id = int(k.add(clock{cell: int32(cell), transition: uint16(transition), delayed: c.delayed, due: c.due}))
		if c.planned = c.delayed && r.IntN(4) > 0; c.planned {
			k.plan(int32(c.id))
		}
		m.list = append(m.list, c)
		m.highest = max(m.highest, len(m.list))
	case what == 0:
		k.removeOf(cell, transition)
		if at >= 0 {
			m.list = slices.Delete(m.list, at, at+1)
		}
	case what == 1 && r.IntN(4) == 0:
		k.removeAll(cell)
		m.list = slices.DeleteFunc(m.list, func(c timer) bool { return c.cell == cell })
	case at < 0:
	case what == 2:
		k.remove(int32(m.list[at].id))
		m.list = slices.Delete(m.list, at, at+1)
	case what < 5:
		k.planned.Drop(int32(m.list[at].id))
		m.list[at].planned = false
	case m.list[at].delayed && !m.list[at].planned:
		k.plan(int32(m.list[at].id))
		m.list[at].planned = true
	}
}

// agree compares all that clocks return.
func (m *timers) agree(t *testing.T, k *clocks, cells, transitions int, now int64) {
	t.Helper()
	want := m.first(now, func(c timer) bool { return c.planned })
	if ok := k.planned.Due(now); ok != (want >= 0) {
		t.Fatalf("%v: a clock is due at %d: %v; want %d", m.list, now, ok, want)
	} else if ok {
		got := k.planned.Take()
		if int(got) != want {
			t.Fatalf("%v: due at %d is %d; want %d", m.list, now, got, want)
		}
		k.plan(got)
	}
	for cell := range cells {
		want := m.first(now, func(c timer) bool { return c.delayed && c.cell == cell })
		if got := k.dueOf(cell, now); int(got) != want {
			t.Fatalf("%v: due of %d at %d is %d, want %d", m.list, cell, now, got, want)
		}
		running := 0
		k.each(cell, func(c *clock) {
			running++
			if m.find(cell, int(c.transition)) < 0 || int(c.cell) != cell {
				t.Fatalf("%v: %+v runs in %d", m.list, c, cell)
			}
		})
		for tr := range transitions {
			want := -1
			if at := m.find(cell, tr); at >= 0 {
				want = m.list[at].id
				running--
			}
			if got := k.of(cell, tr); int(got) != want {
				t.Fatalf("%v: the clock of %d in %d is %d, want %d", m.list, tr, cell, got, want)
			}
		}
		if running != 0 {
			t.Fatalf("%v: %d more clocks run in instance %d than were started", m.list, running, cell)
		}
	}
	if len(k.all) > m.highest {
		t.Fatalf("memory for %d clocks; there were never more than %d", len(k.all), m.highest)
	}
}

// The first clock that is due is always found. Of clocks with the same due
// time, it is that of the first instance, and within it that of the first
// transition.
func TestClocksAreDueInTheOrderOfAPlainList(t *testing.T) {
	const cells, transitions = 5, 4
	r := rand.New(rand.NewPCG(81, 1))
	for range 40 {
		k, m := &clocks{}, &timers{}
		k.init(cells)
		for range 150 {
			m.change(r, k, r.IntN(cells), r.IntN(transitions))
			m.agree(t, k, cells, transitions, r.Int64N(21)-1)
		}
		for { // until all are taken in order
			m.agree(t, k, cells, transitions, 20)
			if !k.planned.Due(20) {
				break
			}
			id := k.planned.Take()
			k.remove(id)
			m.list = slices.DeleteFunc(m.list, func(c timer) bool { return c.id == int(id) })
		}
		m.agree(t, k, cells, transitions, 20)
	}
}

// planned returns how many clocks are planned.
func planned(k *clocks) (n int) {
	for id := range k.all {
		if k.planned.Planned(int32(id)) {
			n++
		}
	}
	return n
}
