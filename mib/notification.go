// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"errors"
	"fmt"

	"github.com/pnagent/pnagent/alarm"
	"github.com/pnagent/pnagent/smi"
)

// ErrAlarm is wrapped by the error of an alarm that no notification can tell of.
var ErrAlarm = errors.New("bad alarm")

// notification is one NOTIFICATION-TYPE.
type notification struct {
	sub     uint32
	name    string
	kind    alarm.Kind // 0 for the one that tells of no alarm
	clears  bool
	objects []string
	text    string
}

// notifications come in pairs, one when an alarm is raised and one when it is
// cleared. All objects of a notification are of one row, as a receiver expects.
func notifications() []notification {
	objects := prefixed("alarm", notified())
	return []notification{
		{1, "tokenStuck", alarm.TokenStuck, false, objects, "The oldest token of a place has been there for too long. Look at the place's rows in stuckTable for which instances hold such tokens and what they wait for, then at blockTable for the arc that holds most of them."},
		{2, "tokenMoving", alarm.TokenStuck, true, objects, "The alarm of an earlier tokenStuck is over: the oldest token of the place is young enough again."},
		{3, "transitionStarved", alarm.TransitionStarved, false, objects, "A transition could fire and has not fired for too long. Whoever does its work is slow, busy or gone: look at its row in transitionTable, and at sourceTable."},
		{4, "transitionFiring", alarm.TransitionStarved, true, objects, "The alarm of an earlier transitionStarved is over: the transition fires again, or has nothing to do."},
		{5, "sourceLost", alarm.SourceLost, false, objects, "A source is silent. Its tokens stay in the sums and grow older until it is heard again or forgotten. Find out whether it runs and whether it reaches its collector."},
		{6, "sourceFound", alarm.SourceLost, true, objects, "The alarm of an earlier sourceLost is over: the source is heard again, or was forgotten."},
		{7, "netDeadlocked", alarm.NetDeadlocked, false, objects, "Instances of a net can never go on by themselves: nothing is enabled, nothing is running, and no end is reached. Look at stuckTable for which instances these are and where their tokens are. Each needs somebody."},
		{8, "netLive", alarm.NetDeadlocked, true, objects, "The alarm of an earlier netDeadlocked is over: no instance of the net is deadlocked any more."},
		{9, "notificationsSuppressed", 0, false, []string{"agentNotificationsSuppressed"}, "Too many notifications were due at once, and some were held back. Read alarmTable for what is wrong."},
		{10, "transitionFailing", alarm.FailureRatio, false, objects, "Too many of the runs of a transition fail. What it calls refuses, breaks or does not answer: look at transitionFailures, transitionTimeouts and transitionRetries of its row, then at the log of its engine for the error."},
		{11, "transitionWorking", alarm.FailureRatio, true, objects, "The alarm of an earlier transitionFailing is over: the runs of the transition succeed again, or there are none."},
		{12, "transitionLooping", alarm.TransitionLoop, false, objects, "A transition fires more often than it should. A loop of the net goes round without an end, or something feeds it too fast: look at transitionRate1 of its neighbours for the loop, and at placeArrivals for what feeds it."},
		{13, "transitionSettled", alarm.TransitionLoop, true, objects, "The alarm of an earlier transitionLooping is over: the transition fires as seldom as it should again."},
		{14, "natsDisconnected", alarm.NATSDisconnected, false, objects, "The agent that sends this has no connection to NATS and hears no source. What it shows of nets is from before, and it raises no alarm about them meanwhile. Look at agentNatsReason of this agent, then at the NATS server and the way to it."},
		{15, "natsConnected", alarm.NATSDisconnected, true, objects, "The alarm of an earlier natsDisconnected is over: the agent is connected to NATS again."},
		{16, "sourceConflict", alarm.SourceConflict, false, objects, "Two processes publish as one source of one net. The numbers of the source are those of the newer one, and what the other one does is not seen. Give one of them another name, or stop it; its log has the same text."},
		{17, "sourceUnique", alarm.SourceConflict, true, objects, "The alarm of an earlier sourceConflict is over: one process publishes as the source."},
		{18, "sourceRefused", alarm.SourceRefused, false, objects, "A source is heard, and its messages are refused. What it last said stays in the sums and grows older. sourceReason says why, and so does its log."},
		{19, "sourceAccepted", alarm.SourceRefused, true, objects, "The alarm of an earlier sourceRefused is over: messages of the source are taken again, or it stopped."},
		{20, "regionStopped", alarm.RegionStopped, false, objects, "A region of a net that several processes play does not play on, because a log that it reads has lost commits. alarmText says which. Its tokens stay where they are, and what is put into it is kept: read the page of this notification before you do anything."},
		{21, "regionRunning", alarm.RegionStopped, true, objects, "The alarm of an earlier regionStopped is over: the region plays again, or was forgotten."},
	}
}

// runbooks is where the page about each pair of notifications is.
const runbooks = "https://github.com/pnagent/pnagent/blob/main/docs/runbooks/"

// runbook is the page about a notification: a pair shares that of the one that
// raises the alarm.
func (n *notification) runbook() string {
	for _, o := range notifications() {
		if o.kind == n.kind {
			return runbooks + o.name + ".md"
		}
	}
	return ""
}

// notified are the columns of alarmTable that a notification carries, in order.
func notified() []object {
	var kept []object
	for _, o := range objectsOf(alarmColumns()) {
		if o.suffix != "Row" {
			kept = append(kept, o)
		}
	}
	return kept
}

// snmpTrapOID is the name of the variable that says which notification it is
// (RFC 3418).
func snmpTrapOID() smi.OID { return smi.OID{1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0} }

func (b *Builder) trapOID(sub uint32) smi.Variable {
	return smi.Variable{Name: snmpTrapOID(), Value: smi.ObjectID(b.root.Append(subPetrinet, 0, sub))}
}

// Notification is the variables of the notification that an alarm is raised or
// cleared: snmpTrapOID.0, and the objects of its NOTIFICATION-TYPE in order,
// of the alarm's row in alarmTable. sysUpTime.0, which comes before them, is
// for the sender to add. Ages are as of the last Build, or of the raising where
// that is later. An alarm that the MIB cannot show is refused with ErrAlarm.
func (b *Builder) Notification(a alarm.Alarm, raise bool) ([]smi.Variable, error) {
	if !known(&a) {
		return nil, fmt.Errorf("notify of alarm %d: %w: kind %d", a.Index, ErrAlarm, a.Kind)
	}
	objects := b.root.Append(subPetrinet, subObjects)
	row := alarmRow{alarm: &a, at: &clock{now: max(b.now.Load(), a.Raised)}}
	var variables []smi.Variable
	for _, n := range notifications() {
		if n.kind == a.Kind && n.clears != raise {
			variables = append(variables, b.trapOID(n.sub))
		}
	}
	for _, c := range alarmColumns() {
		if c.suffix != "Row" {
			variables = append(variables, smi.Variable{Name: objects.Append(alarmTable().sub, 1, c.sub, a.Index), Value: c.value(&row)})
		}
	}
	return variables, nil
}

// Suppressed is the variables of the notification that n notifications were
// held back since the agent began.
func (b *Builder) Suppressed(n uint64) []smi.Variable {
	const notificationsSuppressed, agentSuppressed = 9, 17
	name := b.root.Append(subPetrinet, subObjects, subAgent, agentSuppressed, 0)
	return []smi.Variable{b.trapOID(notificationsSuppressed), {Name: name, Value: smi.Counter64(n)}}
}
