// SPDX-License-Identifier: Apache-2.0

package smi

import (
	"fmt"
	"slices"
)

// Draft is a Table that is not complete yet. Its values may be set in any order.
type Draft struct {
	table *Table
}

// NewDraft returns a draft with the names of l.
func NewDraft(l *Layout) *Draft {
	t := &Table{layout: l, cells: make([]cells, l.count)}
	for i := range l.names.blocks {
		if b := &l.names.blocks[i]; len(b.Mirror) == 0 {
			t.cells[b.number].n = b.Rows.Len()
		}
	}
	return &Draft{t}
}

// Set sets the value of a row of a block, by its number in the list passed to Compose. The
// caller must call it once for each row of every block that has values of its own.
func (d *Draft) Set(block, row int, v Value) { d.table.cells[block].put(row, v) }

// Once calls a function once, whichever goroutine comes first, and returns after it did: a
// *sync.Once.
type Once interface{ Do(f func()) }

// SetLater sets all values of a block when one of them is first read. fill is then called by
// once, and calls set once for each row. What it reads must not change any more.
func (d *Draft) SetLater(block int, once Once, fill func(set func(row int, v Value))) {
	d.table.cells[block].later = &later{once: once, fill: fill}
}

// Table returns the complete table; the Draft must not be used after it. It panics if values
// are missing.
func (d *Draft) Table() *Table {
	for i := range d.table.cells {
		if c := &d.table.cells[i]; c.filled != c.n && c.later == nil {
			panic(fmt.Sprintf("smi: %d values for the %d rows of block %d", c.filled, c.n, i))
		}
	}
	return d.table
}

// cells are the values of a block, field by field. A field that no value needs is nil:
// numbers of one type take 8 bytes each, without pointers for the garbage collector.
type cells struct {
	nums   []uint64
	strs   []string
	types  []Type // nil if all are of one type
	n      int
	filled int
	typ    Type // of all values, if types is nil
	later  *later
}

// later is what fills cells when they are first read; nil for cells that are filled before.
type later struct {
	once Once
	fill func(set func(row int, v Value))
}

// read returns the values of the row, which it makes if it was not read before.
func (c *cells) read(row int) Value {
	if c.later != nil {
		c.later.once.Do(func() {
			c.later.fill(c.put)
			c.later.fill = nil // and what it keeps alive
		})
	}
	return c.at(row)
}

func (c *cells) put(row int, v Value) {
	if v.Type != c.typ || c.types != nil {
		c.putType(row, v.Type)
	}
	if v.Num != 0 {
		if c.nums == nil {
			c.nums = make([]uint64, c.n)
		}
		c.nums[row] = v.Num
	}
	if v.Str != "" {
		if c.strs == nil {
			c.strs = make([]string, c.n)
		}
		c.strs[row] = v.Str
	}
	c.filled++
}

// putType sets the type of a value that differs from those so far.
func (c *cells) putType(row int, typ Type) {
	if c.filled == 0 {
		c.typ = typ
		return
	}
	if c.types == nil {
		c.types = slices.Repeat([]Type{c.typ}, c.n)
	}
	c.types[row] = typ
}

func (c *cells) at(row int) Value {
	v := Value{Type: c.typ}
	if c.types != nil {
		v.Type = c.types[row]
	}
	if c.nums != nil {
		v.Num = c.nums[row]
	}
	if c.strs != nil {
		v.Str = c.strs[row]
	}
	return v
}
