// SPDX-License-Identifier: Apache-2.0

// Package smi has the types that all SNMP code shares: an object identifier, a typed
// value, a variable (a name with its value), and the sorted table in which GetNext is a
// binary search. SMI is the Structure of Management Information (RFC 2578).
//
// A table comes in two parts, because names almost never change and values
// change every tick:
//
//	Layout   the sorted names, and the object types (scalars and columns) they
//	         are instances of
//	Table    a Layout and one Value for each of its names
//
// Both are immutable and safe for concurrent use.
//
// A Layout does not store whole names. It is a list of blocks, each a prefix such as a
// column's name and the Rows that complete it, which all columns of a table share. A Table
// has its values block by block, numbers of one type at 8 bytes each. So a conceptual row
// of eight columns takes about 100 bytes instead of 800, and a change of rows costs only
// these rows:
//
//	rows, err := smi.NewRows(2, []uint32{1, 1, 1, 2})   // indices 1.1 and 1.2
//	layout, err := smi.Compose([]smi.Block{
//		{Prefix: scalars, Rows: numbers, Scalar: true},
//		{Prefix: entry.Append(2), Rows: rows},
//		{Prefix: entry.Append(3), Rows: rows},
//	}, objects)
//	draft := smi.NewDraft(layout)     // a new tick over the same names
//	draft.Set(1, 0, smi.Gauge32(7))   // block 1, row 0; and so on for all
//	draft.SetLater(2, once, fill)     // block 2 when it is first read
//	table := draft.Table()
//
// NewLayout and NewTable list the names of a small or irregular table one by one.
//
//	value := table.Get(name)            // the answer to a Get, exceptions included
//	next, ok := table.Next(name)        // the answer to a GetNext
//	i := table.Search(name, false)      // the same, in the caller's memory
//	name, value := table.AppendAt(name[:0], i)
//
// The objects decide about a name that is not in the table: it is noSuchInstance if its
// object exists, and noSuchObject otherwise (RFC 3416 section 4.2.1).
//
// The package knows no wire format and does no input or output.
package smi
