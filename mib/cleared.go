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
