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
func notifications() []notification {
	objects := prefixed(inModule("alarm"), objectsOf(notified()))
	return []notification{
		{1, "tokenStuck", alarm.TokenStuck, false, objects, "The oldest token of a place has been there for too long. Look at the place's rows in pnStuckTable for which instances hold such tokens and what they wait for, then at pnBlockTable for the arc that holds most of them."},
		{2, "tokenMoving", alarm.TokenStuck, true, objects, "The alarm of an earlier pnTokenStuck is over: the oldest token of the place is young enough again."},
		{3, "transitionStarved", alarm.TransitionStarved, false, objects, "A transition is enabled and has not fired for too long. The process that does its work is slow, busy or gone: look at its row in pnTransitionTable, and at pnSourceTable."},
		{4, "transitionFiring", alarm.TransitionStarved, true, objects, "The alarm of an earlier pnTransitionStarved is over: the transition has fired, or is not enabled any more."},
		{5, "sourceLost", alarm.SourceLost, false, objects, "A source is silent. Its tokens stay in the sums and grow older until it publishes again or is forgotten. Find out whether it runs and whether it reaches its collector."},
		{6, "sourceFound", alarm.SourceLost, true, objects, "The alarm of an earlier pnSourceLost is over: the source publishes again, or stopped cleanly."},
		{7, "netDeadlocked", alarm.NetDeadlocked, false, objects, "Instances of a net are deadlocked: nothing is enabled, nothing is running, and no end is reached. Look at pnStuckTable for which instances these are and where their tokens are. Each needs an operator."},
		{8, "netLive", alarm.NetDeadlocked, true, objects, "The alarm of an earlier pnNetDeadlocked is over: no instance of the net is deadlocked any more."},
		{9, "notificationsSuppressed", 0, false, []string{"pnAgentNotificationsSuppressed"}, "Too many notifications were due at once, and some were suppressed. Read pnAlarmTable for the active alarms."},
		{10, "transitionFailing", alarm.FailureRatio, false, objects, "Too many of the runs of a transition fail. What it calls refuses, breaks or does not answer: look at pnTransitionFailures, pnTransitionTimeouts and pnTransitionRetries of its row, then at the log of its engine for the error."},
		{11, "transitionWorking", alarm.FailureRatio, true, objects, "The alarm of an earlier pnTransitionFailing is over: the runs of the transition succeed again, or there are none."},
		{12, "transitionLooping", alarm.TransitionLoop, false, objects, "A transition fires too often. The net has an endless loop, or is fed too fast: look at pnTransitionRate1 of its neighbours for the loop, and at pnPlaceArrivals for what feeds it."},
		{13, "transitionSettled", alarm.TransitionLoop, true, objects, "The alarm of an earlier pnTransitionLooping is over: the transition does not fire too often any more."},
		{14, "natsDisconnected", alarm.NATSDisconnected, false, objects, "The agent that sends this has no connection to NATS and receives no messages of sources. Its numbers of nets are old, and it raises no alarm about them meanwhile. Look at pnAgentNatsReason of this agent, then at the NATS server and the network to it."},
		{15, "natsConnected", alarm.NATSDisconnected, true, objects, "The alarm of an earlier pnNatsDisconnected is over: the agent is connected to NATS again."},
		{16, "sourceConflict", alarm.SourceConflict, false, objects, "Two processes publish as one source of one net. The numbers of the source are those of the newer one, and the work of the other one is not counted. Give one of them another name, or stop it; its log has the same text."},
		{17, "sourceUnique", alarm.SourceConflict, true, objects, "The alarm of an earlier pnSourceConflict is over: one process publishes as the source."},
		{18, "sourceRefused", alarm.SourceRefused, false, objects, "The messages of a source are refused. Its last rows stay in the sums and grow older. pnSourceReason and its log have the reason."},
		{19, "sourceAccepted", alarm.SourceRefused, true, objects, "The alarm of an earlier pnSourceRefused is over: messages of the source are accepted again, or it stopped."},
		{20, "regionStopped", alarm.RegionStopped, false, objects, "A region of a net that is divided among processes is stopped, because a log that it reads has lost commits. pnAlarmText names the log. Its tokens stay where they are, and tokens that are sent to it are kept: read the page of this notification before you do anything."},
		{21, "regionRunning", alarm.RegionStopped, true, objects, "The alarm of an earlier pnRegionStopped is over: the region runs again, or stopped cleanly."},
	}
}

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

// notified returns the columns of pnAlarmTable that a notification carries, in order. Receivers
// may know them by their position, so new ones are appended.
func notified() []column[alarmRow] {
	var carried []column[alarmRow]
	all := alarmColumns()
	for _, sub := range []uint32{2, 3, 4, 6, 7, 8, 9, 5, 10} {
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
