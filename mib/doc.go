// SPDX-License-Identifier: Apache-2.0

// Package mib serves a View over SNMP: it gives names numbers that never change, writes
// the SMIv2 modules that describe them (RFC 2578 to 2580), and lays the View out as one
// sorted table of variables.
//
// Below a root of the site's choice there are two kinds of module, and a
// small one beside them:
//
//	root.1    PETRINET-MIB, for every net there will ever be: tables indexed by
//	          small integers, with columns for names
//	root.2.N  the module of net number N, in which every place and transition is
//	          an object of its own name: bwQueuedOldestAge.0
//	root.3    PETRINET-CAPS-MIB, which states that all of PETRINET-MIB is served
//
// Both kinds have the same numbers. The column lists of objects.go, objects_rows.go and
// alarms.go describe each object once: the texts of the modules and the table of values are
// made from the same entries, so they cannot disagree.
//
// A [Lock] maps each net, place and transition to its number and descriptor, and each net to
// the prefix with which all names of its module begin. It only grows, and is kept in a text
// file that merges line by line (see [ParseLock]). Names of a lock without prefixes are renamed
// once, by Generate. A place or
// transition that leaves its net stays in the module as obsolete.
//
//	Generate       nets and lock to module files: the command "pnagent mib"
//	NewBuilder     the lock, for serving
//	Builder.Build  a View to an *smi.Table, once a tick
//
// Build lays names out again only when the set of rows changes. The values of a column, such as ages
// as of Build and percentiles of histograms, are made when the first of them is read: between two
// Builds most columns are not. So a table keeps its View in memory. A column that no source of a net reports has no instances: absent is not zero.
//
// Package alarm decides which alarms are active. Build shows them in pnAlarmTable, and
// [Builder.Notification] returns the variables of their notifications, from the same columns.
package mib
