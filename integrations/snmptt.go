// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"fmt"
	"strings"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/mib"
)

// snmpttEvent is an event of snmptt.
type snmpttEvent struct{ Severity, Match string }

// snmpttEvents returns the events of a notification: one, and for a raise one for each severity.
func snmpttEvents(n mib.Notification) (all []snmpttEvent) {
	switch {
	case n.Kind == 0:
		return []snmpttEvent{{Severity: "WARNING"}}
	case n.Clears:
		return []snmpttEvent{{Severity: "Normal"}}
	}
	for _, severity := range alarm.Severities() {
		all = append(all, snmpttEvent{strings.ToUpper(severity.String()), fmt.Sprintf("$%d: (^(%v|%d)$)", varbind(n, "pnAlarmSeverity"), severity, severity)})
	}
	return all
}
