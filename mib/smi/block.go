// SPDX-License-Identifier: Apache-2.0

package smi

import (
	"fmt"
	"math"
	"slices"
)

// Block is a run of names with a common prefix: each is the prefix with one of the rows
// behind it.
//
// A column of a table is a block whose prefix is the column's name and whose rows are the
// indices, shared with the other columns. With Scalar set, each name has a 0 behind its row:
// the scalars 1.3.1.0 and 1.3.2.0 are the rows 1 and 2 below 1.3.
type Block struct {
	Prefix OID
	Rows   *Rows
	Scalar bool
	// Mirror makes a block without values of its own. It shows row by row the values of
	// columns elsewhere: its i-th name has the value of the variable at
	// Mirror[i%len(Mirror)] + i/len(Mirror). These variables come before all blocks that
	// mirror.
	Mirror []int
}

// length returns the number of sub-identifiers of each name.
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

// appendName appends the name of a row to dst.
func (b *Block) appendName(dst []uint32, row int) []uint32 {
	dst = append(append(dst, b.Prefix...), b.Rows.at(row)...)
	if b.Scalar {
		dst = append(dst, 0)
	}
	return dst
}

// begins reports whether name is the name of a row or below it.
func (b *Block) begins(row int, name OID) bool {
	n, p := b.length(), len(b.Prefix)
	return len(name) >= n && slices.Equal(name[:p], b.Prefix) && slices.Equal(name[p:p+b.Rows.width], b.Rows.at(row)) &&
		(!b.Scalar || name[n-1] == 0)
}

// search returns the index of the first row whose name comes after name, or is name if
// include is set. All names must agree with it in the first skip sub-identifiers, and the
// last one must be a possible result.
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

// names are blocks in ascending order.
type names struct {
	blocks []placed
	starts []int // index of the first name of each, so that a search touches little memory
	lasts  arena // the last name of each
	common int   // leading sub-identifiers that all names share
	n      int
}

// placed is a block with at least one row.
type placed struct {
	Block
	first  int // index of its first name
	number int // of the block in the list passed to newNames
}

// newNames checks that each block comes after the one before it and, unless nested, that no
// name is below another. Within a block none is, because all names have one length.
func newNames(what string, blocks []Block, nested bool) (names, error) {
	s := names{blocks: make([]placed, 0, len(blocks)), starts: make([]int, 0, len(blocks))}
	var first, least OID
	for number, b := range blocks {
		if n := b.length(); n == 0 || n > MaxSubIdentifiers {
			return names{}, fmt.Errorf("%w: %s of %d sub-identifiers below %v; expected 1 to %d", ErrLayout, what, n, b.Prefix, MaxSubIdentifiers)
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
			return names{}, fmt.Errorf("%w: %s %v is below %s %v", ErrLayout, what, first, what, last)
		}
		s.blocks = append(s.blocks, placed{b, s.n, number})
		s.starts = append(s.starts, s.n)
		s.lasts.subs = b.appendName(s.lasts.subs, b.Rows.Len()-1)
		s.lasts.ends = append(s.lasts.ends, uint32(len(s.lasts.subs)))
		s.n += b.Rows.Len()
		if len(s.lasts.subs) > math.MaxUint32 {
			return names{}, fmt.Errorf("%w: %d blocks are too many", ErrLayout, len(blocks))
		}
	}
	if k := len(s.blocks); k > 0 {
		s.common = commonPrefix(least, s.lasts.at(k-1))
	}
	return s, nil
}

// search returns block and row of the first name after name, or of name itself if include is
// set and it exists. After the last name it returns the number of blocks.
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

// of returns the block of the i-th name.
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

// cover reports whether name is one of the names or below one. The names must not be nested.
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
