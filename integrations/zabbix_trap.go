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

// zabbixHandler is a program that snmptrapd starts for each notification. Zabbix' reader begins
// a new trap wherever the word ZBXTRAP is, so the handler breaks it in values.
const zabbixHandler = `#!/bin/sh
# pnagent wrote this file. snmptrapd starts it for each notification; it appends the
# notification to the file $1, which is SNMPTrapperFile of Zabbix.
# On standard input: host, transport, then lines "OID value".
IFS= read -r host
IFS= read -r from
address=${from#*\[}
address=${address%%\]*}
text="$(date '+%H:%M:%S %Y/%m/%d') ZBXTRAP $address"
while IFS= read -r line || [ -n "$line" ]; do
  case $line in *ZBXTRAP*) line=$(printf '%s\n' "$line" | sed 's/ZBXTRAP/ZBX_TRAP/g') ;; esac
  text="$text
$line"
done
printf '%s\n' "$text" >>"$1"    # one write, so that notifications at once stay whole
`

const zabbixPage = `# Zabbix reads pnagent

| file | goes to |
|---|---|
| ~template-6.0.yaml~ | *Configuration, Templates, Import* of Zabbix 6.0 and 6.2 |
| ~template-6.4.yaml~ | *Data collection, Templates, Import* of 6.4 and later: it reads each table by one walk |
| ~zabbix-trap~ | ~/etc/pnagent/~, mode 0755 |
| ~snmptrapd.conf~ | ~/etc/snmp/~, mode 0600 |
| ~snmptrapd.service.d/pnagent.conf~ | ~/etc/systemd/system/snmptrapd.service.d/~ |
| ~../mibs~ | ~/etc/pnagent/mibs~ |

1. Import one template, and link it to a host that has an SNMP interface with the address of the sidecar, or of snmpd before it:
   SNMPv3, user ~noc~, authPriv, SHA256, AES128.
2. For notifications, on the host of Zabbix: copy the other files, replace what says CHANGE, and set in ~zabbix_server.conf~
   ~StartSNMPTrapper=1~ and ~SNMPTrapperFile=/var/log/snmptrap/zbx.log~. snmptrapd's user writes that file, and Zabbix' reads it.
3. ~pnagent serve … --snmp.trap-sink ZABBIX:162 --snmp.trap-user noc~. Notifications come from the address of the interface, or Zabbix
   ignores them.

Each alarm is a problem of its own, and ends with the alarm. Severities: critical is Disaster, major High, minor Average, warning Warning.
If a notification was lost, the number of active alarms of its severity is a problem after three minutes; but not while a problem by a
notification of that severity is open. Close a problem by hand if the notification of its end was lost: *Active* counts what is so.
With ~--snmp.inform~, and ~createUser~ without ~-e 0x…~, the sidecar repeats a notification until snmptrapd acknowledges it.

Nets, places, transitions and sources are discovered. Importing again updates the template: identifiers never change. All OIDs are below ROOT.

Zabbix 6.0.14 runs with the first template in a test of this project. The second was not tried with a server: it is held against what an
import of 6.4 takes.
`
