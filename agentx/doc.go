// SPDX-License-Identifier: Apache-2.0

// Package agentx is an AgentX subagent (RFC 2741): it connects to a master agent such as
// snmpd, registers subtrees, and answers the master's requests from a [smi.Table].
//
//	subagent, err := agentx.New(agentx.Config{
//		Addr:     "unix:/var/agentx/master",
//		Subtrees: []smi.OID{root},
//		Tables:   latest.Load, // a *smi.Table; a new one each tick
//		Logger:   logger,
//	})
//	err = subagent.Run(ctx) // until ctx is done
//
// [Subagent.Run] dials, opens a session, registers and serves. If the master goes away,
// Run starts over after 0.5 s to 1.5 s with jitter, and at once when a new unix socket
// appears. Everything is read-only: a set is answered with notWritable.
//
//	Subagent   Run: dial, backoff, open, register, ping; Notify; Stats
//	contexts   the tables of each context (snmpwalk -n orders)
//	session    one connection: a reader that answers, a writer with a bounded queue
//	handler    turns a request and a table into a response; no clock, no connection
//	walks      chooses the table that a request is answered from
//	shutdown   the orderly end of a session
//	pdu        the wire format
//
// Invariants: a transaction sees one table, and so does a walk whose next transaction
// starts, within 10 s, at a name that the previous one returned. A Get sees the newest
// table. No request is lost when a session ends orderly.
//
// The design document docs/design/agentx.md describes the choice of the table, which of
// several subagents answers, how a session ends, and what managers observe when snmpd or
// a subagent stops, hangs or returns.
//
// A faulty master cannot harm the process: frames, queues and held-back answers are
// bounded, each wait has a time-out, and each fault is counted by its [Fault].
package agentx
