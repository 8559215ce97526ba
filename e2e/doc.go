// SPDX-License-Identifier: Apache-2.0

// Package e2e holds the end-to-end tests: they run the pnagent binary as users
// do, beside the programs that users run it with, and look at what comes out.
// There is nothing here but tests.
//
//	main_test.go     builds pnagent and nats-server, once
//	process_test.go  a program that runs: its output, its signals, its exit
//	sidecar_test.go  "serve" with a NATS server, and engines that publish to it
//	faces_test.go    the same numbers as each face shows them, to be compared
//
// Every other file is one promise to users, and its tests are named after it.
//
// NATS' server is built from the module in go.mod, so what needs only that
// never skips. snmpd, net-snmp's tools, smilint, prometheus, promtool and Zabbix are
// Debian's; a test that needs one skips, with its name, where it is absent.
// snmp_exporter and Telegraf are built from the module proxy, once for each user.
// Everything listens at free ports of 127.0.0.1 and writes below temporary
// directories. Nothing sleeps for a while in the hope that it is enough: tests
// wait for a condition, until patience ends.
//
// Where the tests themselves run with the race detector, so does the binary,
// unless the command has one goroutine.
package e2e
