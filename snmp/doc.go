// SPDX-License-Identifier: Apache-2.0

// Package snmp is SNMPv2c and SNMPv3 over UDP for hosts without snmpd: a read-only
// [Responder] over the sorted table that AgentX serves too, and a [Sender] of
// notifications. It is independent of Petri nets.
//
//	responder, err := snmp.New(snmp.Config{Community: "public", Table: current, System: system, Log: log})
//	conn, err := net.ListenUDP("udp", addr)
//	err = responder.Serve(ctx, conn) // until ctx ends
//
//	sender, err := snmp.NewSender(snmp.SenderConfig{Sinks: []string{"noc.example:162"}, Community: "public", Inform: true})
//	go sender.Run(ctx)               // until ctx ends
//	sender.Deliver(snmp.Delivery{Variables: variables, Done: done}) // snmpTrapOID.0 and the objects
//
// The responder answers Get, GetNext and GetBulk (RFC 3416 section 4.2) over the
// table, with the system group (RFC 3418) merged in. Set answers notWritable.
// Other packets get no answer and are counted by reason: another version or
// community or network, other PDUs, malformed bytes, and more than
// Config.PacketRate packets or Config.OctetRate octets a second of one address. A
// response never exceeds Config.MaxMessage. An address is sent at most 5 octets
// for each octet that it sent until it has proven that it receives them.
//
// With Config.Users the responder answers SNMPv3: the User-based Security Model
// (RFC 3414) with HMAC-SHA-2 (RFC 7860) and AES (RFC 3826), for an [Engine].
//
// A walk reads one table: the table that answered the first GetNext or GetBulk
// of an address and port answers the following ones for Config.Hold. Get always
// reads the newest.
//
// The sender has a queue and a goroutine for each sink, so a dead sink does not
// delay the others. A sink receives notifications in order, one at a time. A
// notification may be lost: it is a hint, and the table of alarms is the truth.
//
// docs/design/snmp.md has the rules in full, and why the codec is not gosnmp's.
package snmp
