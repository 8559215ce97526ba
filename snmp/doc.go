// SPDX-License-Identifier: Apache-2.0

// Package snmp speaks SNMPv2c over UDP where no snmpd runs: a read-only
// responder over the same sorted table that AgentX serves, and a sender of
// notifications. It knows nothing of nets.
//
//	responder, err := snmp.New(snmp.Config{Community: "public", Table: current, System: system, Log: log})
//	conn, err := net.ListenUDP("udp", addr)
//	err = responder.Serve(ctx, conn) // until ctx ends
//
//	sender, err := snmp.NewSender(snmp.SenderConfig{Sinks: []string{"noc.example:162"}, Community: "public", Inform: true})
//	go sender.Run(ctx)               // until ctx ends
//	err = sender.Notify(ctx, []smi.Variable{ /* snmpTrapOID.0 and the objects */ })
//
// # What is answered
//
// Get, GetNext and GetBulk (RFC 3416 section 4.2) over the table, with the
// system group (RFC 3418) merged in where its names belong. Everything else
// is outside: noSuchObject, noSuchInstance or endOfMibView. Set answers
// notWritable. A response never grows beyond Config.MaxMessage: GetBulk gives
// fewer variables, Get and GetNext answer tooBig. A GetBulk of which not even
// the first variable fits is tooBig as well; RFC 3416 would allow an empty
// list of variables, which a manager takes for the end of the table.
//
// Silence, and one more in a counter, is what everything else gets: another
// version of SNMP, another community, a notification, a response, bytes that
// are no message. Who may read is the community and the address that the
// socket is bound to; users and access control are snmpd's, over AgentX.
// Bind to one address: answers leave by the route to the requester, which on
// a host with several addresses need not be the address that was asked.
//
// One address may have Config.PacketRate packets a second answered; the rest
// gets silence, too. Only what carries the community counts, so that nobody
// without it can use up a manager's share, and nobody with it can have more
// than that sent to an address that it forges. Of an IPv6 address the first 64
// bits count. Of 4,096 addresses the use is remembered; the one that asked
// least recently is forgotten first.
//
// # Coherence
//
// One packet sees one table. A walk takes many packets, so the table that
// answered a requester's first GetNext or GetBulk answers those that follow
// from the same address and port, for Config.Hold (a few seconds). A walk that
// takes longer sees a newer table from there on: each name once, in order,
// since a walk carries its own position. Get always sees the newest. At most
// 1,024 requesters are remembered; the one that began first is forgotten
// first, and only the coherence of its walk suffers.
//
// # Notifications
//
// Every sink has a queue and a goroutine of its own: one that is dead costs the
// others nothing. A sink gets notifications in their order, one at a time: a
// trap is sent and forgotten; an inform is sent, with the same request id, until
// its response comes, up to 1 + SenderConfig.Retries times, each given
// SenderConfig.Timeout. A response that is late, repeated, of another request
// or community, or nonsense is counted and not believed. A sink that does not
// answer holds up its own queue for that long with every inform; 1,000 may wait.
//
// What a sink does not get is counted by its reason (SinkStats.Lost), the
// caller of Notify is told of a full queue, and the log hears when a sink stops
// working and when it works again. A trap that was sent may still be lost on
// the way, and an inform whose response was lost arrives twice: a notification
// is a hint, the table of alarms is the truth. Queues are in memory and do not
// outlive Run.
//
// # Why a codec of its own
//
// A packet is decoded into memory that is used again, and an answer is encoded
// straight from the table, without an allocation; and its size is known while
// it is built, which GetBulk needs and gosnmp's codec does not tell. In the
// benchmarks of this package the same handler on gosnmp's codec takes about ten
// times as long a variable and makes 13 allocations for each. gosnmp and
// net-snmp are the independent peers in the tests.
package snmp
