// SPDX-License-Identifier: Apache-2.0

// Package snmptest lets a test talk SNMP as a network management station
// does: with net-snmp's own tools, and with a snmpd of its own.
//
//	snmpd := snmptest.Start(t, snmptest.Config{})       // skips the test if snmptrapd is not installed
//	... connect a subagent to snmpd.AgentX ...
//	got := snmpd.Walk(t, smi.OID{1, 3, 6, 1, 4, 1, 8072, 9999, 9999})
//
// The daemon runs in the foreground with its own configuration, ports, socket
// and persistent directory, all below the test's temporary directory, and ends
// with the test. It needs no root. Community "public" may read, "private" may
// also write, both from 127.0.0.1 only.
//
// A Client alone queries any SNMP agent, such as a responder of pnagent:
//
//	got := snmptest.Client{Addr: "127.0.0.1:1161"}.Get(t, name)
//
// A Snmptrapd receives notifications:
//
//	sink := snmptest.StartTrapd(t)                     // skips the test if snmptrapd is not installed
//	... send to sink.Addr ...
//	first := sink.Wait(t, 1)[0]
//
// Parse reads what the tools print with numeric names. The tools are run with
// hexadecimal strings, because those are unambiguous.
package snmptest
