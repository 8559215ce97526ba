// SPDX-License-Identifier: Apache-2.0

package smi

import (
	"fmt"
	"slices"
)

// Rows is indices in ascending order, each of the same number of
// sub-identifiers, in one flat array. It is immutable: all columns of a table
// share it, and so do the layouts of all ticks in which the rows are the same.
// The nil Rows has no rows.
type Rows struct {
	subs  []uint32
	width int
}

// NewRows takes the sub-identifiers of the rows one after the other, width of
// them for each. It keeps subs, which must not be written to any more. It sorts
// nothing: a row that does not come after the one before it is refused with
// both, and so is half a row. The error is ErrLayout.
func NewRows(width int, subs []uint32) (*Rows, error) {
	if width < 1 || width > MaxSubIdentifiers || len(subs)%width != 0 {
		return nil, fmt.Errorf("%w: %d sub-identifiers for rows of %d", ErrLayout, len(subs), width)
	}
	r := &Rows{subs: subs, width: width}
	for i := 1; i < r.Len(); i++ {
		if slices.Compare(r.at(i-1), r.at(i)) >= 0 {
			return nil, fmt.Errorf("%w: row %v (at %d) does not come after row %v", ErrLayout, OID(r.at(i)), i, OID(r.at(i-1)))
		}
	}
	return r, nil
}

// Len is the number of rows.
func (r *Rows) Len() int {
	if r == nil {
		return 0
	}
	return len(r.subs) / r.width
}

// Equal tells whether r has these sub-identifiers: whether they need not be
// made into Rows again.
func (r *Rows) Equal(width int, subs []uint32) bool {
	return r != nil && r.width == width && slices.Equal(r.subs, subs)
}

func (r *Rows) at(i int) []uint32 { return r.subs[i*r.width : (i+1)*r.width] }

// search is the index of the first row that comes after tail, or is tail where
// include is set; Len when there is none. With scalar, each row stands for the
// name that has a 0 behind it. The comparison is written out: it is the
// innermost loop of a walk.
func (r *Rows) search(tail OID, scalar, include bool) int {
	equal := r.equalIsAfter(tail, scalar, include)
	key := tail[:min(len(tail), r.width)]
	lo, hi := 0, len(r.subs)/r.width
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		row := r.subs[mid*r.width:]
		row = row[:len(key)]
		i := 0
		for i < len(key) && row[i] == key[i] {
			i++
		}
		after := equal
		if i < len(key) {
			after = row[i] > key[i]
		}
		if after {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// equalIsAfter tells whether rows that agree with tail, as far as both go, are
// among those that search looks for.
func (r *Rows) equalIsAfter(tail OID, scalar, include bool) bool {
	switch rest := len(tail) - r.width; {
	case rest < 0:
		return true // tail is a prefix of them
	case rest == 0:
		return scalar || include
	case rest == 1 && scalar && tail[r.width] == 0:
		return include
	}
	return false // they are a prefix of tail, or their 0 comes before its number
}
