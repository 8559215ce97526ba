// SPDX-License-Identifier: Apache-2.0

package explore

import "slices"

// A store numbers markings from 0 in the order in which they are added. It is a tree
// table (A. Laarman, J. van de Pol, M. Weber, Parallel Recursive State Compression for
// Free, SPIN 2011). A leaf numbers the values of some neighbouring places. A node above
// numbers the pairs of numbers of its two children. The number of a marking is its
// number at the root. A marking takes one pair at the root; nearly all pairs below it
// are part of many markings.
type store struct {
	bits   []uint8 // by place: those of its count in the word of its leaf
	shift  []uint8 // by place: where they begin
	leaves []int   // by leaf: its first place; and the number of places
	levels [][]table
	budget *budget

	// The marking that get returned last, and its numbers by level and node. Only what
	// differs from it is looked up by add.
	number  uint32
	marking []uint32
	words   []uint64 // by leaf
	base    [][]uint32
	next    [][]uint32 // the numbers of the marking that is being added
}

// newStore returns a store for markings whose counts fit the bits, by place. The levels
// are the leaves first, the root last.
func newStore(bits []uint8, b *budget) *store {
	s := &store{bits: bits, shift: make([]uint8, len(bits)), leaves: []int{0}, budget: b, marking: make([]uint32, len(bits))}
	var used uint8
	for p, n := range bits {
		if used+n > 64 {
			s.leaves, used = append(s.leaves, p), 0
		}
		s.shift[p] = used
		used += n
	}
	s.leaves = append(s.leaves, len(bits))
	s.words = make([]uint64, len(s.leaves)-1)
	for n := len(s.leaves) - 1; ; n = (n + 1) / 2 {
		s.levels = append(s.levels, make([]table, n))
		s.base, s.next = append(s.base, make([]uint32, n)), append(s.next, make([]uint32, n))
		if n == 1 {
			return s
		}
	}
}

// oneBit returns the bits for a net in which no place has more than one token.
func oneBit(places int) []uint8 {
	bits := make([]uint8, places)
	for p := range bits {
		bits[p] = 1
	}
	return bits
}

// len returns the number of markings.
func (s *store) len() int { return s.levels[len(s.levels)-1][0].keys.len }

// add returns the number of a marking and adds it, unless it is known. ok is false if
// there is no memory for it.
func (s *store) add(m []uint32) (number uint32, ok bool) {
	for i := range s.levels[0] {
		word, large := s.pack(m, i)
		switch {
		case large && s.widen(m):
			return s.add(m)
		case large:
			return 0, false
		case s.len() > 0 && word == s.words[i]:
			s.next[0][i] = s.base[0][i]
			continue
		}
		if s.next[0][i], ok = s.levels[0][i].add(word, s.budget); !ok {
			return 0, false
		}
	}
	return s.join()
}

// join numbers the nodes above the leaves of the marking that is being added.
func (s *store) join() (number uint32, ok bool) {
	for l := 1; l < len(s.levels); l++ {
		below, was := s.next[l-1], s.base[l-1]
		for i := range s.levels[l] {
			left, right := 2*i, 2*i+1
			switch {
			case right == len(below):
				s.next[l][i] = below[left]
				continue
			case s.len() > 0 && below[left] == was[left] && below[right] == was[right]:
				s.next[l][i] = s.base[l][i]
				continue
			}
			if s.next[l][i], ok = s.levels[l][i].add(uint64(below[left])|uint64(below[right])<<32, s.budget); !ok {
				return 0, false
			}
		}
	}
	return s.next[len(s.next)-1][0], true
}

// get returns the marking of a number. It is valid until the next call.
func (s *store) get(number uint32) []uint32 {
	s.number = number
	s.base[len(s.base)-1][0] = number
	for l := len(s.levels) - 1; l > 0; l-- {
		below := s.base[l-1]
		for i, n := range s.base[l] {
			if 2*i+1 == len(below) {
				below[2*i] = n
				continue
			}
			pair := s.levels[l][i].keys.at(n)
			below[2*i], below[2*i+1] = uint32(pair), uint32(pair>>32)
		}
	}
	for i, n := range s.base[0] {
		word := s.levels[0][i].keys.at(n)
		if s.words[i] == word {
			continue
		}
		s.words[i] = word
		for p := s.leaves[i]; p < s.leaves[i+1]; p++ {
			s.marking[p] = uint32(word >> s.shift[p] & (1<<s.bits[p] - 1))
		}
	}
	return s.marking
}

// widen gives the counts of a marking enough bits: twice as many as before, or more, where
// there are too few. Every marking keeps its number.
func (s *store) widen(m []uint32) bool {
	bits := slices.Clone(s.bits)
	for p, n := range m {
		for uint64(n)>>bits[p] != 0 {
			bits[p] *= 2
		}
	}
	number := s.number
	wide := newStore(bits, s.budget)
	for n := range uint32(s.len()) {
		if _, ok := wide.add(s.get(n)); !ok {
			s.get(number)
			return false
		}
		wide.get(n)
	}
	s.release()
	marking := s.marking // the caller may hold it
	*s = *wide
	if s.len() > 0 {
		copy(marking, s.get(number))
	}
	s.marking = marking
	return true
}

// release returns the memory of the tables to the budget.
func (s *store) release() {
	for _, level := range s.levels {
		for i := range level {
			s.budget.left += level[i].bytes()
		}
	}
}

// pack returns the word of a leaf: that of the last marking with what differs. large
// reports that a count does not fit.
func (s *store) pack(m []uint32, leaf int) (word uint64, large bool) {
	from, to := s.leaves[leaf], s.leaves[leaf+1]
	word = s.words[leaf]
	part, last := m[from:to], s.marking[from:to]
	for i, n := range part {
		if n == last[i] {
			continue
		}
		if p := from + i; uint64(n)>>s.bits[p] == 0 {
			word ^= uint64(n^last[i]) << s.shift[p]
		} else {
			return 0, true
		}
	}
	return word, false
}
