// SPDX-License-Identifier: Apache-2.0

package smi

// Run is a stretch of neighbouring variables of a Table whose names have the same beginning:
// the rows of a column. A walk makes what it needs of the beginning once for all of them. The
// zero Run is empty.
type Run struct {
	table *Table
	block *placed
	end   int // index of the first variable after it
}

// Run returns the stretch of the i-th variable, 0 <= i < Len.
func (t *Table) Run(i int) Run {
	b := t.layout.names.of(i)
	return Run{table: t, block: b, end: b.first + b.Rows.Len()}
}

// Has reports whether the i-th variable of the table is in the stretch.
func (r *Run) Has(i int) bool { return i < r.end && i >= r.block.first }

// Prefix returns the beginning of all names. The caller must not change it.
func (r *Run) Prefix() OID { return r.block.Prefix }

// Tail returns what comes after the prefix in the name of the i-th variable of the table: the
// sub-identifiers of the row, which the caller must not change, and, if scalar is set, a 0.
func (r *Run) Tail(i int) (row []uint32, scalar bool) {
	return r.block.Rows.at(i - r.block.first), r.block.Scalar
}

// AppendName appends the name of the i-th variable of the table to subs.
func (r *Run) AppendName(subs []uint32, i int) []uint32 {
	return r.block.appendName(subs, i-r.block.first)
}

// Value returns the value of the i-th variable of the table.
func (r *Run) Value(i int) Value { return r.table.value(r.block, i-r.block.first) }
