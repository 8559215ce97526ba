// SPDX-License-Identifier: Apache-2.0

package smi

import "fmt"

// Table is a Layout with one value for each name, immutable.
type Table struct {
	layout *Layout
	cells  []cells // of each block
}

// NewTable returns a table with one value for each name of l; it ignores those of blocks
// that mirror others. It panics if the number of values is wrong.
func NewTable(l *Layout, values []Value) *Table {
	if len(values) != l.Len() {
		panic(fmt.Sprintf("smi: %d values for a layout of %d names", len(values), l.Len()))
	}
	d := NewDraft(l)
	for i := range l.names.blocks {
		b := &l.names.blocks[i]
		if len(b.Mirror) > 0 {
			continue
		}
		for row := range b.Rows.Len() {
			d.Set(b.number, row, values[b.first+row])
		}
	}
	return d.Table()
}

// Layout returns the names of the table.
func (t *Table) Layout() *Layout { return t.layout }

// Len returns the number of variables.
func (t *Table) Len() int { return t.layout.Len() }

// At returns the i-th variable, 0 <= i < Len, with a name in new memory.
func (t *Table) At(i int) Variable {
	name, value := t.AppendAt(nil, i)
	return Variable{Name: name, Value: value}
}

// AppendAt is At with the name appended to subs, so that the names of many variables share
// memory that the caller can use again.
func (t *Table) AppendAt(subs []uint32, i int) ([]uint32, Value) {
	b := t.layout.names.of(i)
	return b.appendName(subs, i-b.first), t.value(b, i-b.first)
}

// Value returns the value of the i-th variable, 0 <= i < Len.
func (t *Table) Value(i int) Value {
	b := t.layout.names.of(i)
	return t.value(b, i-b.first)
}

// value returns the value of a row of a block, or the one that the block mirrors there.
func (t *Table) value(b *placed, row int) Value {
	if m := len(b.Mirror); m > 0 {
		i := b.Mirror[row%m] + row/m
		b = t.layout.names.of(i)
		row = i - b.first
	}
	return t.cells[b.number].read(row)
}

// Get returns the value of name, or the exception noSuchInstance or noSuchObject.
func (t *Table) Get(name OID) Value {
	block, row := t.layout.names.search(name, true)
	if block < len(t.layout.names.blocks) {
		if b := &t.layout.names.blocks[block]; len(name) == b.length() && b.begins(row, name) {
			return t.value(b, row)
		}
	}
	if t.layout.objects.cover(name) {
		return NoSuchInstance()
	}
	return NoSuchObject()
}

// Search returns the index of the first variable whose name comes after name, or is name if
// include is set; Len if there is none.
func (t *Table) Search(name OID, include bool) int { return t.layout.search(name, include) }

// Next returns the first variable after name, with a name in new memory; false if name is at
// or after the last one. Search with AppendAt does the same in the caller's memory.
func (t *Table) Next(name OID) (Variable, bool) {
	i := t.layout.search(name, false)
	if i == t.Len() {
		return Variable{}, false
	}
	return t.At(i), true
}
