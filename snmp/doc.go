// SPDX-License-Identifier: Apache-2.0

// Package snmp answers SNMPv2c over UDP where no snmpd runs: a read-only
// responder over the same sorted table that AgentX serves. It knows nothing
// of nets.
//
//	responder, err := snmp.New(snmp.Config{Community: "public", Table: current, System: system, Log: log})
//	conn, err := net.ListenUDP("udp", addr)
//	err = responder.Serve(ctx, conn) // until ctx ends
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
// # Why a codec of its own
//
// A packet is decoded into memory that is used again, and an answer is encoded
// straight from the table, without an allocation; and its size is known while
// it is built, which GetBulk needs and gosnmp's codec does not tell. In the
// benchmarks of this package the same handler on gosnmp's codec takes about ten
// times as long a variable and makes 13 allocations for each. gosnmp and
// net-snmp are the independent peers in the tests.
package snmp
