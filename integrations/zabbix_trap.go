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

// trapItem returns the item for notifications, with a trigger for each severity.
func (s *site) trapItem() mapping {
	var triggers list
	for _, severity := range alarm.Severities() {
		triggers = append(triggers, s.trapTrigger(severity))
	}
	return mapping{{"uuid", uuid("item traps")}, {"name", "Notifications"}, {"type", "SNMP_TRAP"}, {"key", s.trapKey()}, {"delay", "0"}, {"trends", "0"},
		{"value_type", "LOG"}, {"logtimefmt", "hh:mm:sszyyyy/MM/dd"}, {"triggers", triggers}}
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

// trapTrigger returns the trigger of alarms of a severity. Each raise is a problem; the clear
// with the same number of the alarm ends it.
func (s *site) trapTrigger(severity alarm.Severity) mapping {
	find := func(pattern string) string {
		return history("find", s.trapKey(), `,,"regexp","`+pattern+`"`) + "=1"
	}
	expression := find(s.kinds(false)) + " and " + find(fmt.Sprintf("(?m)^%s[.][0-9]+ %d$", dotted(s.objects["pnAlarmSeverity"].OID), severity))
	name := "an alarm that is " + severity.String()
	m := mapping{{"uuid", uuid("trigger " + name)}, {"expression", expression}, {"recovery_mode", "RECOVERY_EXPRESSION"}, {"recovery_expression", find(s.kinds(true))},
		{"correlation_mode", "TAG_VALUE"}, {"correlation_tag", "alarm"}, {"name", "pnagent: " + name}}
	return append(m, entry{"event_name", "pnagent: " + s.valueOf("pnAlarmText")}, entry{"priority", priority(severity)}, entry{"type", "MULTIPLE"},
		entry{"manual_close", "YES"}, entry{"tags", list{
			mapping{{"tag", "alarm"}, {"value", s.indexOf("pnAlarmKind")}},
			mapping{{"tag", "net"}, {"value", s.valueOf("pnAlarmNet")}},
			mapping{{"tag", "subject"}, {"value", s.valueOf("pnAlarmSubject")}},
		}})
}

// valueOf returns a macro with the value of an object of a notification; indexOf with its row.
func (s *site) valueOf(name string) string {
	return `{{ITEM.VALUE}.regsub("(?m)^` + dotted(s.objects[name].OID) + `[.][0-9]+ (.*)", "\1")}`
}

func (s *site) indexOf(name string) string {
	return `{{ITEM.VALUE}.regsub("(?m)^` + dotted(s.objects[name].OID) + `[.]([0-9]+) ", "\1")}`
}
