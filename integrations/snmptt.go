// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"fmt"
	"strings"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/mib"
)

// snmpttFiles returns the events of snmptt: one for each notification, and for a raise one for
// each severity.
func snmpttFiles(s *site) []File {
	var conf strings.Builder
	conf.WriteString("# pnagent wrote this file; name it in snmptt_conf_files of snmptt.ini.\n")
	for i := range s.described.Notifications {
		n := &s.described.Notifications[i]
		switch {
		case n.Kind == 0:
			snmpttEvent(&conf, n, "WARNING", "")
			continue
		case n.Clears:
			snmpttEvent(&conf, n, "Normal", "")
			continue
		}
		for _, severity := range alarm.Severities() {
			match := fmt.Sprintf("MATCH $%d: (^(%v|%d)$)\n", varbind(n, "pnAlarmSeverity"), severity, severity)
			snmpttEvent(&conf, n, strings.ToUpper(severity.String()), match)
		}
	}
	return []File{{Path: "snmptt/snmptt.conf.pnagent", Content: []byte(conf.String())}, s.files("snmptt", "README.md")[0]}
}

func snmpttEvent(conf *strings.Builder, n *mib.Notification, severity, match string) {
	format := "$1"
	if n.Kind != 0 {
		format = fmt.Sprintf("$%d $%d: $%d", varbind(n, "pnAlarmNet"), varbind(n, "pnAlarmSubject"), varbind(n, "pnAlarmText"))
	}
	fmt.Fprintf(conf, "\nEVENT %s .%v \"Petri nets\" %s\nFORMAT %s\n%sSDESC\n%s\n%s\nEDESC\n", n.Name, n.OID, severity, format, match, n.Text, n.Runbook)
}
