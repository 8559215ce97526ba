// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"cmp"
	"slices"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/mib/smi"
)

// clearedRow is one alarm that is over.
type clearedRow struct {
	alarm *alarm.ClearedAlarm
	at    *clock
}

func clearedTable() table {
	return table{
		sub: 12, name: "cleared",
		text:    "The alarms that were cleared last, as many as the agent keeps. Read it for what happened in the night, or after a storm of notifications: pnAlarmTable has only what is wrong now.",
		rowText: "One alarm that is over. It appears when its row leaves pnAlarmTable, and disappears when later ones need its room.",
		index:   []string{"pnClearedIndex"},
		keys: []object{{sub: 1, suffix: "Index", syntax: syntaxIndex(false),
			text: "The number of the alarm, which was its pnAlarmIndex."}},
		columns: objectsOf(clearedColumns()),
		group:   "The alarms that were cleared last.",
	}
}

func clearedColumns() []column[clearedRow] {
	return []column[clearedRow]{
		{object{2, "Kind", syntaxAlarm(), "", "What the alarm was about, as in pnAlarmKind.", 0, false},
			func(r *clearedRow) smi.Value { return smi.Integer(int32(r.alarm.Kind)) }},
		{object{3, "Net", syntaxText(), "", "The id of the net; empty if the alarm was about a source or the agent itself.", 0, false},
			func(r *clearedRow) smi.Value { return text(r.alarm.Net) }},
		{object{4, "Subject", syntaxText(), "", "The id of the place or transition, or the name of the source; empty if the alarm was of the whole net or of the agent itself.", 0, false},
			func(r *clearedRow) smi.Value { return text(r.alarm.Subject) }},
		{object{5, "Severity", syntaxSeverity(), "", "How serious the alarm was when it was cleared, as in pnAlarmSeverity.", 0, false},
			func(r *clearedRow) smi.Value { return severity(r.alarm.Severity) }},
		{object{6, "Raised", syntaxDate(), "", "When the alarm was raised.", 0, false},
			func(r *clearedRow) smi.Value { return r.at.date(r.alarm.Raised) }},
		{object{7, "Cleared", syntaxDate(), "", "When the alarm was cleared.", 0, false},
			func(r *clearedRow) smi.Value { return r.at.date(r.alarm.Cleared) }},
		{object{8, "Text", syntaxText(), "", "Why the alarm was cleared, for people.", 0, false},
			func(r *clearedRow) smi.Value { return text(r.alarm.Text) }},
	}
}

// clearedScalars returns the scalars beside the table.
func clearedScalars() []column[agentRow] {
	return []column[agentRow]{
		{object{18, "LastChange", syntaxDate(), "", "When the newest alarm of pnClearedTable was cleared; all zero if the table is empty. Read the table again when this changes.", 0, false},
			func(r *agentRow) smi.Value {
				last := int64(0)
				if n := len(r.state.Cleared); n > 0 {
					last = r.state.Cleared[n-1].Cleared
				}
				return r.at.date(last)
			}},
	}
}

// findCleared lists the alarms that are over by number, of each number the newest.
func (d *dynamic) findCleared(state *alarm.ActiveSet) {
	for i := range state.Cleared {
		if a := &state.Cleared[i]; known(&a.Alarm) {
			d.cleared = append(d.cleared, a)
		}
	}
	slices.SortFunc(d.cleared, func(a, b *alarm.ClearedAlarm) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(b.Cleared, a.Cleared))
	})
	d.cleared = slices.CompactFunc(d.cleared, func(a, b *alarm.ClearedAlarm) bool { return a.Index == b.Index })
}
