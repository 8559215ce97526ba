// SPDX-License-Identifier: Apache-2.0

// Package snmp holds end-to-end tests of SNMP: generated modules, users, net-snmp, and the
// managers and collectors that operators have.
package snmp
