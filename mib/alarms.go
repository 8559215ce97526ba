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

func alarmColumns() []column[alarmRow] {
	return columns("alarm", values[alarmRow]{
		"Kind":          func(r *alarmRow) smi.Value { return smi.Integer(int32(r.alarm.Kind)) },
		"Net":           func(r *alarmRow) smi.Value { return text(r.alarm.Net) },
		"Subject":       func(r *alarmRow) smi.Value { return text(r.alarm.Subject) },
		"Row":           func(r *alarmRow) smi.Value { return smi.ObjectID(r.row) },
		"Raised":        func(r *alarmRow) smi.Value { return r.at.date(r.alarm.Raised) },
		"Age":           func(r *alarmRow) smi.Value { return r.at.age(r.alarm.Since) },
		"Affected":      func(r *alarmRow) smi.Value { return gauge(r.alarm.Affected) },
		"Text":          func(r *alarmRow) smi.Value { return text(r.alarm.Text) },
		"Severity":      func(r *alarmRow) smi.Value { return severity(r.alarm.Severity) },
		"Acknowledged":  func(r *alarmRow) smi.Value { return truth(r.alarm.Ack != nil) },
		"AckBy":         func(r *alarmRow) smi.Value { return text(r.ack().By) },
		"AckTime":       func(r *alarmRow) smi.Value { return r.at.date(r.ack().At) },
		"SilencedUntil": func(r *alarmRow) smi.Value { return r.at.date(r.alarm.SilencedUntil) },
		"Comment":       func(r *alarmRow) smi.Value { return text(r.ack().Comment) },
		"Reason":        func(r *alarmRow) smi.Value { return reasonValue(r.alarm.Reason()) },
		"Instance":      func(r *alarmRow) smi.Value { return text(r.alarm.Why.Instance) },
		"Why":           func(r *alarmRow) smi.Value { return text(r.alarm.Why.Words) },
	})
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
	return columns("alarms", values[agentRow]{
		"LastChange": func(r *agentRow) smi.Value { return r.at.date(r.state.LastChange) },
	})
}

// countScalars returns those behind pnClearedTable, for tools that read single numbers.
func countScalars() []column[agentRow] {
	of := func(s alarm.Severity) func(*agentRow) smi.Value {
		return func(r *agentRow) smi.Value { return gauge(uint64(r.state.BySeverity()[s])) }
	}
	return columns("alarms", values[agentRow]{
		"Active": func(r *agentRow) smi.Value {
			active := 0
			for _, n := range r.state.BySeverity() {
				active += n
			}
			return gauge(uint64(active))
		},
		"Critical": of(alarm.Critical),
		"Major":    of(alarm.Major),
		"Minor":    of(alarm.Minor),
		"Warning":  of(alarm.Warning),
	})
}

// known reports whether an alarm has a kind and a number that the MIB can show.
func known(a *alarm.Alarm) bool {
	return a.Kind >= alarm.TokenStuck && slices.Contains(alarm.Kinds(), a.Kind) && a.Index >= 1 && a.Index <= maxNumber
}

// activeAlarms lists the alarms by number, each number once.
func activeAlarms(state *alarm.ActiveSet) (all []*alarm.Alarm) {
	for i := range state.Active {
		if a := &state.Active[i]; known(a) {
			all = append(all, a)
		}
	}
	slices.SortStableFunc(all, func(a, b *alarm.Alarm) int { return cmp.Compare(a.Index, b.Index) })
	return slices.CompactFunc(all, func(a, b *alarm.Alarm) bool { return a.Index == b.Index })
}

// clearedRow is one alarm that is over.
type clearedRow struct {
	alarm *alarm.ClearedAlarm
	at    *clock
}

func clearedColumns() []column[clearedRow] {
	return columns("cleared", values[clearedRow]{
		"Kind":     func(r *clearedRow) smi.Value { return smi.Integer(int32(r.alarm.Kind)) },
		"Net":      func(r *clearedRow) smi.Value { return text(r.alarm.Net) },
		"Subject":  func(r *clearedRow) smi.Value { return text(r.alarm.Subject) },
		"Severity": func(r *clearedRow) smi.Value { return severity(r.alarm.Severity) },
		"Raised":   func(r *clearedRow) smi.Value { return r.at.date(r.alarm.Raised) },
		"Cleared":  func(r *clearedRow) smi.Value { return r.at.date(r.alarm.Cleared) },
		"Text":     func(r *clearedRow) smi.Value { return text(r.alarm.Text) },
	})
}

// clearedScalars returns the scalars beside the table.
func clearedScalars() []column[agentRow] {
	return columns("clearances", values[agentRow]{
		"LastChange": func(r *agentRow) smi.Value {
			last := int64(0)
			if n := len(r.state.Cleared); n > 0 {
				last = r.state.Cleared[n-1].Cleared
			}
			return r.at.date(last)
		},
	})
}

// clearedAlarms lists the alarms that are over by number, of each number the newest.
func clearedAlarms(state *alarm.ActiveSet) (all []*alarm.ClearedAlarm) {
	for i := range state.Cleared {
		if a := &state.Cleared[i]; known(&a.Alarm) {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b *alarm.ClearedAlarm) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(b.Cleared, a.Cleared))
	})
	return slices.CompactFunc(all, func(a, b *alarm.ClearedAlarm) bool { return a.Index == b.Index })
}
