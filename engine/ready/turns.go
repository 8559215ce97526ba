// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"math"
	"math/bits"
)

// turns applies a discipline: it chooses the next of eight lists. The owner
// holds the lists and sets present.
type turns struct {
	Discipline
	lists    [Priorities]uint8 // by priority: its list
	present  uint8             // bit p: list p is not empty
	current  uint8             // quoted: whose turn it is
	left     uint32            // quoted: the rest of the quote of current
	switches [Priorities]uint64
}

func newTurns(d Discipline) turns {
	t := turns{Discipline: d, current: uint8(Highest), left: d.quotes[Highest]}
	if d.policy != PolicyFIFO {
		t.lists = [Priorities]uint8{0, 1, 2, 3, 4, 5, 6, 7}
	}
	return t
}

// pick returns the list that would be next if exactly the lists in present, at
// least one, were not empty.
func (t *turns) pick(present uint8) uint8 {
	if t.policy == PolicyQuoted {
		if upToCurrent := present & (2<<t.current - 1); upToCurrent != 0 {
			present = upToCurrent
		}
	}
	return uint8(bits.Len8(present)-1) & 7
}

// allowance returns how many events list p may have if it is served next.
func (t *turns) allowance(p uint8) int {
	switch {
	case t.policy != PolicyQuoted:
		return math.MaxInt
	case p == t.current:
		return int(t.left)
	default:
		return int(t.quotes[p&7])
	}
}

// serve takes n events of list p, which pick has returned, from its quote. n
// must be within the allowance.
func (t *turns) serve(p uint8, n int) {
	if t.policy != PolicyQuoted {
		return
	}
	if p != t.current {
		t.current, t.left = p, t.quotes[p&7]
	}
	if t.left -= uint32(n); t.left == 0 {
		t.switches[p&7]++
		t.current = (p - 1) & 7
		t.left = t.quotes[t.current]
	}
}

// Turn applies a discipline across several queues of one owner, such as those
// of the nets that a worker plays. The owner gets a priority from Next, serves
// the instance that has been ready for longest among the heads of that priority
// with [Queue.PopOf], and reports that with Served.
type Turn struct{ turns turns }

// NewTurn returns the turn at its beginning.
func NewTurn(d Discipline) *Turn { return &Turn{newTurns(d)} }

// Next returns the priority that is served next, given the priorities that have
// ready instances in some queue (bit p for priority p); ok is false for none.
func (t *Turn) Next(present uint8) (p Priority, ok bool) {
	if present == 0 {
		return 0, false
	}
	return Priority(t.turns.pick(present)), true
}

// Served counts one event of the priority that Next has returned, and reports
// whether that used up its quote. The queues do not count it: see
// [Queue.PopOf].
func (t *Turn) Served(p Priority) (switched bool) {
	before := t.turns.switches[p&7]
	t.turns.serve(uint8(p), 1)
	return t.turns.switches[p&7] != before
}
