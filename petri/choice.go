// SPDX-License-Identifier: Apache-2.0

package petri

import (
	"cmp"
	"math"
	"slices"
)

// Order is the order in which rivals were chosen in one instance. Its length is
// Tables.OrderLen, and it is zero for an instance that has not fired.
//
// Two transitions of the same priority that fire by themselves are rivals if the
// firing of one may disable the other. Rivals of an inclusive join are also those
// that make it wait. A turn alone is unfair between rivals: on a cycle it can reach
// the same one each time. So the enabled rival that was not chosen for longest fires
// first, and no rival loses to another one twice before it wins.
type Order []uint16

// OrderLen returns the length of the Order of an instance, which is 0 without rivals.
func (t *Tables) OrderLen() int { return t.orderLen }

// Choose is Preferred, and records the choice in order.
func (t *Tables) Choose(first int, order Order, enabled func(transition int) bool) int {
	best, contested := t.Preferred(first, order, enabled)
	if contested {
		t.NoteChosen(best, order)
	}
	return best
}

// Preferred returns which enabled transition fires, if first is the enabled one at its
// turn: first itself, or an enabled rival that was not chosen for longer, and so on
// along the rivals. If the choice is contested, NoteChosen records it once it has fired.
func (t *Tables) Preferred(first int, order Order, enabled func(transition int) bool) (best int, contested bool) {
	best = first
	for {
		next := best
		for _, r := range t.rivals.of(best) {
			if !enabled(int(r)) {
				continue
			}
			contested = true
			if order[t.stamp[r]] < order[t.stamp[next]] {
				next = int(r)
			}
		}
		if next == best {
			return best, contested
		}
		best = next
	}
}

// note makes the stamp at an index the latest one. order[0] is the latest stamp.
func (o Order) note(at int) {
	if o[0] == math.MaxUint16 {
		o.renumber()
	}
	o[0]++
	o[at] = o[0]
}

// renumber renumbers the stamps from 1 and keeps their order.
func (o Order) renumber() {
	stamps := slices.Clone(o[1:])
	slices.Sort(stamps)
	stamps = slices.Compact(stamps)
	if stamps[0] != 0 { // 0 is for transitions that were never chosen
		stamps = slices.Insert(stamps, 0, 0)
	}
	for i, s := range o[1:] {
		rank, _ := slices.BinarySearch(stamps, s)
		o[1+i] = uint16(rank)
	}
	o[0] = uint16(len(stamps) - 1)
}

// maxContested bounds the rivals of a net, because an Order has stamps of 16 bits.
const maxContested = 1 << 14

// findRivals lists the rivals of each transition that fires by itself.
func (t *Tables) findRivals() {
	by := make([][]int32, t.Transitions())
	for tr := range by {
		t.mayDisable(tr, func(other int32) {
			if int(other) != tr && !t.held[tr] && !t.held[other] && t.prio[tr] == t.prio[other] {
				by[tr] = append(by[tr], other)
				by[other] = append(by[other], int32(tr))
			}
		})
	}
	t.stamp, t.orderLen = make([]int32, len(by)), 0
	for tr := range by {
		slices.SortFunc(by[tr], cmp.Compare)
		by[tr] = slices.Compact(by[tr])
		if len(by[tr]) == 0 {
			continue
		}
		if t.orderLen == 0 {
			t.orderLen = 1
		}
		t.stamp[tr] = int32(t.orderLen)
		t.orderLen++
	}
	if t.orderLen > maxContested {
		by, t.orderLen = make([][]int32, len(by)), 0
	}
	t.rivals = flatten(by)
}

// mayDisable calls do for every transition that a firing can disable, for each
// place by which it can.
func (t *Tables) mayDisable(transition int, do func(other int32)) {
	for _, e := range t.Effects(transition) {
		least := e.Take
		if e.Join {
			least--
		}
		t.disabledBy(e.Place, e.Reset || e.Take > e.Put, e.Put > least, do)
	}
	for _, b := range t.Branches(transition) {
		t.disabledBy(b.Place, false, true, do)
	}
}

// disabledBy calls do for every transition that can be disabled when a place has fewer
// tokens, or more. An inclusive join needs a token of its own and waits for one
// elsewhere.
func (t *Tables) disabledBy(place int32, fewer, more bool, do func(other int32)) {
	for _, w := range t.Watchers(int(place)) {
		if fewer && w.Lo > 0 || more && w.Hi > 0 {
			do(w.Transition)
		}
	}
	for _, j := range t.Joins(int(place)) {
		if own := t.joins[j].own(place) != 0; own && fewer || !own && more {
			do(j)
		}
	}
}

// NoteChosen records that a transition was chosen before an enabled rival.
func (t *Tables) NoteChosen(transition int, order Order) {
	if len(order) > 0 && t.stamp[transition] > 0 {
		order.note(int(t.stamp[transition]))
	}
}
