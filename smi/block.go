// SPDX-License-Identifier: Apache-2.0

package smi

import (
	"fmt"
	"math"
	"slices"
)

// Block is names that follow each other and begin alike: each is the prefix
// with one of the rows behind it.
//
// A column of a table is a block whose prefix is the column's name and whose
// rows are the indices, shared with the other columns. With Scalar set, what
// prefix and row make is the name of a scalar, and its instance has a 0 behind
// that: the scalars 1.3.1.0 and 1.3.2.0 are the rows 1 and 2 below 1.3.
type Block struct {
	Prefix OID
	Rows   *Rows
	Scalar bool
	// Mirror makes a block that has no values of its own but shows, row by row,
	// what is laid out column by column elsewhere: its i-th name has the value of
	// the variable at Mirror[i%len(Mirror)] + i/len(Mirror). These variables come
	// before all blocks that mirror.
	Mirror []int
}

// length is how many sub-identifiers each name has.
func (b *Block) length() int {
	n := len(b.Prefix)
	if b.Rows != nil {
		n += b.Rows.width
	}
	if b.Scalar {
		n++
	}
	return n
}

// appendName puts the name of a row behind dst.
func (b *Block) appendName(dst []uint32, row int) []uint32 {
	dst = append(append(dst, b.Prefix...), b.Rows.at(row)...)
	if b.Scalar {
		dst = append(dst, 0)
	}
	return dst
}

// begins tells whether name is the name of a row or lies below it.
func (b *Block) begins(row int, name OID) bool {
	n, p := b.length(), len(b.Prefix)
	return len(name) >= n && slices.Equal(name[:p], b.Prefix) && slices.Equal(name[p:p+b.Rows.width], b.Rows.at(row)) &&
		(!b.Scalar || name[n-1] == 0)
}

// search is the index of the first row whose name comes after name, or is name
// where include is set. All names are known to agree with it in the first skip
// sub-identifiers, and the last of them to be one of those looked for.
func (b *Block) search(name OID, skip int, include bool) int {
	p := len(b.Prefix)
	if len(name) < p {
		return 0
	}
	for i := skip; i < p; i++ {
		if name[i] != b.Prefix[i] {
			return 0
		}
	}
	return b.Rows.search(name[p:], b.Scalar, include)
}

// names is blocks in ascending order.
type names struct {
	blocks []placed
	starts []int // index of the first name of each, for a search in little memory
	lasts  arena // the last name of each
	common int   // how many leading sub-identifiers all names share
	n      int
}

// placed is a block that is not empty.
type placed struct {
	Block
	first  int // index of its first name
	number int // of the block in the list that it comes from
}

// newNames checks that each block comes after the one before it and, where
// nested is not allowed, that no name lies below another. What is nested
// within a block there cannot be: its names are of one length.
func newNames(what string, blocks []Block, nested bool) (names, error) {
	s := names{blocks: make([]placed, 0, len(blocks)), starts: make([]int, 0, len(blocks))}
	var first, least OID
	for number, b := range blocks {
		if n := b.length(); n == 0 || n > MaxSubIdentifiers {
			return names{}, fmt.Errorf("%w: %s of %d sub-identifiers below %v, want 1 to %d", ErrLayout, what, n, b.Prefix, MaxSubIdentifiers)
		}
		if b.Rows.Len() == 0 {
			continue
		}
		first = b.appendName(first[:0], 0)
		if k := len(s.blocks); k == 0 {
			least = slices.Clone(first)
		} else if last := s.lasts.at(k - 1); first.Compare(last) <= 0 {
			return names{}, fmt.Errorf("%w: %s %v (in block %d) does not come after %v", ErrLayout, what, first, number, last)
		} else if !nested && first.HasPrefix(last) {
			return names{}, fmt.Errorf("%w: %s %v lies below %s %v", ErrLayout, what, first, what, last)
		}
		s.blocks = append(s.blocks, placed{b, s.n, number})
		s.starts = append(s.starts, s.n)
		s.lasts.subs = b.appendName(s.lasts.subs, b.Rows.Len()-1)
		s.lasts.ends = append(s.lasts.ends, uint32(len(s.lasts.subs)))
		if s.n += b.Rows.Len(); len(s.lasts.subs) > math.MaxUint32 {
			return names{}, fmt.Errorf("%w: %d blocks are too many", ErrLayout, len(blocks))
		}
	}
	if k := len(s.blocks); k > 0 {
		s.common = commonPrefix(least, s.lasts.at(k-1))
	}
	return s, nil
}

// search finds the first name after name, or name itself where include is set
// and it is there: its block and its row. At the end that is the block after
// the last.
func (s *names) search(name OID, include bool) (block, row int) {
	if len(s.blocks) == 0 {
		return 0, 0
	}
	k := s.common
	if c := name[:min(k, len(name))].Compare(s.lasts.at(0)[:k]); c < 0 {
		return 0, 0
	} else if c > 0 {
		return len(s.blocks), 0
	}
	block = s.lasts.search(name[k:], k, include)
	if block == len(s.blocks) {
		return block, 0
	}
	return block, s.blocks[block].search(name, k, include)
}

// of is the block of the i-th name.
func (s *names) of(i int) *placed {
	lo, hi := 0, len(s.starts)
	for hi-lo > 1 {
		if mid := int(uint(lo+hi) / 2); s.starts[mid] <= i {
			lo = mid
		} else {
			hi = mid
		}
	}
	return &s.blocks[lo]
}

// cover tells whether name is one of the names or lies below one, where none
// of them is nested.
func (s *names) cover(name OID) bool {
	block, row := s.search(name, false)
	switch {
	case row > 0:
		return s.blocks[block].begins(row-1, name)
	case block > 0:
		b := &s.blocks[block-1]
		return b.begins(b.Rows.Len()-1, name)
	}
	return false
}
