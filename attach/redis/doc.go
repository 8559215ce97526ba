// SPDX-License-Identifier: Apache-2.0

// Package redis is a telemetry source for job queues that keep their state in Redis or Valkey.
// It only reads. A [System] says how one library keeps its queues.
//
//	Redis ──► reader ──► found ──► ledger.Ledger ──► telemetry.Publisher, one for each queue
//	       by the System
//
// An [Adapter] polls until its context ends; package ledger has what it shares with other
// adapters.
//
// # The net
//
// A net is a queue, with one transition, job, and a place for each state that a job may be in:
// waiting, running, delayed, failed. What a system keeps for all queues together is the net
// all-queues.
//
// # A poll
//
// The numbers of tokens are the lengths of lists and sets. Of each, only the oldest jobs are
// read, so that a poll costs the same with ten jobs and with a million.
//
// The function of a system is pure. It asks [reads] for the answers to commands, and gets
// nothing for those that were not sent yet. After it has run, these are sent together, and
// it runs again, until it asks for nothing new. So a system is one function from top to
// bottom, and a poll takes two to four round trips for all queues together.
//
// # Time
//
// Ages are by the times that the library stored. A job without one counts from when it was
// first seen; the state file has that time.
package redis
