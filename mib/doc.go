// SPDX-License-Identifier: Apache-2.0

// Package mib shows a View to SNMP: it gives names numbers that never change,
// writes the SMIv2 modules that explain them (RFC 2578 to 2580), and lays the
// View out as one sorted table of variables.
//
// Below a root of the site's choice there are two kinds of module, and a
// small one beside them:
//
//	root.1    PETRINET-MIB, for every net there will ever be: tables indexed by
//	          small integers, with columns for names
//	root.2.N  the module of net number N, in which every place and transition is
//	          an object of its own name: awaitingPaymentOldestAge.0
//	root.3    PETRINET-CAPS-MIB, which says that all of PETRINET-MIB is served
//
// Both kinds show the same numbers. What is in them is described once, in the
// column lists of objects.go, objects_rows.go and alarms.go: the texts of the
// modules and the table of values are made from the same entries, so they
// cannot disagree.
//
// A [Lock] holds net to number, place to number, transition to number, and the
// descriptor chosen for each. It only grows, and lives in a text file that
// merges line by line (see [ParseLock]). What leaves a net stays in its module
// as obsolete.
//
//	Generate       nets and lock to module files: the command "pnagent mib"
//	NewBuilder     the lock, for serving
//	Builder.Build  a View to an *smi.Table, once a tick
//
// Build does all the work, so that a request only searches: it makes ages as
// of now, percentiles from histograms, and rates that are damped over 1, 5 and
// 15 minutes from the Views that it has seen. Names are laid out again only
// when the set of rows changes. Columns that no source of a net fills in have
// no instances: absent is not zero.
//
// Which alarms are active is for package alarm to say. Build shows them in
// alarmTable, and [Builder.Notification] makes the variables of the
// notifications that tell of them: both from the same columns.
package mib
