// SPDX-License-Identifier: Apache-2.0

// Package sqldb is a telemetry source for workflow engines that keep their state
// in an SQL database. It reads the engine's tables and never writes, so the
// engine needs no change. A [Mapping] is the SQL for one engine.
//
//	database ──► poll ──► ledger.Ledger ──► telemetry.Publisher, one for each net
//	          by the Mapping
//
// An [Adapter] polls until its context ends; package ledger has what it shares with
// other adapters. A poll is one read-only transaction, which sees one state of the
// database, and has two halves:
//
//   - Presence. The query open returns every place where an instance is now, and
//     why returns what each of these waits for. The result replaces the tokens
//     as a whole, so nothing has to be repaired. Its cost follows the number of
//     open rows. If it takes longer than a tenth of the interval, it runs in
//     fewer polls.
//   - Flow. The queries started and ended return new rows of the history, in pages
//     by (time, id). They give arrivals, departures, dwell times and firings.
//     Transactions commit late and clocks differ, so each poll reads an overlap
//     again, and rows that were read before are skipped by their id. It has an interval
//     of its own in the same way, once it has read all that is new.
//
// # The net
//
// A net is a process definition's key; its versions are merged. The model is the
// BPMN that the database holds, or the tasks of a DAG. The rows of an engine name
// elements of that model; package attach/internal/diagram makes its net.
//
// # Time
//
// Ages are by the database's clock: each poll measures how far it differs from
// that of this host, by the middle of the request. Engines that store local
// times without a zone need [Config].Zone.
//
// # Restarts
//
// The state file holds the cursors and the ids in the overlap, and when tokens without a time were first
// seen.
//
// The tests run the engines of all mappings, most of them on PostgreSQL, and compare every
// token, age, reason and count with the engine's own API. One follows docs/attach/sql.md, and
// compares what SNMP, Prometheus and the page show.
package sqldb
