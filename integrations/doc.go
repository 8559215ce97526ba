// SPDX-License-Identifier: Apache-2.0

// Package integrations writes configurations of other monitoring tools, with which they read
// PETRINET-MIB over SNMP and receive its notifications.
//
//	Generate   one tool, or all of them, into a directory
//	Files      the same as bytes
//
// Objects, their OIDs, units, labels and texts come from [mib.Describe]; select.go has which of
// them each table of a tool shows. An object that the module does not have is left out. All OIDs
// are numeric, so tools need no modules, except LibreNMS and for readable notifications.
//
// zabbix.go, exporter.go, telegraf.go, nagios.go, icinga.go, collectd.go, librenms.go and
// cacti.go have one tool each, trapd.go has snmptrapd and snmptt. Tools that discover rows need
// no nets. Nagios and Icinga do not discover: they get a check for each place and transition of
// the given nets, by the numbers of the lock, with thresholds from the rules for alarms: see
// check.go.
//
// Names of nets and their elements are untrusted text. Each syntax has a function that quotes
// them (quote.go has that of YAML), and no command line has a name in it.
package integrations
