// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/mib/smi"
)

// dotted returns a regular expression for an identifier with a dot before it. It has no
// backslash, which Zabbix reads differently in keys, functions and macros.
func dotted(oid smi.OID) string {
	return "[.]" + strings.ReplaceAll(oid.String(), ".", "[.]")
}

// trapKey returns the key of the item that takes all notifications of PETRINET-MIB.
func (s *site) trapKey() string {
	return `snmptrap["` + dotted(s.described.Notifications[0].OID[:len(s.described.Notifications[0].OID)-1]) + `[.][0-9]+"]`
}

// kinds returns a regular expression for the notifications that raise alarms, or clear them:
// the value of snmpTrapOID, on a line of its own.
func (s *site) kinds(clears bool) string {
	var subs []string
	var parent smi.OID
	for _, n := range s.described.Notifications {
		if n.Kind != 0 && n.Clears == clears {
			subs, parent = append(subs, strconv.Itoa(int(n.OID[len(n.OID)-1]))), n.OID[:len(n.OID)-1]
		}
	}
	return "(?m)^" + dotted(smi.OID{1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0}) + " " + dotted(parent) + "[.](" + strings.Join(subs, "|") + ")$"
}

// trapTriggers returns the triggers of alarms, one for each severity. Each raise is a problem;
// the clear with the same number of the alarm ends it.
func (s *site) trapTriggers() (all []trigger) {
	find := func(pattern string) string {
		return history("find", s.trapKey(), `,,"regexp","`+pattern+`"`) + "=1"
	}
	for _, severity := range alarm.Severities() {
		raised := find(fmt.Sprintf("(?m)^%s[.][0-9]+ %d$", dotted(s.objects["pnAlarmSeverity"].OID), severity))
		all = append(all, trigger{Name: "an alarm that is " + severity.String(), Priority: priority(severity), Expression: find(s.kinds(false)) + " and " + raised, Recovery: find(s.kinds(true))})
	}
	return all
}

// valueOf returns a macro with the value of an object of a notification; indexOf with its row.
func (s *site) valueOf(name string) string {
	return `{{ITEM.VALUE}.regsub("(?m)^` + dotted(s.objects[name].OID) + `[.][0-9]+ (.*)", "\1")}`
}

func (s *site) indexOf(name string) string {
	return `{{ITEM.VALUE}.regsub("(?m)^` + dotted(s.objects[name].OID) + `[.]([0-9]+) ", "\1")}`
}
