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
// it does all of that again, after 0.5 s to 1.5 s with jitter, and at once where
// a new unix socket appears, so that a master that returns is served within 2 s.
// Everything is read-only: a set is answered with notWritable. As it ends it
// takes back what it registered and its capabilities, at a moment when nothing
// is under way, and closes the session.
//
//	Subagent   Run: dial, backoff, open, register, ping; Notify; Stats
//	contexts   the tables of every context (snmpwalk -n orders)
//	session    one connection: a reader that answers, a writer with a bounded queue
//	handler    a request and a table to a response; no clock, no connection
//	walks      which table a request is answered from
//	farewell   the moment to take a session back in
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
//   - any other that walks sees a table that was the newest one at most
//     Config.Hold (2 s) ago;
//   - a Get sees the newest one, and walks that begin after it no older one.
//
// So a walk sees one table, with numbers that are at most Hold older than those
// of Tables when it begins, and a Get those of Tables. What cannot be done: when two
// walks with different tables come to the same name, nothing tells which of
// them asks next. They are taken in the order in which they came, which may
// be wrong where one overtakes the other. That is why walks at the same time
// share a table; only where walks follow on each other without a pause for
// more than 10 s does another table come in between, and then a walk in some
// hundreds may see two. At most 31 tables are held at once (a minute / 2 s and
// one), in practice one or two.
//
// # Contexts
//
// Config.Contexts, and SetContexts for those that come and go, name further
// tables: every subtree is registered in every context, and a request in one is
// answered from its table, of which a walk sees one as above. A request in a
// context that is not served is answered with unsupportedContext; snmpd lets
// none come so far, and does not answer in a context that nobody registered.
//
// # Who answers
//
// Of subagents that registered the same subtree, the one with the lowest
// priority number is asked. A master tells none of them which: Register is
// answered with noError to each of them (duplicateRegistration only where the
// priority is the same too), and nothing is said when one of them comes or
// goes. What can be known is that a stand-by is not asked. Stats.Since is the
// first request of the session, so the moment of a take-over, Stats.Asked the
// last one, and Stats.Answering tells whether that was in the last 10 min.
// A scalar with the name of its sidecar says who answers by itself, for it is
// who answers that gives it.
//
// Counters of two sidecars are not one counter. A discontinuity time that is
// no less than Since differs from that of the sidecar that was asked before.
// Since is not set anew where a stand-by has been asked before in its session:
// that the other one answered in between cannot be told from polls that pause.
// But then the samples of a poller that saw both have different times still.
//
// # What a walk sees
//
// By the tests, through snmpd 5.9.3 with agentXTimeout 1 and agentXRetries 1;
// t is the time from when snmpd, or the sidecar, is there again.
//
//	what happens                     a walk under way                     served again
//	snmpd ends by TERM or KILL and   no answer meanwhile; then the        unix socket: t < 0.3 s
//	is started anew                  beginning of one View and the rest   TCP: t < 1.5 s
//	                                 of a later one; it ends early where
//	                                 snmpd answers before it is served
//	snmpd hangs for less than 15 s   no answer meanwhile; then goes on    at once, same session
//	snmpd hangs for longer           as if it were started anew           t < 1.5 s
//	sidecar ends, no stand-by        ends early, as if that were all      after its start
//	sidecar ends, stand-by           goes on with the stand-by's View     at the next request
//	sidecar is killed, stand-by      the same, but genErr for what is     at the next request
//	                                 asked in that moment
//	sidecar hangs                    genErr after 2 s; snmpd ends the     stand-by: at the next request
//	                                 session                              t < 1 s: asked again
//	primary returns                  goes on with the primary's View      at the next request
//
// A walk that begins afterwards sees one View, whole. As a sidecar ended, none of
// 2,400 walks by GETNEXT ended early or with an error, none of 2,600 by GETBULK
// of ten, of 1,000 over TCP, or of 1,500 of which three were under way at a time,
// on a machine that had ten times more to do than processors.
//
// # How a session is taken back
//
// AgentX has no word for: ask me no more. A master asks until it has read the
// Unregister, and of snmpd a request that is under way then is not safe: it
// frees the registration, and looks into it again as the answer comes. It may
// find an end of the range that is none, so that the walk ends early; a handler
// that is none, so that there is a genErr; or lose the request. A Close ends
// every request under way with genErr.
//
// So a Subagent that ends goes on answering, but holds back each answer that a
// manager waits for: that to a Get, and one that makes a transaction as long as
// the one before it in its walk, for a GETBULK of ten is ten requests. When
// nothing was asked for 20 ms, no walk of the last 0.9 s is missing, and two Pings
// show that nothing is on its way, the answers go out with every Unregister
// behind them in one write. snmpd sends its managers their answers when it has
// dealt with what it read in one go, of at most 64 KiB; so Pings of that size
// stand between, and the Unregister is read in the next go, in which snmpd reads
// from subagents before it reads from managers. All of it is over after half a
// second, also where requests do not cease.
//
// What is left: a manager that asks anew just between the two goes, some 0.1 ms,
// in which snmpd cannot be told anything; and where managers never pause for
// 20 ms, or a GETBULK is shorter than the one before it, any request of theirs.
// It is answered all the same, which mostly is in time.
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
