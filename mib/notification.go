// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"errors"
	"fmt"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/mib/smi"
)

// ErrAlarm is wrapped by the error of an alarm without a notification.
var ErrAlarm = errors.New("invalid alarm")

// notification is one NOTIFICATION-TYPE.
type notification struct {
	sub     uint32
	name    string     // of its page; pnTokenStuck in the module is tokenStuck here
	kind    alarm.Kind // 0 for the one that is about no alarm
	clears  bool
	objects []string
	text    string
}

// notifications returns all notifications, in pairs for the raise and the clear of an alarm.
// All objects of a notification are of one row, as receivers expect.
func notifications() []notification { return petrinet().notifications }

func (n *notification) descriptor() string { return inModule(n.name) }

// runbooks is the address of the pages about notifications.
const runbooks = "https://github.com/pnagent/pnagent/blob/main/docs/runbooks/"

// runbook returns the address of a notification's page: a pair shares the page of the raise.
func (n *notification) runbook() string {
	for _, o := range notifications() {
		if o.kind == n.kind {
			return runbooks + o.name + ".md"
		}
	}
	return ""
}

// notifiedSubs returns the sub-identifiers of those columns.
func notifiedSubs() []uint32 { return []uint32{2, 3, 4, 6, 7, 8, 9, 5, 10, 16, 17, 18} }

// notified returns the columns of pnAlarmTable that a notification carries, in order. Receivers
// may know them by their position, so new ones are appended.
func notified() []column[alarmRow] {
	var carried []column[alarmRow]
	all := alarmColumns()
	for _, sub := range notifiedSubs() {
		carried = append(carried, all[sub-firstColumn])
	}
	return carried
}

// snmpTrapOID returns the name of the variable that identifies a notification (RFC 3418).
func snmpTrapOID() smi.OID { return smi.OID{1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0} }

func (b *Builder) trapOID(sub uint32) smi.Variable {
	return smi.Variable{Name: snmpTrapOID(), Value: smi.ObjectID(b.root.Append(subPetrinet, 0, sub))}
}

// Notification returns the variables of the notification for the raise or the clear of an
// alarm: snmpTrapOID.0, and the objects of its NOTIFICATION-TYPE in order, of the alarm's row
// in pnAlarmTable. The sender adds sysUpTime.0 before them. Ages are as of the last Build, or of
// the raise if that is later, and the row is that of the last Build. The severity of a clear is
// cleared. The error wraps ErrAlarm if the MIB cannot show the alarm.
func (b *Builder) Notification(a alarm.Alarm, raise bool) ([]smi.Variable, error) {
	if !known(&a) {
		return nil, fmt.Errorf("notify of alarm %d: %w: kind %d", a.Index, ErrAlarm, a.Kind)
	}
	objects := b.root.Append(subPetrinet, subObjects)
	if !raise {
		a.Severity = alarm.Cleared
	}
	row := alarmRow{alarm: &a, row: b.served.Load().rowOf(&a), at: &clock{now: max(b.now.Load(), a.Raised)}}
	var variables []smi.Variable
	for _, n := range notifications() {
		if n.kind == a.Kind && n.clears != raise {
			variables = append(variables, b.trapOID(n.sub))
		}
	}
	for _, c := range notified() {
		variables = append(variables, smi.Variable{Name: objects.Append(tableOf("alarm").sub, 1, c.sub, a.Index), Value: c.value(&row)})
	}
	return variables, nil
}

// Suppressed returns the variables of the notification that n notifications were suppressed
// since the agent's start.
func (b *Builder) Suppressed(n uint64) []smi.Variable {
	const notificationsSuppressed, agentSuppressed = 9, 17
	name := b.root.Append(subPetrinet, subObjects, subAgent, agentSuppressed, 0)
	return []smi.Variable{b.trapOID(notificationsSuppressed), {Name: name, Value: counter32(n)}}
}
