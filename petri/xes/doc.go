// SPDX-License-Identifier: Apache-2.0

// Package xes reads event logs in XES (IEEE 1849-2016), plain or gzip: the traces of a log, and of
// their events the name, the time and the phase of the life cycle. [Reader.Next] returns one item
// after the other, so that a log of any length needs little memory.
//
// Invariant: reading is bounded in bytes and depth; times and names are as in the file.
package xes
