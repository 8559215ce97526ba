// SPDX-License-Identifier: Apache-2.0

// Package smi holds the nouns that everything speaking SNMP shares: an
// object identifier, a typed value, a variable (a name with its value), and
// the sorted table in which GetNext is a binary search. SMI is the Structure
// of Management Information (RFC 2578).
//
// A table comes in two parts, because names almost never change and values
// change every tick:
//
//	Layout   the sorted names, in one flat array of sub-identifiers, and the
//	         object types (scalars and columns) they are instances of
//	Table    a Layout and one Value for each of its names
//
// Both are immutable once made and may be read by any number of goroutines.
// A new tick makes a new Table over the same Layout, at 32 bytes a row.
//
//	layout, err := smi.NewLayout(names, objects)
//	table := smi.NewTable(layout, values)
//	next, ok := table.Next(name)   // what GetNext answers
//	value := table.Get(name)       // what Get answers, exceptions included
//
// Where rows come and go in the middle of a large table, Join puts the layouts
// of what stays and what changes behind each other without copying a name.
//
// Objects are there for one purpose: a name that is not in the table is
// noSuchInstance where its object exists and noSuchObject where it does not
// (RFC 3416 section 4.2.1).
//
// The package knows no wire format and does no input or output.
package smi
