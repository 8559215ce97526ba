// SPDX-License-Identifier: Apache-2.0

package smi

import (
	"errors"
	"fmt"
)

// ErrLayout is wrapped by every error of NewRows, Compose and NewLayout.
var ErrLayout = errors.New("bad table layout")

// Layout is the sorted names of a table and the object types they are
// instances of. It is immutable and shared by the tables of many ticks. The
// zero Layout is empty.
type Layout struct {
	names   names
	objects names
	count   int // blocks it was composed of
}

// Compose puts blocks of names behind each other: every name of a block comes
// after all names of those before it. A block may be empty. The objects are the
// object types, in blocks too: a scalar without its 0, a column without its
// index, none below another. A name need not lie below one of the objects.
//
// It sorts nothing and copies no rows: what is out of order is refused with the
// two names, because it shows a fault in whoever made the list, and blocks that
// come and go cost only themselves. It keeps both lists, which must not be
// written to any more. The error is ErrLayout.
func Compose(blocks, objects []Block) (*Layout, error) {
	n, err := newNames("name", blocks, true)
	if err != nil {
		return nil, err
	}
	o, err := newNames("object", objects, false)
	if err != nil {
		return nil, err
	}
	if err := checkMirrors(&n); err != nil {
		return nil, err
	}
	return &Layout{names: n, objects: o, count: len(blocks)}, nil
}

// checkMirrors refuses a block that mirrors what is not there or mirrors
// itself.
func checkMirrors(n *names) error {
	own := -1 // variables before the first block that mirrors
	for i := range n.blocks {
		b := &n.blocks[i]
		m := len(b.Mirror)
		if m == 0 {
			continue
		}
		if own < 0 {
			own = b.first
		}
		rows := b.Rows.Len()
		for _, base := range b.Mirror {
			if base < 0 || base > own-rows/m || rows%m != 0 {
				return fmt.Errorf("%w: %d names below %v mirror %d stretches, one from variable %d on; there are %d before them",
					ErrLayout, rows, b.Prefix, m, base, own)
			}
		}
	}
	return nil
}

// NewLayout is Compose for names that are listed one by one, and for objects
// likewise: both in ascending order, without duplicates. Both lists are copied.
// It is for small tables, or such as have no regular form.
func NewLayout(names, objects []OID) (*Layout, error) {
	n, err := blocksOf("name", names)
	if err != nil {
		return nil, err
	}
	o, err := blocksOf("object", objects)
	if err != nil {
		return nil, err
	}
	return Compose(n, o)
}

// blocksOf makes a block of neighbours that differ in their last
// sub-identifier only.
func blocksOf(what string, list []OID) ([]Block, error) {
	var blocks []Block
	for i := 0; i < len(list); {
		start := i
		parent := list[start]
		if len(parent) == 0 || len(parent) > MaxSubIdentifiers {
			return nil, fmt.Errorf("%w: %s %d has %d sub-identifiers, want 1 to %d",
				ErrLayout, what, start, len(parent), MaxSubIdentifiers)
		}
		parent = parent[:len(parent)-1].Append()
		var last []uint32
		for ; i < len(list) && len(list[i]) == len(parent)+1 && list[i].HasPrefix(parent); i++ {
			if i > 0 && list[i].Compare(list[i-1]) <= 0 {
				return nil, fmt.Errorf("%w: %s %v (at %d) does not come after %v", ErrLayout, what, list[i], i, list[i-1])
			}
			last = append(last, list[i][len(parent)])
		}
		rows, err := NewRows(1, last)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, Block{Prefix: parent, Rows: rows})
	}
	return blocks, nil
}

// Len is the number of names.
func (l *Layout) Len() int { return l.names.n }

// Name is the i-th name, 0 <= i < Len, in memory of its own.
func (l *Layout) Name(i int) OID {
	b := l.names.of(i)
	return b.appendName(make(OID, 0, b.length()), i-b.first)
}

// search is the index of the first name after name, or of name itself where
// include is set and it is there; Len when there is none.
func (l *Layout) search(name OID, include bool) int {
	block, row := l.names.search(name, include)
	if block == len(l.names.blocks) {
		return l.names.n
	}
	return l.names.starts[block] + row
}
