// SPDX-License-Identifier: Apache-2.0

// Package e2e holds the end-to-end tests, a folder a face: they run the pnagent binary as
// users do, beside the programs that users run it with, and look at what comes out.
//
//	kit         the programs, processes, sidecars and faces that all tests use
//	alarms      raised, cleared by evidence, acknowledged, closed
//	attach      engines that are not pnagent's
//	commands    the command line, and the commands of the documents
//	engine      work, requests, and what operators do to instances
//	hostile     peers that mean harm, floods, permissions
//	logs        journals, regions on JetStream, kill -9, lost power
//	page        the live page in a browser
//	prometheus  metrics over time
//	sidecar     sums, restarts, pairs, trees
//	snmp        modules, users, managers
//	fleetsim    fleets of thousands of engines in one process
//	suites      the files and tests of other projects
//
// Every file is one promise to users, and its tests are named after it.
//
// NATS' server is built from the module in go.mod, so what needs only that
// never skips. snmpd, net-snmp's tools, smilint, prometheus and promtool are
// Debian's; a test that needs one skips, with its name, where it is absent. Tests of
// larger peers have the build tag peers; snmp_exporter and Telegraf are built from the
// module proxy, once for each user.
// Everything listens at free ports of 127.0.0.1 and writes below temporary
// directories. Nothing sleeps for a while in the hope that it is enough: tests
// wait for a condition, until patience ends.
//
// Where the tests themselves run with the race detector, so does the binary,
// unless the command has one goroutine.
package e2e
