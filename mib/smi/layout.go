// SPDX-License-Identifier: Apache-2.0

package smi

import (
	"errors"
	"fmt"
)

// ErrLayout is wrapped by every error of NewRows, Compose and NewLayout.
var ErrLayout = errors.New("invalid table layout")

// Layout has the sorted names of a table and their object types. It is immutable and shared
// by the tables of many ticks. The zero Layout is empty.
type Layout struct {
	names   names
	objects names
	count   int // of blocks passed to Compose
}

// Compose returns a Layout of blocks of names: every name of a block comes after all names
// of earlier blocks. A block may be empty. The objects are the object types, in blocks too: a
// scalar without its 0, a column without its index, none below another. A name need not be
// below one of the objects.
//
// It does not sort or copy rows, so a change costs only the changed blocks. It keeps both
// lists, which the caller must not change. The error wraps ErrLayout and names two names out
// of order.
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

// checkMirrors checks that each block mirrors variables before all blocks that mirror.
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

// NewLayout is Compose for lists of names and objects, both in ascending order and without
// duplicates. It copies both. It is for small or irregular tables.
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

// blocksOf returns a block for each run of names that differ only in their last sub-identifier.
func blocksOf(what string, list []OID) ([]Block, error) {
	var blocks []Block
	for i := 0; i < len(list); {
		start := i
		parent := list[start]
		if len(parent) == 0 || len(parent) > MaxSubIdentifiers {
			return nil, fmt.Errorf("%w: %s %d has %d sub-identifiers; expected 1 to %d",
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

// Len returns the number of names.
func (l *Layout) Len() int { return l.names.n }

// Name returns the i-th name, 0 <= i < Len, in new memory.
func (l *Layout) Name(i int) OID {
	b := l.names.of(i)
	return b.appendName(make(OID, 0, b.length()), i-b.first)
}

// search returns the index of the first name after name, or of name itself if include is set
// and it exists; Len if there is none.
func (l *Layout) search(name OID, include bool) int {
	block, row := l.names.search(name, include)
	if block == len(l.names.blocks) {
		return l.names.n
	}
	return l.names.starts[block] + row
}
