// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"cmp"
	"slices"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/mib/smi"
)

// alarmRow is one active alarm.
type alarmRow struct {
	alarm *alarm.Alarm
	row   smi.OID // see served.rowOf
	at    *clock
}

func alarmTable() table {
	return table{
		sub: 9, name: "alarm",
		text:    "The active alarms. A notification may be lost; this table is complete. Read it when pnAlarmLastChange changes, and when you begin to monitor.",
		rowText: "One active alarm. It appears with the notification that raises it and disappears with the one that clears it.",
		index:   []string{"pnAlarmIndex"},
		keys: []object{{sub: 1, suffix: "Index", syntax: syntaxIndex(false),
			text: "The number of the alarm. Later alarms have larger numbers, over restarts of the agent too."}},
		columns: objectsOf(alarmColumns()),
		group:   "The alarms that are active.",
	}
}

func alarmColumns() []column[alarmRow] {
	return []column[alarmRow]{
		{object{2, "Kind", syntaxAlarm(), "", "What the alarm is about. The runbooks have a page for each kind; pnAlarmRow leads to the numbers.", 0, false},
			func(r *alarmRow) smi.Value { return smi.Integer(int32(r.alarm.Kind)) }},
		{object{3, "Net", syntaxText(), "", "The id of the net; empty if the alarm is about a source or the agent itself.", 0, false},
			func(r *alarmRow) smi.Value { return text(r.alarm.Net) }},
		{object{4, "Subject", syntaxText(), "", "The id of the place or transition, or the name of the source; empty if the alarm is of the whole net or of the agent itself.", 0, false},
			func(r *alarmRow) smi.Value { return text(r.alarm.Subject) }},
		{object{5, "Row", syntaxPointer().seeing("RFC 2579, RowPointer."), "", "Where to look: the first column of the row of pnPlaceTable, pnTransitionTable, pnSourceTable or pnNetTable; 0.0 if there is no such row now.", 0, false},
			func(r *alarmRow) smi.Value { return smi.ObjectID(r.row) }},
		{object{6, "Raised", syntaxDate(), "", "When the alarm was raised. Its condition began earlier, because it must hold for some time before the alarm is raised: see pnAlarmAge.", 0, false},
			func(r *alarmRow) smi.Value { return r.at.date(r.alarm.Raised) }},
		{object{7, "Age", syntaxLength(), "seconds", "How long the condition has held: the age of the oldest token, the time that the transition has been enabled, the silence of the source. The longest is not always the cause: look for the alarm that began first.", 0, false},
			func(r *alarmRow) smi.Value { return r.at.age(r.alarm.Since) }},
		{object{8, "Affected", syntaxGauge(), "tokens or instances", "How many tokens or instances are affected, or how many nets of a source; 0 if that is not known. Begin with the largest.", 0, false},
			func(r *alarmRow) smi.Value { return gauge(r.alarm.Affected) }},
		{object{9, "Text", syntaxText(), "", "The condition in words, for people. If it is cut off, pnAlarmRow leads to the numbers.", 0, false},
			func(r *alarmRow) smi.Value { return text(r.alarm.Text) }},
		{object{10, "Severity", syntaxSeverity(), "", "How serious the alarm is by the rules of the agent now, and cleared in the notification that it is over. A reload of the rules may change it, and sends no notification. Begin with the smallest number; of equal ones look at the one with the largest pnAlarmAge.", 0, false},
			func(r *alarmRow) smi.Value { return severity(r.alarm.Severity) }},
		{object{11, "Acknowledged", syntaxTruth(), "", "Whether an operator acknowledged the alarm, so that others know that it is being worked on: see pnAlarmAckBy. The alarm stays active and is counted. It is done by pnagent alarms ack with pnAlarmIndex.", 0, false},
			func(r *alarmRow) smi.Value { return truth(r.alarm.Ack != nil) }},
		{object{12, "AckBy", syntaxText(), "", "Who acknowledged the alarm; empty if it is not acknowledged.", 0, false},
			func(r *alarmRow) smi.Value { return text(r.ack().By) }},
		{object{13, "AckTime", syntaxDate(), "", "When the alarm was acknowledged; all zero if it is not.", 0, false},
			func(r *alarmRow) smi.Value { return r.at.date(r.ack().At) }},
		{object{14, "SilencedUntil", syntaxDate(), "", "Until when the notifications about the alarm are held back, by pnagent alarms silence; all zero if they are not. A silenced alarm has its row here, and is not in pnAlarmActive and the numbers by severity.", 0, false},
			func(r *alarmRow) smi.Value { return r.at.date(r.alarm.SilencedUntil) }},
		{object{15, "Comment", syntaxText(), "", "What the operator wrote who acknowledged the alarm; empty if there is nothing.", 0, false},
			func(r *alarmRow) smi.Value { return text(r.ack().Comment) }},
	}
}

// ack returns the acknowledgement; the zero Ack if there is none.
func (r *alarmRow) ack() alarm.Ack {
	if r.alarm.Ack == nil {
		return alarm.Ack{}
	}
	return *r.alarm.Ack
}

// severity returns a PetrinetSeverity: indeterminate for a severity that is not known.
func severity(s alarm.Severity) smi.Value {
	if s < alarm.Cleared || s > alarm.Warning {
		s = alarm.Indeterminate
	}
	return smi.Integer(int32(s))
}

// alarmScalars returns the scalars beside the table.
func alarmScalars() []column[agentRow] { return append(changeScalars(), countScalars()...) }

// changeScalars returns those before pnQueueTable.
func changeScalars() []column[agentRow] {
	return []column[agentRow]{
		{object{10, "LastChange", syntaxDate(), "", "When pnAlarmTable last gained or lost a row; all zero if it never did. Read the table again when this changes: a notification may have been lost or suppressed. Acknowledgements and silences do not change it.", 0, false},
			func(r *agentRow) smi.Value { return r.at.date(r.state.LastChange) }},
	}
}

// countScalars returns those behind pnClearedTable, for tools that read single numbers.
func countScalars() []column[agentRow] {
	of := func(s alarm.Severity) func(*agentRow) smi.Value {
		return func(r *agentRow) smi.Value { return gauge(uint64(r.state.BySeverity()[s])) }
	}
	return []column[agentRow]{
		{object{13, "Active", syntaxGauge(), "alarms", "How many alarms are active and not silenced. Anything but 0 is worth a look at pnAlarmTable. Without a connection to NATS, 0 is no all-clear: see pnAgentNatsState.", 0, false},
			func(r *agentRow) smi.Value {
				active := 0
				for _, n := range r.state.BySeverity() {
					active += n
				}
				return gauge(uint64(active))
			}},
		{object{14, "Critical", syntaxGauge(), "alarms", "How many alarms of pnAlarmSeverity critical are active and not silenced. Anything but 0 needs an operator now: look at pnAlarmTable.", 0, false}, of(alarm.Critical)},
		{object{15, "Major", syntaxGauge(), "alarms", "How many alarms of pnAlarmSeverity major are active and not silenced. Anything but 0 needs an operator soon: look at pnAlarmTable.", 0, false}, of(alarm.Major)},
		{object{16, "Minor", syntaxGauge(), "alarms", "How many alarms of pnAlarmSeverity minor are active and not silenced. Anything but 0 needs an operator today: look at pnAlarmTable.", 0, false}, of(alarm.Minor)},
		{object{17, "Warning", syntaxGauge(), "alarms", "How many alarms of pnAlarmSeverity warning are active and not silenced. Anything but 0 is worth a look at pnAlarmTable.", 0, false}, of(alarm.Warning)},
	}
}

// known reports whether an alarm has a kind and a number that the MIB can show.
func known(a *alarm.Alarm) bool {
	return a.Kind >= alarm.TokenStuck && slices.Contains(alarm.Kinds(), a.Kind) && a.Index >= 1 && a.Index <= maxNumber
}

// findAlarms lists the alarms by number, each number once.
func (d *dynamic) findAlarms(state *alarm.ActiveSet) {
	for i := range state.Active {
		if a := &state.Active[i]; known(a) {
			d.alarms = append(d.alarms, a)
		}
	}
	slices.SortStableFunc(d.alarms, func(a, b *alarm.Alarm) int { return cmp.Compare(a.Index, b.Index) })
	d.alarms = slices.CompactFunc(d.alarms, func(a, b *alarm.Alarm) bool { return a.Index == b.Index })
}
