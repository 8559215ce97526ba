// SPDX-License-Identifier: Apache-2.0

package smi

import (
	"fmt"
	"slices"
)

// Rows are indices in ascending order, each of the same number of
// sub-identifiers, in one flat array. Rows are immutable: all columns of a table
// share them, and so do the layouts of all ticks with the same rows. Nil has no rows.
type Rows struct {
	subs  []uint32
	width int
}

// NewRows returns rows with width sub-identifiers each, from subs, which it keeps and the
// caller must not change. It does not sort: an error that wraps ErrLayout reports rows out
// of order, or an incomplete row.
func NewRows(width int, subs []uint32) (*Rows, error) {
	if width < 1 || width > MaxSubIdentifiers || len(subs)%width != 0 {
		return nil, fmt.Errorf("%w: %d sub-identifiers for rows of %d; expected a multiple, and rows of 1 to %d", ErrLayout, len(subs), width, MaxSubIdentifiers)
	}
	r := &Rows{subs: subs, width: width}
	for i := 1; i < r.Len(); i++ {
		if slices.Compare(r.at(i-1), r.at(i)) >= 0 {
			return nil, fmt.Errorf("%w: row %v (at %d) does not come after row %v", ErrLayout, OID(r.at(i)), i, OID(r.at(i-1)))
		}
	}
	return r, nil
}

// Len returns the number of rows.
func (r *Rows) Len() int {
	if r == nil {
		return 0
	}
	return len(r.subs) / r.width
}

// Equal reports whether r has these sub-identifiers, and can be used again.
func (r *Rows) Equal(width int, subs []uint32) bool {
	return r != nil && r.width == width && slices.Equal(r.subs, subs)
}

func (r *Rows) at(i int) []uint32 { return r.subs[i*r.width : (i+1)*r.width] }

// search returns the index of the first row after tail, or equal to tail if include is
// set; Len if there is none. With scalar, each row stands for a name with a 0 behind it.
// The comparison is inlined: it is the innermost loop of a walk.
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

// equalIsAfter reports whether search may return a row that agrees with tail in their
// common length.
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
