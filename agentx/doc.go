// SPDX-License-Identifier: Apache-2.0

// Package agentx is a subagent: it connects to a master agent such as snmpd,
// registers subtrees, and answers the master's requests from a sorted table
// (RFC 2741). It knows what a smi.Table is and nothing of where it comes from.
//
//	subagent, err := agentx.New(agentx.Config{
//		Addr:     "unix:/var/agentx/master",
//		Subtrees: []smi.OID{root},
//		Tables:   latest.Load, // a *smi.Table; a new one each tick
//		Logger:   logger,
//	})
//	err = subagent.Run(ctx) // until ctx is done
//
// Run dials, opens a session, registers and serves. When the master goes away
// it does all of that again, after 0.5 s and up to 15 s with jitter. Everything
// is read-only: a set is answered with notWritable.
//
//	Subagent   Run: dial, backoff, open, register, ping; Notify; Stats
//	session    one connection: a reader that answers, a writer with a bounded queue
//	handler    a request and a table to a response; no clock, no connection
//	walks      which table a request is answered from
//	pdu        the wire format
//
// # Which table a request sees
//
// A manager's walk is hundreds of SNMP requests, and AgentX tells a subagent
// nothing of managers: snmpd numbers a transaction for each SNMP request, so
// that a GETBULK is one transaction with one GetNext for each variable, and a
// walk by GETNEXT is a transaction for each variable. If every transaction saw
// the newest table, rows would come and go in the middle of a walk. Therefore:
//
//   - within a transaction there is one table;
//   - a transaction that starts at a name which an earlier one, in the last
//     10 s, gave as an answer, continues it, and sees the same table, up to
//     the age of a minute;
//   - a walk that begins while another is under way sees that one's table,
//     where it is at most 10 s old, or 30 s where the other has far to go;
//   - any other transaction sees a table that was the newest one at most
//     Config.Hold (2 s) ago.
//
// So a walk sees one table, and a Get, or a walk by itself, sees numbers that
// are at most Hold older than those of Tables. What cannot be done: when two
// walks with different tables come to the same name, nothing tells which of
// them asks next. They are taken in the order in which they came, which may
// be wrong where one overtakes the other. That is why walks at the same time
// share a table; only where walks follow on each other without a pause for
// more than 10 s does another table come in between, and then a walk in some
// hundreds may see two. At most 31 tables are held at once (a minute / 2 s and
// one), in practice one or two.
//
// # What a master may do to it
//
// Bytes that are no frame (another version, a length beyond 128 KiB) end the
// connection. A frame that cannot be understood is answered with parseError, a
// request for another session with notOpen, a request that came before not at
// all. A master that does not read loses answers beyond a queue of 64, and the
// connection after 10 s. A master that does not answer a Ping within 5 s is
// left. Each of these is counted by its Fault.
package agentx
