// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"math"
	"math/bits"
)

// turns applies a discipline: it knows which lists are empty and says which is
// next. The lists themselves are its owner's, who tells of each change.
type turns struct {
	Discipline
	current uint8  // quoted: whose turn it is
	left    uint32 // quoted: what is left of the quote of current
	present uint8  // bit p: list p is not empty
	rows    [Priorities]row
}

// row is what is counted of one list.
type row struct {
	length   int
	served   uint64
	switches uint64
	filled   int64 // when the list was last empty and no longer is
	serving  int64 // when the list was last served
}

func newTurns(d Discipline) turns {
	return turns{Discipline: d, current: uint8(Highest), left: d.quotes[Highest]}
}

// list returns the list for a priority. A priority above p7 is a programming
// error and panics.
func (t *turns) list(p Priority) int {
	if p > Highest {
		panic("pool: " + p.String() + " is no priority")
	}
	if t.policy == PolicyFIFO {
		return 0
	}
	return int(p)
}

// added notes that list p has one more.
func (t *turns) added(p int, now int64) {
	r := &t.rows[p&7]
	if r.length == 0 {
		t.present |= 1 << p
		r.filled = now
	}
	r.length++
}

// removed notes that list p has one less.
func (t *turns) removed(p int) {
	r := &t.rows[p&7]
	if r.length--; r.length == 0 {
		t.present &^= 1 << p
	}
}

// pick returns the list that would be next if the lists in present were not
// empty. One is there.
func (t *turns) pick(present uint8) int {
	if t.policy == PolicyQuoted {
		if upToCurrent := present & (2<<t.current - 1); upToCurrent != 0 {
			present = upToCurrent
		}
	}
	return bits.Len8(present) - 1
}

// allowance returns how many events list p may have if it is served next.
func (t *turns) allowance(p int) int {
	switch {
	case t.policy != PolicyQuoted:
		return math.MaxInt
	case p == int(t.current):
		return int(t.left)
	default:
		return int(t.quotes[p&7])
	}
}

// serve notes that n events of list p are served, which pick has returned. n is
// within its allowance.
func (t *turns) serve(p, n int, now int64) {
	r := &t.rows[p&7]
	r.served += uint64(n)
	r.serving = now
	if t.policy != PolicyQuoted {
		return
	}
	if p != int(t.current) {
		t.current, t.left = uint8(p), t.quotes[p&7]
	}
	if t.left -= uint32(n); t.left == 0 {
		r.switches++
		t.current = (t.current - 1) & 7
		t.left = t.quotes[t.current]
	}
}

// overtakes reports whether arrivals in the lists of a bit set would change
// which list is next.
func (t *turns) overtakes(arrivals uint8) bool {
	if t.present == 0 || arrivals == 0 {
		return arrivals != 0
	}
	return t.pick(t.present|arrivals) != t.pick(t.present)
}

// stats returns what was counted, without the times of the oldest.
func (t *turns) stats() Stats {
	s := Stats{Policy: t.policy}
	for p, r := range t.rows {
		s.Priorities[p] = PriorityStats{Length: r.length, Served: r.served, QuoteSwitches: r.switches}
		if r.length > 0 {
			s.Priorities[p].UnservedSince = max(r.filled, r.serving)
		}
	}
	return s
}
