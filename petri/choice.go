// SPDX-License-Identifier: Apache-2.0

package petri

import (
	"cmp"
	"math"
	"slices"
)

// Order remembers, for one instance, in which order rivals were chosen. Its
// length is Tables.OrderLen; an instance that has not fired has all zeros.
//
// Two transitions of the same priority that fire by themselves are rivals if
// the firing of one may disable the other: an inclusive join also has those for
// rivals that make it wait. A turn that goes round is not enough
// between rivals: where they meet on a circle, the turn can come to the same
// one each time. So of rivals that are enabled the one goes first that has not
// been chosen for longest, and none loses to another twice before it wins.
type Order []uint16

// OrderLen returns how long the Order of an instance is: 0 if the net has no
// rivals.
func (t *Tables) OrderLen() int { return t.orderLen }

// Choose returns which enabled transition fires, given that first is enabled
// and its turn has come: first itself, or an enabled rival that has not been
// chosen for longer, and so on along its rivals. It notes the choice in order.
func (t *Tables) Choose(first int, order Order, enabled func(transition int) bool) int {
	best, contested := first, false
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
			break
		}
		best = next
	}
	if contested {
		order.note(int(t.stamp[best]))
	}
	return best
}

// note makes the stamp at a place the latest one. order[0] is the latest that
// was given.
func (o Order) note(at int) {
	if o[0] == math.MaxUint16 {
		o.renumber()
	}
	o[0]++
	o[at] = o[0]
}

// renumber makes room for new stamps and keeps their order.
func (o Order) renumber() {
	stamps := slices.Clone(o[1:])
	slices.Sort(stamps)
	stamps = slices.Compact(stamps)
	if stamps[0] != 0 { // 0 stays for what was never chosen
		stamps = slices.Insert(stamps, 0, 0)
	}
	for i, s := range o[1:] {
		rank, _ := slices.BinarySearch(stamps, s)
		o[1+i] = uint16(rank)
	}
	o[0] = uint16(len(stamps) - 1)
}

// maxContested bounds the rivals of a net: an Order numbers them in 16 bits,
// with room to renumber.
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

// disabledBy calls do for every transition that can be disabled when a place
// gets fewer tokens, or more. An inclusive join misses a token of its own and
// waits for one elsewhere.
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

// NoteChosen notes that a transition was chosen before an enabled rival, for
// somebody who repeats what Choose said without asking it.
func (t *Tables) NoteChosen(transition int, order Order) {
	if len(order) > 0 && t.stamp[transition] > 0 {
		order.note(int(t.stamp[transition]))
	}
}
