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
	row   smi.OID // see Builder.rowOf
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
	}
}

// alarmScalars returns the scalars beside the table.
func alarmScalars() []column[agentRow] {
	return []column[agentRow]{
		{object{10, "LastChange", syntaxDate(), "", "When pnAlarmTable last gained or lost a row; all zero if it never did. Read the table again when this changes: a notification may have been lost or suppressed.", 0, false},
			func(r *agentRow) smi.Value { return r.at.date(r.state.LastChange) }},
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

// firstColumn is the column that a RowPointer names: all tables begin with an index that is
// not accessible, and have a name in this column.
const firstColumn = 2

// rowOf returns the row that an alarm is about; zeroDotZero if there is none.
func (b *Builder) rowOf(a *alarm.Alarm, sources []sourceAt) smi.OID {
	row := func(t table, index ...uint32) smi.OID {
		return b.root.Append(subPetrinet, subObjects, t.sub, 1, firstColumn).Append(index...)
	}
	if a.Kind == alarm.RegionStopped {
		var owner *sourceAt
		for i := range sources {
			s := &sources[i]
			if s.source.Net == a.Net && s.source.Region == a.Subject && (owner == nil || s.source.Claim().Compare(owner.source.Claim()) > 0) {
				owner = s
			}
		}
		if owner == nil {
			return smi.OID{0, 0}
		}
		return row(sourceTable(), owner.number)
	}
	if _, _, source, _ := a.About(); source != "" {
		for _, s := range sources {
			if s.source.Name == a.Subject && (a.Net == "" || s.source.Net == a.Net) {
				return row(sourceTable(), s.number)
			}
		}
		return smi.OID{0, 0}
	}
	if a.Kind == alarm.NATSDisconnected {
		return smi.OID{0, 0}
	}
	number := b.plan.numbers[a.Net]
	i, found := slices.BinarySearchFunc(b.plan.nets, number, func(n netPlan, number uint32) int { return cmp.Compare(n.number, number) })
	if !found {
		return smi.OID{0, 0}
	}
	net, locked := &b.plan.nets[i], b.numbers.lock.Net(a.Net)
	switch a.Kind {
	case alarm.NetDeadlocked:
		return row(netTable(), number)
	case alarm.TokenStuck:
		if e := locked.Place(a.Subject); e != nil && has(net.places, e.Number) {
			return row(placeTable(), number, e.Number)
		}
	default:
		if e := locked.Transition(a.Subject); e != nil && has(net.transitions, e.Number) {
			return row(transitionTable(), number, e.Number)
		}
	}
	return smi.OID{0, 0}
}

// has reports whether sorted rows contain a number.
func has(rows []numbered, number uint32) bool {
	_, found := slices.BinarySearchFunc(rows, number, func(r numbered, number uint32) int { return cmp.Compare(r.number, number) })
	return found
}
