// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"math"
	"math/bits"
	"slices"
)

// A store numbers markings from 0 in the order in which they are added. It packs the counts
// of a marking into words and numbers these by a tree of tables (A. Laarman, J. van de Pol,
// M. Weber, Parallel Recursive State Compression for Free, SPIN 2011). A table at the bottom
// numbers the values of two neighbouring words, one above the pairs of numbers of its two
// children. The number of a marking is its number at the root. A marking takes one row there;
// nearly all rows below it are part of many markings. Where they are not, rearrange dissolves
// the child: the rows above it have its cells, not its number.
//
// A count that becomes larger than its bits takes free bits of a word, or a new word. Rows that
// were added before have 0 there, and need not change.
type store struct {
	layout
	budget *budget
	due    int  // the number of markings at which rearrange is called
	longer bool // there are more words than newLayout made

	// The marking that get returned last, and its cells. Only what differs from it is looked up
	// by add.
	number  uint32
	marking []uint32
	base    []uint32
	next    []uint32 // the cells of the marking that is being added
	row     []uint32
	stale   []bool // by cell, for get: its node has a new number
}

const (
	none = math.MaxUint32 // the number of no marking
	// The numbers of markings at which rearrange is called. Later it would need a large part of
	// the memory.
	firstArrangement, lastArrangement = 1 << 12, 1 << 15
)

// newStore returns a store for markings with counts of these bits, by place. For separate
// see newLayout.
func newStore(widths []uint8, separate []bool, b *budget) *store {
	s := &store{layout: newLayout(widths, separate), budget: b, due: firstArrangement, marking: make([]uint32, len(widths))}
	cells := len(s.in)
	s.base, s.next, s.row, s.stale = make([]uint32, cells), make([]uint32, cells), make([]uint32, cells), make([]bool, cells)
	for i := range s.nodes {
		s.base[s.nodes[i].number] = none
	}
	return s
}

// root returns the node that numbers markings.
func (s *store) root() *node { return &s.nodes[len(s.nodes)-1] }

// len returns the number of markings.
func (s *store) len() int { return s.root().len }

// add returns the number of a marking and adds it, unless it is known. ok is false if
// there is no memory for it.
func (s *store) add(m []uint32) (number uint32, ok bool) {
	if s.len() == s.due {
		s.rearrange()
	}
	copy(s.next, s.base)
	marking := s.marking[:len(m)]
	for p, n := range m {
		last := marking[p]
		if n == last {
			continue
		}
		if uint64(n)>>s.widths[p] != 0 && !s.widen(p, n) {
			return 0, false
		}
		for _, f := range s.fields[p] {
			s.next[f.word] ^= (n ^ last) >> f.at & f.mask << f.shift
		}
	}
	return s.join()
}

// join numbers the nodes of the marking that is being added.
func (s *store) join() (number uint32, ok bool) {
	next, base := s.next, s.base[:len(s.next)]
	for i := range s.nodes {
		n := &s.nodes[i]
		row, differs := s.row[:len(n.cells)], base[n.number] == none
		for j, c := range n.cells {
			v := next[c]
			row[j] = v
			if v != base[c] {
				differs = true
			}
		}
		number = base[n.number]
		if differs {
			if number, ok = n.add(row, s.budget); !ok {
				return 0, false
			}
			next[n.number] = number
		}
	}
	return number, true
}

// get returns the marking of a number. It is valid until the next call.
func (s *store) get(number uint32) []uint32 {
	s.number = number
	s.set(s.root().number, number)
	for i := len(s.nodes) - 1; i >= 0; i-- {
		n := &s.nodes[i]
		if !s.stale[n.number] {
			continue
		}
		s.stale[n.number] = false
		row := n.at(s.base[n.number])
		for j, c := range n.cells {
			if j < len(row) {
				s.set(c, row[j])
			} else {
				s.set(c, 0)
			}
		}
	}
	return s.marking
}

// set gives a cell of the last marking a value, and with a word its counts.
func (s *store) set(cell int32, value uint32) {
	differs := s.base[cell] ^ value
	if differs == 0 {
		return
	}
	s.base[cell] = value
	s.stale[cell] = true // not read if the cell is a word
	for _, f := range s.in[cell] {
		s.marking[f.place] ^= differs >> f.shift & f.mask << f.at
	}
}

// widen gives a place enough bits for a count and reports whether there was memory for them.
// The tables stay as they are.
func (s *store) widen(p int, count uint32) bool {
	n := &s.nodes[s.homes[p]]
	for int(s.widths[p]) < bits.Len32(count) {
		if n.used == wordBits {
			if !n.widen(s.budget) {
				return false
			}
			s.addWord(n)
			s.longer = true
			s.base, s.next, s.row, s.stale = append(s.base, 0), append(s.next, 0), append(s.row, 0), append(s.stale, false)
		}
		n.used = s.put(p, bits.Len32(count), n.cells[len(n.cells)-1], n.used)
	}
	return true
}

// rearrange makes the tables again: the first time for the bits of the counts, the second time also
// for how many markings have a row in common. Every marking keeps its number. Without memory
// for this, the tables stay.
func (s *store) rearrange() {
	last := s.len() == lastArrangement
	if !last || s.longer {
		s.replace(nil)
	}
	if last && !s.longer {
		if separate := s.separate(); slices.Contains(separate, false) {
			s.replace(separate)
		}
	}
	s.due = lastArrangement
	if last {
		s.due = -1
	}
}

// replace replaces the store by one with the same markings. For separate see newLayout.
func (s *store) replace(separate []bool) {
	number, marking := s.number, s.marking // the caller may hold the marking
	by := newStore(s.widths, separate, s.budget)
	by.due = -1
	for n := range uint32(s.len()) {
		if _, ok := by.add(s.get(n)); !ok {
			by.release()
			s.get(number)
			return
		}
		by.get(n)
	}
	s.release()
	copy(marking, by.get(number))
	*s = *by
	s.marking = marking
}

// release returns the memory of the tables to the budget.
func (s *store) release() {
	for i := range s.nodes {
		s.budget.left += s.nodes[i].bytes()
	}
}
