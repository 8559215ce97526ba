// SPDX-License-Identifier: Apache-2.0

// Package smi holds the nouns that everything speaking SNMP shares: an
// object identifier, a typed value, a variable (a name with its value), and
// the sorted table in which GetNext is a binary search. SMI is the Structure
// of Management Information (RFC 2578).
//
// A table comes in two parts, because names almost never change and values
// change every tick:
//
//	Layout   the sorted names, and the object types (scalars and columns) they
//	         are instances of
//	Table    a Layout and one Value for each of its names
//
// Both are immutable once made and may be read by any number of goroutines.
//
// A Layout has no name in full. It is a list of blocks, each a prefix such as
// a column's name and the Rows that complete it, which all columns of a table
// share; a Table has its values block by block, numbers of one type at 8 bytes
// each. So a conceptual row of eight columns costs about 100 bytes rather than
// 800, and rows that come and go cost no more than themselves:
//
//	rows, err := smi.NewRows(2, []uint32{1, 1, 1, 2})   // indices 1.1 and 1.2
//	layout, err := smi.Compose([]smi.Block{
//		{Prefix: scalars, Rows: numbers, Scalar: true},
//		{Prefix: entry.Append(2), Rows: rows},
//		{Prefix: entry.Append(3), Rows: rows},
//	}, objects)
//	draft := smi.NewDraft(layout)     // a new tick over the same names
//	draft.Set(1, 0, smi.Gauge32(7))   // block 1, row 0; and so on for all
//	table := draft.Table()
//
// What is small or irregular is listed name by name: NewLayout, NewTable.
//
//	value := table.Get(name)            // what Get answers, exceptions included
//	next, ok := table.Next(name)        // what GetNext answers
//	i := table.Search(name, false)      // the same, in the caller's memory
//	name, value := table.AppendAt(name[:0], i)
//
// Objects are there for one purpose: a name that is not in the table is
// noSuchInstance where its object exists and noSuchObject where it does not
// (RFC 3416 section 4.2.1).
//
// The package knows no wire format and does no input or output.
package smi
