// SPDX-License-Identifier: Apache-2.0

// Package alarms holds end-to-end tests of alarms: raised, cleared by evidence, acknowledged,
// silenced, closed, and what Alertmanager and a manager of SNMP are sent.
package alarms
