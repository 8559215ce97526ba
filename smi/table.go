// SPDX-License-Identifier: Apache-2.0

package smi

import "fmt"

// Table is a Layout with one value for each name, immutable.
type Table struct {
	layout *Layout
	cells  []cells // of each block
}

// NewTable puts values beside the names of l, those of a block that mirrors
// others left out. It copies values. It panics when there is not one value for
// each name, which only a fault of the caller can bring about.
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

// Layout is the names of the table.
func (t *Table) Layout() *Layout { return t.layout }

// Len is the number of variables.
func (t *Table) Len() int { return t.layout.Len() }

// At is the i-th variable, 0 <= i < Len, with a name in memory of its own.
func (t *Table) At(i int) Variable {
	name, value := t.AppendAt(nil, i)
	return Variable{Name: name, Value: value}
}

// AppendAt is At with the sub-identifiers of the name put behind subs, which it
// returns: so the names of many variables are in one piece of memory that is
// used again.
func (t *Table) AppendAt(subs []uint32, i int) ([]uint32, Value) {
	b := t.layout.names.of(i)
	return b.appendName(subs, i-b.first), t.value(b, i-b.first)
}

// Value is that of the i-th variable, 0 <= i < Len.
func (t *Table) Value(i int) Value {
	b := t.layout.names.of(i)
	return t.value(b, i-b.first)
}

// value is that of a row of a block, or of what the block mirrors there.
func (t *Table) value(b *placed, row int) Value {
	if m := len(b.Mirror); m > 0 {
		i := b.Mirror[row%m] + row/m
		b = t.layout.names.of(i)
		row = i - b.first
	}
	return t.cells[b.number].at(row)
}

// Get is the value of name, or the exception noSuchInstance or noSuchObject.
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

// Search is the index of the first variable whose name comes after name, or
// is name where include is set; Len when there is none.
func (t *Table) Search(name OID, include bool) int { return t.layout.search(name, include) }

// Next is the first variable after name, with a name in memory of its own;
// false when name is at or after the last one. Search with AppendAt does the
// same in memory of the caller's.
func (t *Table) Next(name OID) (Variable, bool) {
	i := t.layout.search(name, false)
	if i == t.Len() {
		return Variable{}, false
	}
	return t.At(i), true
}
