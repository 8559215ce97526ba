// SPDX-License-Identifier: Apache-2.0

// Package camunda8 is a telemetry source for Camunda 8. It asks the Orchestration
// Cluster REST API (version 8.8 or later), and never changes anything.
//
//	REST API ──► poll ──► diagram.Process ──► ledger.Source ──► telemetry
//	                      one for each process id
//
// A poll has two halves, as in package attach/sqldb:
//
//   - Presence. All element instances that are active, and the incidents, jobs, user
//     tasks, message subscriptions, called processes and wait states that are open. The
//     result replaces the tokens as a whole. If it takes longer than a tenth of the
//     interval, it runs in fewer polls.
//   - Flow. Element instances that started or ended since a cursor less an overlap;
//     those that were read before are skipped by their key.
//
// A net is a process id; its versions are merged. Package attach/internal/diagram
// makes it of the BPMN that the API returns.
//
// Times are those of the broker's records. The gateway's clock is known by the Date
// of its answers, to less than a second; see ledger.Clock.
//
// The tests run a real Zeebe engine, and serve its records by an emulation of the
// API in Go, which rejects fields that the published specification does not have.
// The gateway itself was not run.
package camunda8
